"""The device trees say what the layout says, as any reader of the format sees it."""

import shutil
import subprocess
from dataclasses import replace

import fdt
import pytest

from tenonos import system
from tenonos.errors import InputError
from tenonos.system import board, device_trees, guest_header, manifest
from tenonos.system.layout import lay_out
from tenonos.system.memory_map import Content, Layout

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
    told = manifest.read(manifest.write(demo, layout))
    assert (told["mode"], bytes(told["system"])) == ("static", b"motor-linux")
    motor, linux = told["vms"]
    assert [bytes(vm["name"]) for vm in told["vms"]] == [b"motor", b"linux"]
    assert told["console_input"] == 1
    place = layout.vm("motor")
    assert (motor["interrupt_mode"], motor["console"]) == ("direct", "ring")
    assert (motor["cpus"], linux["cpus"]) == ([3], [0, 1, 2])
    ram, *shared = motor["mappings"]
    assert ram["kind"] == "ram"
    assert ram["intermediate"] == {"start": place.ipa, "size": place.size}
    assert ram["physical"] == {"start": place.pa, "size": place.size}
    assert motor["status"] == {"start": place.status_pa, "size": 4096}
    assert motor["log"] == {"start": place.log_pa, "size": place.log_size}
    # The status page, and areas that Mortise fills with zeros: log ring and tasks.
    assert [(m["kind"], m["writable"]) for m in shared] == [("shared", 0), ("area", 0), ("area", 0)]
    image = motor["payloads"][0]
    assert image["source"] == {"start": place.payloads["image"].pa, "size": 50_000}
    assert image["target"] == {"start": 0x4008_0000, "size": 50_000}
    assert image["destination"]["start"] == place.pa + 0x8_0000
    assert [mapping["kind"] for mapping in linux["mappings"]] == ["ram"]
    assert [load["target"]["start"] for load in linux["payloads"]] == [
        place.ipa for place in layout.vm("linux").payloads.values()
    ]


def test_linux_tree(demo, layout):
    tree = fdt.parse_dtb(device_trees.linux(demo, demo.vm("linux"), layout))
    place = layout.vm("linux")
    assert longs(tree, "reg", f"/memory@{place.ipa:x}") == [place.ipa, 512 << 20]
    start, end = (longs(tree, f"linux,initrd-{what}", "/chosen")[0] for what in ("start", "end"))
    assert (start, end - start) == (place.payloads["initramfs"].ipa, 1 << 20)
    assert len(tree.get_node("/cpus").nodes) == 3
    # One redistributor for each vCPU: Linux walks them until the last.
    assert longs(tree, "reg", "/intc@8000000")[3] == 3 * 0x2_0000
    assert text(tree, "method", "/psci") == "hvc"
    assert tree.get_property("interrupts", "/timer").data[6:9] == [1, 11, 8]
    # Room for what Mortise writes at each start.
    assert longs(tree, "kaslr-seed", "/chosen") == [0]
    assert longs(tree, "rng-seed", "/chosen") == [0] * 4


def test_devices_passed_through(demo, layout):
    spec = {**vars(demo.vm("linux")), "devices": ("gpio", "virtio1", "flash")}
    vm = system.Vm(**spec)
    tree = fdt.parse_dtb(device_trees.linux(demo, vm, layout))
    assert tree.get_property("interrupts", "/pl061@9030000").data == [0, 7, 4]
    assert tree.get_property("interrupts", "/virtio_mmio@a001e00").data == [0, 31, 1]
    assert tree.get_property("reg", "/cfi-flash@4000000").data == [0, 64 << 20, 0, 64 << 20]
    assert tree.get_property("bank-width", "/cfi-flash@4000000").data == [4]


