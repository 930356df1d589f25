"""`[[native]]`: what is refused, and what becomes of it."""

import pytest

from tenonos import system
from tenonos.build.images import images
from tenonos.errors import InputError

HEAD = 'name = "natives"\nboard = "qemu-virt"\npool = "0.1"\n'
VM = '[[vm]]\nname = "hello"\nkind = "tenon"\napp = "hello"\ncpus = [0]\nmemory = "2M"\n'


def native(cpus="[1]", rights='["time", "console"]', name="inside", app="beat"):
    return f'[[native]]\nname = "{name}"\napp = "{app}"\ncpus = {cpus}\nrights = {rights}\n'


def load(folder, *tables):
    file = folder / "system.toml"
    file.write_text(HEAD + "".join(tables))
    return system.load(file)


@pytest.mark.parametrize(
    ("tables", "complaint"),
    [
        ((), "nothing to run"),
        ((VM, native("[0]")), 'CPU 0 is given to "hello" already'),
        ((VM, native(), native(name="other")), 'CPU 1 is given to "inside" already'),
        ((VM, native("[9]")), "there is no CPU 9"),
        ((VM, native(name="hello")), '"hello" is already the name of a VM or task'),
        ((VM, native(rights='["time", "disk"]')), 'unknown right "disk"'),
        ((native("[1]"),), "on CPU 0"),
        ((native("[0]"), native(name="other")), "without a VM there is one native task"),
        (
            (native("[0]"), '[reserve]\nmemory = "2M"\ncpus = [1]\n'),
            "reserve is for systems with VMs",
        ),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(tmp_path, tables, complaint):
    with pytest.raises(InputError, match=complaint) as raised:
        load(tmp_path, *tables)
    assert raised.value.mend


@pytest.mark.parametrize(
    ("table", "complaint"),
    [
        (native(rights='["time"]'), 'takes the right "console"'),
        (native(app="hello"), 'application "hello" is not a native task'),
        (native(app="nobody"), 'no application "nobody"'),
    ],
)
def test_a_program_has_the_rights_it_takes_or_is_refused(tmp_path, table, complaint):
    with pytest.raises(InputError, match=complaint) as raised:
        images(load(tmp_path, VM, table))
    assert raised.value.mend


def test_mortise_is_composed_with_what_its_tasks_need(tmp_path):
    beside, _ = images(load(tmp_path, VM, native()))
    assert beside.root.id == "mortise/partition"
    assert [(task.name, task.app.id, task.cpu) for task in beside.natives] == [
        ("inside", "apps/beat", 1)
    ]
    (plain,) = images(load(tmp_path, native("[0]")))
    assert plain.root.id == "core/bare"
    assert "mortise/partition" not in {library.id for library in plain.libraries}
