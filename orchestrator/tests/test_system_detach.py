"""Cores that a Linux VM lends: what is refused, and what Mortise and Linux are told."""

import fdt
import pytest

from tenonos import system
from tenonos.build.images import needs
from tenonos.errors import InputError
from tenonos.linux import boot
from tenonos.system import device_trees, manifest
from tenonos.system.layout import lay_out
from tenonos.system.memory_map import WRITABLE, Content
from tenonos.system.schema import parse
from tenonos.system.write import render

TEXT = """\
name = "lender"
board = "qemu-virt"
pool = "0.1"
mode = "dynamic"
[reserve]
memory = "2M"
cpus = [1]
[[vm]]
name = "linux"
kind = "linux"
cpus = [0, 1, 2, 3]
memory = "512M"
[vm.detach]
cpus = [3, 2]
"""


def load(folder, monkeypatch, text=TEXT):
    monkeypatch.chdir(folder)
    (folder / "system.toml").write_text(text)
    return system.load(folder / "system.toml")


def node(blob, path):
    tree = fdt.parse_dtb(blob)
    return {prop.name: prop for prop in tree.get_node(path).props}


def test_both_get_the_address_of_the_cells(tmp_path, monkeypatch):
    lender = load(tmp_path, monkeypatch)
    (linux,) = lender.vms
    assert linux.detach == (3, 2)
    layout = lay_out(lender, 1 << 20, {"linux": Content({"kernel": 1 << 20}, 0, 1 << 20)})
    cells = layout.vm("linux").cells
    assert (cells.ipa, cells.size, cells.flags) == (cells.pa, 2 * 4096, WRITABLE)
    assert cells in layout.vm("linux").shared
    lendings = manifest.read(manifest.write(lender, layout))["lendings"]
    told = lendings[lender.vms.index(linux)]
    assert [linux.cpus[vcpu] for vcpu in told["vcpus"]] == [3, 2]
    assert told["memory"] == {"start": cells.pa, "size": 2 * 4096}
    assert (told["cells"]["start"], told["interrupt"]) == (cells.ipa, 80)
    tree = node(device_trees.linux(lender, linux, layout), f"/detach@{cells.ipa:x}")
    assert tree["compatible"].value == "tenonos,detach"
    assert list(tree["reg"].data) == [0, cells.ipa, 0, 2 * 4096]
    assert list(tree["interrupts"].data) == [0, 80 - 32, 1]
    assert list(tree["tenonos,cpus"].data) == [3, 2]
    assert "CAP_VIRT_DETACH" in {need.symbol for need in needs(lender)}
    assert boot.has_tools(lender, linux)


def test_a_vm_that_lends_nothing_gets_no_cells(tmp_path, monkeypatch):
    plain = load(tmp_path, monkeypatch, TEXT[: TEXT.index("[vm.detach]")])
    assert "CAP_VIRT_DETACH" not in {need.symbol for need in needs(plain)}
    assert not boot.has_tools(plain, plain.vm("linux"))


def test_it_is_written_as_it_is_read():
    spec, _ = parse(TEXT, "lender")
    assert parse(render(spec), "again")[0] == spec


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("cpus = [3, 2]", "cpus = [4]", '14: VM "linux" has no CPU 4 to lend; use 2, 3'),
        ("cpus = [3, 2]", "cpus = [0]", '14: VM "linux" may not lend its first CPU; use 2, 3'),
        (
            "cpus = [3, 2]",
            "cpus = [1]",
            '14: VM "linux" may not lend CPU 1, which others may use; use 2, 3',
        ),
        ("cpus = [3, 2]", "cpus = [3, 3]", '14: VM "linux" lends a CPU twice; name each once'),
        ("cpus = [3, 2]", "cpus = []", '14: cpus of VM "linux" is empty; add cpus = [3]'),
        ("cpus = [3, 2]", "cores = [3]", '14: unknown key "cores" of VM "linux"; known are cpus'),
        (
            "cpus = [0, 1, 2, 3]",
            "cpus = [1]",
            '14: VM "linux" has no CPU 3 to lend; give the VM more CPUs',
        ),
        (
            'kind = "linux"\n',
            'kind = "tenon"\napp = "motor"\ninterrupts = "shared"\n',
            '15: detach is for Linux VMs, and "linux" is a Tenon VM; remove it',
        ),
    ],
)
def test_each_mistake_has_one_line(tmp_path, monkeypatch, old, new, line):
    with pytest.raises(InputError) as complaint:
        load(tmp_path, monkeypatch, TEXT.replace(old, new))
    assert str(complaint.value) == f"system.toml:{line}"
