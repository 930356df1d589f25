"""Unmodified guests of other kinds, and two Linux VMs of which one has devices."""

import re

import pytest
from conftest import ROOT, assert_well, compile_guest

from tenonos.setup import debian, initramfs

# Beside U-Boot: memory at an unusual address, a distant second region, a device tree at its start.
ELSEWHERE = """
[[vm]]
name = "elsewhere"
kind = "image"
image = "elsewhere.elf"
cmdline = "speak=softly"
cpus = [1]
memory = "2M"
memory_seen_at = "0x4800_0000"

[[vm.region]]
at = "0x1000_0000"
size = "2M"
"""

VERSION = """\
timeout 200
expect =>
send version
expect U-Boot
expect aarch64
expect =>
send flinfo
expect CFI conformant
"""


@pytest.fixture
def folder(tmp_path):
    """U-Boot's system with one more guest, compiled here."""
    text = (ROOT / "tests/systems/u-boot" / "system.toml").read_text()
    (tmp_path / "system.toml").write_text(text + ELSEWHERE)
    (tmp_path / "version").write_text(VERSION)
    compile_guest(tmp_path, "elsewhere", "-Ttext=0x48080000", "--section-start=.far=0x10000000")
    return tmp_path


@pytest.mark.long(
    36,
    "orchestrator/tenonos/system",
    "orchestrator/tenonos/inputs.py",
    "pool/mortise/vdev-pl011",
)
@pytest.mark.timeout(600)
def test_uboot_answers_beside_an_elf_that_lies_where_it_was_linked(tenon, folder):
    outcome = tenon("run", folder, "--headless", "--input", f"loader={folder / 'version'}")
    assert_well(outcome)
    said = outcome.said("loader")
    assert any(line.startswith("U-Boot 20") for line in said), said
    assert any(line.startswith("aarch64-linux-gnu-gcc") for line in said), said
    assert "DRAM:  128 MiB" in said
    assert any(re.search(r"Flash: +32 MiB", line) for line in said), said[:8]
    assert outcome.said("elsewhere") == [
        *(f"{what}: as linked" for what in ("level", "data", "zeros", "far", "tree")),
        "command line: as linked",
        "elsewhere: done",
    ]
    assert outcome.vm("loader")["state"] == "running"
    assert outcome.vm("elsewhere")["state"] == "off"


OWN = """\
name = "own"
board = "qemu-virt"
pool = "0.1"

[[vm]]
name = "guest"
kind = "image"
image = "own.elf"
cpus = [0]
memory = "2M"
"""


def test_breakpoints_and_the_physical_timer_are_the_guests_own(tenon, tmp_path):
    (tmp_path / "system.toml").write_text(OWN)
    compile_guest(tmp_path, "own", "-Ttext=0x40080000")
    outcome = tenon("run", tmp_path, "--headless", "--deterministic")
    assert_well(outcome)
    what = ("breakpoint", "timer at rest", "timer due", "pending, not enabled", "interrupt", "over")
    assert outcome.said("guest") == [f"{each}: own" for each in what]


ABORTS = """\
name = "aborts"
board = "qemu-virt"
pool = "0.1"
mode = "dynamic"
""" + "".join(
    f"""
[[vm]]
name = "{name}"
kind = "image"
image = "aborts.elf"
cpus = [{cpu}]
memory = "2M"
interrupts = "shared"
on_fault = "{policy}"
"""
    for name, cpu, policy in (
        ("alone", 1, "inject"),
        ("process", 0, "stop"),
        ("kernel", 0, "inject"),
    )
)

UNANSWERED = (
    *("fetch", "fetch from a device", "load", "store", "load of a pair", "pair from a device"),
    *("pair from the distributor", "indexed load from a device", "exclusive load from a device"),
    *("unknown register", "timer", "load from a device"),
)