def test_a_root_complex_has_no_iommu_to_its_owner(demo, layout):
    vm = replace(demo.vm("linux"), devices=("pcie",))
    blob = device_trees.linux(demo, vm, layout)
    tree, path = fdt.parse_dtb(blob), "/pcie@3f000000"
    assert longs(tree, "reg", path) == [0x3F00_0000, 0x10_0000]
    assert tree.get_property("bus-range", path).data == [0, 0]
    window = [0x0200_0000, 0, 0x1000_0000, 0, 0x1000_0000, 0, 0x1000_0000]
    assert tree.get_property("ranges", path).data == window
    pins = tree.get_property("interrupt-map", path).data
    # Slot 1, pin B: the third of the four.
    assert pins[50:60] == [1 << 11, 0, 0, 2, device_trees.GIC, 0, 0, 0, 5, 4]
    assert b"mmu" not in blob
    told = manifest.read(manifest.write(replace(demo, vms=(vm,), console=None), layout))["vms"][0]
    spaces = [m["physical"]["start"] for m in told["mappings"] if m["kind"] == "device"]
    assert spaces == [0x3F00_0000, 0x1000_0000]
    assert told["interrupts"] == [35, 36, 37, 38]


def test_a_vm_with_the_serial_port_has_no_console_of_mortise(demo, layout):
    linux = demo.vm("linux")
    vm = replace(linux, devices=("serial",), in_place=True)
    assert device_trees.linux(demo, vm, layout) == device_trees.linux(demo, linux, layout)
    owning = replace(demo, vms=tuple(vm if vm.name == old.name else old for old in demo.vms))
    told = manifest.read(manifest.write(owning, layout))["vms"][1]
    assert (told["console"], told["interrupts"]) == ("none", [33])
    # Payloads in place are listed, as they are not filled with zeros.
    places = layout.vm("linux").payloads.values()
    assert [load["target"]["start"] for load in told["payloads"]] == [at.ipa for at in places]
    serial = {"start": 0x0900_0000, "size": 0x1000}
    device = {"intermediate": serial, "physical": serial, "kind": "device", "writable": 0}
    assert device in told["mappings"]


def test_a_vm_with_input_has_a_serial_port_and_no_log(demo):
    motor = replace(demo.vm("motor"), input=True)
    typed = replace(demo, vms=tuple(motor if vm.name == "motor" else vm for vm in demo.vms))
    place = lay_out(typed, 100_000, CONTENTS)
    told = manifest.read(manifest.write(typed, place))["vms"][0]
    assert (told["console"], told["log"]["size"]) == ("pl011", 0)
    assert [m["kind"] for m in told["mappings"]] == ["ram", "shared", "area"]  # status and task
    header = guest_header.guest(typed, motor, place.vm("motor"))
    assert header[0x50:0x60] == bytes(16)


def test_the_header_of_a_guest_has_the_priorities_of_its_tasks(demo, layout):
    motor = demo.vm("motor")
    tasks = tuple(replace(task, priority=40) for task in motor.tasks)
    header = guest_header.guest(demo, replace(motor, tasks=tasks), layout.vm("motor"))
    assert header[0x74:0x80] == bytes([40, *11 * [0]])
    assert guest_header.guest(demo, motor, layout.vm("motor"))[0x74:0x80] == bytes(12)


def test_two_writings_are_the_same_bytes(demo, layout):
    assert manifest.write(demo, layout) == manifest.write(demo, layout)
    linux = demo.vm("linux")
    assert device_trees.linux(demo, linux, layout) == device_trees.linux(demo, linux, layout)


@pytest.mark.skipif(shutil.which("dtc") is None, reason="no dtc")
def test_the_device_tree_compiler_agrees(demo, layout, tmp_path):
    linux = device_trees.linux(demo, demo.vm("linux"), layout)
    file = tmp_path / "linux"
    file.write_bytes(linux)
    command = ["dtc", "-I", "dtb", "-O", "dtb", "-o", tmp_path / "again", file]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    again = fdt.parse_dtb((tmp_path / "again").read_bytes())
    assert again.to_dts() == fdt.parse_dtb(linux).to_dts()


def test_a_second_serial_port_is_the_boards_own(demo, layout):
    zcu102 = board.load("qemu-zcu102")
    linux = replace(demo.vm("linux"), devices=("uart1",))
    blob = device_trees.linux(
        replace(demo, board=zcu102, vms=(demo.vm("motor"), linux)), linux, layout
    )
    assert b"serial@ff010000" in blob and b"cdns,uart-r1p12" in blob
    named = replace(demo, board=zcu102, vms=(demo.vm("motor"), linux))
    assert named.serial_lines == ("linux.uart1",)
    assert named.heard("linux.uart1") == "linux.uart1" and named.heard("motor") == "motor"
    with pytest.raises(InputError, match=r'no VM "motor\.uart1"'):
        named.heard("motor.uart1")
