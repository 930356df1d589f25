"""`[[native]]`: what is refused, and what becomes of it."""

import re

import pytest

from tenonos import system
from tenonos.build.images import images
from tenonos.errors import InputError
from tenonos.generate.image import write

HEAD = 'name = "natives"\nboard = "qemu-virt"\npool = "0.1"\n'
VM = '[[vm]]\nname = "hello"\nkind = "tenon"\napp = "hello"\ncpus = [0]\nmemory = "2M"\n'


def native(cpus="[1]", rights='["time", "console"]', name="inside", app="beat", period=None):
    table = f'[[native]]\nname = "{name}"\napp = "{app}"\ncpus = {cpus}\nrights = {rights}\n'
    return table + (f'period = "{period}"\n' if period else "")


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
        ((VM, native(period="20ns")), 'period 20ns of native task "inside" is below the least'),
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


SILENT = """[package]
name = "silent"
version = "0.1.0"
edition = "2024"

[package.metadata.tenon]
authority = []
rights = ["console"]

[dependencies]
core-bare = "0.1"
"""


def test_a_period_is_for_a_program_that_takes_the_time(tmp_path):
    app = tmp_path / "silent"
    (app / "src").mkdir(parents=True)
    (app / "Cargo.toml").write_text(SILENT)
    (app / "src" / "lib.rs").write_text("")
    table = native(rights='["console"]', app="silent", period="1ms")
    with pytest.raises(InputError, match='its program takes no right "time"') as raised:
        images(load(tmp_path, VM, table))
    assert raised.value.mend == "remove the period"


def test_a_period_is_a_part_of_the_right_to_the_time(tmp_path):
    def calls(*tables):
        for image in images(load(tmp_path, *tables)):
            write(image, tmp_path / image.name)
            text = (tmp_path / image.name / "src" / "main.rs").read_text()
            yield from re.findall(r"beat::main\((.*)\)", text)

    alone = VM.replace("hello", "alone").replace('app = "alone"', 'app = "beat"')
    task = '[[vm.task]]\nname = "beat"\nperiod = "200us"\n'
    assert [*calls(alone, native())] == ["grant.time(), grant.console()"] * 2
    assert [*calls(alone, task, native(period="50us"))] == [
        "grant.time().with_period(50000), grant.console()",
        "grant.time().with_period(200000), grant.console()",
    ]


def test_mortise_is_composed_with_what_its_tasks_need(tmp_path):
    beside, _ = images(load(tmp_path, VM, native()))
    assert beside.root.id == "mortise/partition"
    assert [(task.name, task.app.id, task.cpu) for task in beside.natives] == [
        ("inside", "apps/beat", 1)
    ]
    (plain,) = images(load(tmp_path, native("[0]")))
    assert plain.root.id == "core/bare"
    assert "mortise/partition" not in {library.id for library in plain.libraries}