@pytest.mark.timeout(600)
def test_an_abort_at_el0_is_injected_and_at_el1_follows_on_fault(tenon, tmp_path):
    (tmp_path / "system.toml").write_text(ABORTS)
    compile_guest(tmp_path, "aborts", "-Ttext=0x40080000")
    outcome = tenon("run", tmp_path, "--headless", "--deterministic")
    user, kernel = ([f"{each}: at {level}" for each in UNANSWERED] for level in ("EL0", "EL1"))
    assert outcome.said("process") == user
    assert outcome.said("kernel") == outcome.said("alone") == [*user, *kernel]
    assert outcome.vm("process")["state"] == "stopped"
    assert outcome.vm("kernel")["state"] == outcome.vm("alone")["state"] == "off"
    assert outcome.vm("process")["fault"]["text"] == "instruction abort at 0x70000000"


MOUNT = """\
timeout 150
expect tenon-ready cpus=2
expect #
send echo 9030000.pl061 > /sys/bus/amba/drivers/pl061_gpio/unbind; devmem 0x09030400 8 0x5a
expect #
send head -c 14 /dev/vda; nproc; echo spoilt > /dev/vda
expect written-before
send mkdir disk; mke2fs /dev/vdb >/dev/null; mount /dev/vdb disk
expect #
send echo ke''pt > disk/file; umount disk
expect #
send mount /dev/vdb disk; cat disk/file
expect kept
send ifconfig eth0 10.0.2.15 up; ping -c 2 10.0.2.2
expect 2 packets received
send echo pins $(devmem 0x09030400 8)
expect pins 0x5A
"""

TRESPASS = """\
timeout 150
expect tenon-ready cpus=1
expect #
send ls /dev/vda
expect No such file
send devmem 0x09030400 8 0
expect Bus error
expect #
send devmem 0x0a000000
expect Bus error
expect #
"""


@pytest.mark.timeout(900)
def test_one_linux_has_a_disk_a_network_and_pins_and_the_other_a_bus_error_for_them(
    tenon, tmp_path
):
    text = (ROOT / "tests/systems/two-linux" / "system.toml").read_text()
    text = text.replace('["virtio0"]', '["virtio0", "gpio"]')
    disk = '[[disk]]\ndevice = "virtio0"\nfile = "disk.img"\n\n'
    (tmp_path / "system.toml").write_text(text.replace("[[disk]]", f"{disk}[[disk]]"))
    content = b"written-before".ljust(1 << 20, b"\n")
    (tmp_path / "disk.img").write_bytes(content)
    (tmp_path / "mount").write_text(MOUNT)
    (tmp_path / "trespass").write_text(TRESPASS)
    scripts = [f"right={tmp_path / 'mount'}", f"left={tmp_path / 'trespass'}"]
    options = [option for script in scripts for option in ("--input", script)]
    outcome = tenon("run", tmp_path, "--headless", *options, limit=600)
    assert_well(outcome)
    left, right = outcome.vm("left"), outcome.vm("right")
    # A process gets a bus error, and its VM continues.
    assert outcome.said("left").count("Bus error") == 2
    for vm in (left, right):
        assert "restarts" not in vm and "fault" not in vm
    assert (left["state"], right["state"]) == ("running", "running")
    assert (tmp_path / "disk.img").read_bytes() == content


LINUX = """\
name = "unknown-linux"
board = "qemu-virt"
pool = "0.1"

[[vm]]
name = "guest"
kind = "image"
image = "Image"
initramfs = "initramfs"
cmdline = "console=ttyAMA0 rdinit=/init"
cpus = [0, 1, 2, 3]
memory = "256M"
"""

COUNT = """\
timeout 150
expect tenon-ready cpus=4
expect #
send taskset 8 grep -i -m1 system.ram /proc/iomem; poweroff -f
expect 40000000-
"""


@pytest.mark.timeout(600)
def test_debians_kernel_has_four_cores_as_an_image_like_any_other(tenon, tmp_path):
    (tmp_path / "system.toml").write_text(LINUX)
    (tmp_path / "Image").symlink_to(debian.kernel())
    (tmp_path / "initramfs").write_bytes(initramfs.build())
    (tmp_path / "count").write_text(COUNT)
    outcome = tenon("run", tmp_path, "--headless", "--input", f"guest={tmp_path / 'count'}")
    assert_well(outcome)
    guest = outcome.vm("guest")
    assert guest["cpus"] == [0, 1, 2, 3]
    assert "restarts" not in guest and "fault" not in guest
