"""The device trees say what the layout says, as any reader of the format sees it."""

import shutil
import subprocess
from dataclasses import replace

import fdt
import pytest

from tenonos import system
from tenonos.system import handover, trees
from tenonos.system.layout import lay_out
from tenonos.system.places import Content, Layout

CONTENTS = {
    "motor": Content({"image": 50_000, "header": 4096}, 0, 60_000),
    "linux": Content({"kernel": 30 << 20, "initramfs": 1 << 20, "tree": 16 << 10}, 0, 32 << 20),
}


@pytest.fixture(scope="module")
def demo() -> system.System:
    return system.load("motor-linux")


@pytest.fixture(scope="module")
def layout(demo) -> Layout:
    return lay_out(demo, 100_000, CONTENTS)


def longs(tree: fdt.FDT, name: str, path: str) -> list[int]:
    cells = tree.get_property(name, path).data
    return [high << 32 | low for high, low in zip(cells[::2], cells[1::2], strict=True)]


def text(tree: fdt.FDT, name: str, path: str = "/") -> str:
    return tree.get_property(name, path).value


def test_the_manifest(demo, layout):
    tree = fdt.parse_dtb(trees.manifest(demo, layout))
    assert text(tree, "compatible") == "tenonos,system-1"
    assert text(tree, "console-input") == "linux"
    assert [node.name for node in tree.get_node("/vms").nodes] == ["motor", "linux"]
    motor, place = "/vms/motor", layout.vm("motor")
    assert text(tree, "irq-mode", motor) == "direct"
    assert text(tree, "console", motor) == "ring"
    assert tree.get_property("cpus", motor).data == [3]
    assert longs(tree, "memory", motor) == [place.ipa, place.pa, place.size]
    assert longs(tree, "status", motor) == [place.status_pa]
    assert longs(tree, "log", motor) == [place.log_pa, place.log_size]
    assert len(tree.get_property("shared", motor).data) == 7 * 3
    loads = longs(tree, "load", motor)
    assert loads[:3] == [0x4008_0000, place.payloads["image"].pa, 50_000]
    assert tree.get_property("cpus", "/vms/linux").data == [0, 1, 2]
    assert not tree.exist_property("shared", "/vms/linux")
    assert not tree.exist_property("log", "/vms/linux")
    assert longs(tree, "load", "/vms/linux")[::3] == [
        place.ipa for place in layout.vm("linux").payloads.values()
    ]


def test_linux_tree(demo, layout):
    tree = fdt.parse_dtb(trees.linux(demo, demo.vm("linux"), layout))
    place = layout.vm("linux")
    assert longs(tree, "reg", f"/memory@{place.ipa:x}") == [place.ipa, 512 << 20]
    start, end = (longs(tree, f"linux,initrd-{what}", "/chosen")[0] for what in ("start", "end"))
    assert (start, end - start) == (place.payloads["initramfs"].ipa, 1 << 20)
    assert len(tree.get_node("/cpus").nodes) == 3
    # One redistributor for each vCPU: Linux walks them until the last.
    assert longs(tree, "reg", "/intc@8000000")[3] == 3 * 0x2_0000
    assert text(tree, "method", "/psci") == "hvc"
    assert tree.get_property("interrupts", "/timer").data[6:9] == [1, 11, 8]
    assert not tree.exist_property("kaslr-seed", "/chosen")
    assert not tree.exist_property("rng-seed", "/chosen")


def test_devices_passed_through(demo, layout):
    spec = {**vars(demo.vm("linux")), "devices": ("gpio", "virtio1", "flash")}
    vm = system.Vm(**spec)
    tree = fdt.parse_dtb(trees.linux(demo, vm, layout))
    assert tree.get_property("interrupts", "/pl061@9030000").data == [0, 7, 4]
    assert tree.get_property("interrupts", "/virtio_mmio@a001e00").data == [0, 31, 1]
    assert tree.get_property("reg", "/cfi-flash@4000000").data == [0, 64 << 20, 0, 64 << 20]
    assert tree.get_property("bank-width", "/cfi-flash@4000000").data == [4]


def test_who_has_the_serial_port_has_no_console_of_mortise(demo, layout):
    linux = demo.vm("linux")
    vm = replace(linux, devices=("serial",), in_place=True)
    assert trees.linux(demo, vm, layout) == trees.linux(demo, linux, layout)
    owning = replace(demo, vms=tuple(vm if vm.name == old.name else old for old in demo.vms))
    tree = fdt.parse_dtb(trees.manifest(owning, layout))
    assert text(tree, "console", "/vms/linux") == "none"
    assert longs(tree, "device", "/vms/linux") == [0x0900_0000, 0x0900_0000, 0x1000]
    assert tree.get_property("interrupts", "/vms/linux").data == [33]
    assert not tree.exist_property("load", "/vms/linux")


def test_who_is_typed_to_has_a_serial_port_and_no_log(demo):
    motor = replace(demo.vm("motor"), input=True)
    typed = replace(demo, vms=tuple(motor if vm.name == "motor" else vm for vm in demo.vms))
    place = lay_out(typed, 100_000, CONTENTS)
    tree = fdt.parse_dtb(trees.manifest(typed, place))
    assert text(tree, "console", "/vms/motor") == "pl011"
    assert not tree.exist_property("log", "/vms/motor")
    assert len(tree.get_property("shared", "/vms/motor").data) == 7 * 2  # status and task
    header = handover.guest(typed, motor, place.vm("motor"))
    assert header[0x50:0x60] == bytes(16)


def test_two_writings_are_the_same_bytes(demo, layout):
    assert trees.manifest(demo, layout) == trees.manifest(demo, layout)
    linux = demo.vm("linux")
    assert trees.linux(demo, linux, layout) == trees.linux(demo, linux, layout)


@pytest.mark.skipif(shutil.which("dtc") is None, reason="no dtc")
def test_the_device_tree_compiler_agrees(demo, layout, tmp_path):
    linux = trees.linux(demo, demo.vm("linux"), layout)
    for name, blob in (("linux", linux), ("manifest", trees.manifest(demo, layout))):
        file = tmp_path / name
        file.write_bytes(blob)
        command = ["dtc", "-I", "dtb", "-O", "dtb", "-o", tmp_path / "again", file]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        if name == "linux":
            assert done.stderr == ""
        again = fdt.parse_dtb((tmp_path / "again").read_bytes())
        assert again.to_dts() == fdt.parse_dtb(blob).to_dts()
