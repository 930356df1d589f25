"""Debian's firmware as guests, which boot Debian's kernel from a disk: UEFI with GRUB, U-Boot; and
three Linux at once."""

import re

import fat
import pytest
from conftest import assert_well, until
from descriptions import CONTROL, described, motor, table

from tenonos.setup import debian, initramfs

GRUB = """\
linux /IMAGE console=ttyAMA0 rdinit=/init
initrd /INITRD
boot
"""

COMMANDS = """\
timeout 500
expect =>
send load virtio 0 ${kernel_addr_r} IMAGE
expect bytes read
expect =>
send load virtio 0 ${ramdisk_addr_r} INITRD
expect bytes read
expect =>
send setenv bootargs console=ttyAMA0 rdinit=/init
expect =>
send booti ${kernel_addr_r} ${ramdisk_addr_r}:${filesize} ${fdtcontroladdr}
expect tenon-ready cpus=2
"""
"""Typed to U-Boot."""

READY = """\
timeout 900
expect tenon-ready cpus=2
"""


def taken(package, path):
    """A file of a package of Debian's."""
    return debian.member(debian.package(package), re.compile(re.escape(path)))


def disk(**more):
    """A disk with Debian's kernel and the initramfs."""
    kernel = {"IMAGE": debian.kernel().read_bytes(), "INITRD": initramfs.build()}
    return fat.image(kernel | {name.replace("__", "/"): text for name, text in more.items()})


def loader(image, region):
    """A VM that starts with firmware at address 0, as QEMU's generic machine does."""
    return table(
        "vm",
        "\n" + table("vm.region", at="0x0", size=region),
        **{"name": "loader", "kind": "image", "image": image, "load": "0x0"},
        **{"cpus": [0, 1], "memory": "512M", "devices": ["flash"]},
    )


def boots(tenon, folder, image, region, script):
    """The lines of firmware that boots Linux beside a control loop."""
    drive = table("disk", vm="loader", file="boot.img")
    text = described("firmware", motor(CONTROL, cpus=[3]), loader(image, region), drive)
    (folder / "system.toml").write_text(text)
    (folder / "script").write_text(script)
    options = ["--headless", "--input", f"loader={folder / 'script'}"]
    outcome = tenon("run", folder, *options, limit=1100)
    assert_well(outcome)
    vm = outcome.vm("loader")
    assert vm["state"] == "running"
    assert "restarts" not in vm and "fault" not in vm
    assert outcome.vm("motor")["exits_in_window"] == 0
    return outcome.said("loader")


@pytest.mark.long(60, "pool/mortise/vdev-blk", "pool/mortise/vgic", "orchestrator/tenonos/build")
@pytest.mark.timeout(1200)
def test_uefi_boots_grub_from_a_disk_and_that_boots_linux(tenon, tmp_path):
    grub = taken("grub-efi-arm64-bin", "./usr/lib/grub/arm64-efi/monolithic/grubaa64.efi")
    files = {"EFI__BOOT__BOOTAA64.EFI": grub, "EFI__DEBIAN__GRUB.CFG": GRUB.encode()}
    (tmp_path / "boot.img").write_bytes(disk(**files))
    firmware = taken("qemu-efi-aarch64", "./usr/share/qemu-efi-aarch64/QEMU_EFI.fd")
    (tmp_path / "uefi").write_bytes(firmware)
    said = boots(tenon, tmp_path, "uefi", "4M", READY)
    assert any("EFI stub" in line for line in said), said[-40:]
    assert any(re.search(r"efi: EFI v\d.* by EDK II", line) for line in said)


@pytest.mark.long(40, "pool/mortise/vdev-blk", "pool/mortise/vgic", "orchestrator/tenonos/build")
@pytest.mark.timeout(1200)
def test_uboot_loads_linux_from_a_disk(tenon, tmp_path):
    (tmp_path / "boot.img").write_bytes(disk())
    said = boots(tenon, tmp_path, "u-boot", "2M", COMMANDS)
    assert any(line.startswith("Starting kernel") for line in said)


@pytest.mark.long(60, "pool/mortise/partition", "pool/mortise/run", "orchestrator/tenonos/build")
@pytest.mark.timeout(1200)
def test_three_linux_boot_at_once_beside_a_loop_without_exits(tenon, tmp_path):
    names = ("first", "second", "third")
    guests = (
        table("vm", name=name, kind="linux", cpus=[cpu], memory="128M")
        for cpu, name in enumerate(names)
    )
    text = described("three-linux", motor(CONTROL, cpus=[3]), *guests)
    (tmp_path / "system.toml").write_text(text)
    options = until(tmp_path, **dict.fromkeys(names, "tenon-ready cpus=1"))
    outcome = tenon("run", tmp_path, "--headless", "--deterministic", *options, limit=1000)
    assert_well(outcome)
    assert outcome.vm("motor")["exits_in_window"] == 0
    assert {outcome.vm(name)["state"] for name in names} == {"running"}
