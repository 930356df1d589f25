"""Partitions of a disk: Linux's data persists, and a hostile driver reaches its partition only."""

import hashlib
import struct
import subprocess

import pytest
from conftest import ROOT, SUPPORT, assert_well, until
from descriptions import CONTROL, described, disk_driver, linux, motor, table

from tenonos import build
from tenonos import system as systems

pytestmark = pytest.mark.long(
    130,
    "pool/mortise/drive",
    "pool/mortise/vdev-blk",
    "pool/hw/virtio-blk",
    "pool/core/virtq",
)

GUESTS = SUPPORT / "guests"
MIB = 1 << 20


def the_system(name, mode):
    """Linux and a hostile guest with partitions of one disk, beside the motor."""
    return described(
        name,
        motor(CONTROL, cpus=[1]),
        linux(cpus=[0], on_fault="restart", modules=["virtio_mmio", "virtio_blk"]),
        disk_driver([2, 3]),
        table("disk", name="main", device="virtio0", file="main.img", keep=True),
        table("disk", vm="linux", on="main", partition=2),
        table("disk", vm="hostile", on="main", at="8M", size="2M"),
        table("disk", vm="linux", on="main", at="1M", size="512K", read_only=True),
        console="linux",
        mode=mode,
    )


# Linux's partition is from 2 MiB to 6 MiB, and Linux fills all but its last 4 KiB. After a reboot
# of the VM, Linux finds the data.
USE = """\
timeout 240
expect tenon-ready
expect #
send cat /sys/block/vda/size; md5sum /dev/vda
expect {before}
send tr '\\\\0' L < /dev/zero | dd of=/dev/vda bs=4k count=1023 conv=fsync; echo wri''tten
expect written
send reboot -f
expect tenon-ready
expect #
send md5sum /dev/vda; md5sum /dev/vdb; echo spoilt > /dev/vdb
expect {after}
expect {read}
expect not permitted
send mkdir d; mke2fs /dev/vda > /dev/null; mount /dev/vda d; seq 100000 > d/n; umount d
expect #
send echo 3 > /proc/sys/vm/drop_caches; mount -o ro /dev/vda d; md5sum < d/n; umount d
expect {numbers}
send tr '\\\\0' M < /dev/zero | dd of=/dev/vda bs=4k count=1023 conv=fsync; echo do''ne
expect done
"""


def digest(content):
    return hashlib.md5(content).hexdigest()


def content():
    """A disk with a partition table, each sector of which contains its number."""
    sectors = b"".join(f"sector {at:<505}".encode() for at in range(12 * MIB // 512))
    table = b"".join(
        struct.pack("<4xB3xII", 0x83, first * MIB // 512, size * MIB // 512)
        for first, size in ((1, 1), (2, 4))
    )
    return bytes(446) + table.ljust(64, b"\0") + b"\x55\xaa" + sectors[512:]


def compile_hostile(folder):
    command = [
        *("aarch64-linux-gnu-gcc", "-O1", "-Wall", "-Wextra", "-Werror", "-ffreestanding"),
        *("-nostdlib", "-mgeneral-regs-only", "-mstrict-align", "-fno-pie", "-no-pie"),
        *("-Wl,--build-id=none", "-Wl,-n,-e,entry", "-Wl,-Ttext=0x48080000"),
        *("-o", folder / "disk.elf", GUESTS / "disk.c"),
    ]
    subprocess.run(command, check=True)


@pytest.mark.timeout(900)
@pytest.mark.parametrize("mode", ["static", "dynamic"])
def test_what_is_written_to_a_partition_stays_there_and_nowhere_else(tenon, tmp_path, mode):
    compile_hostile(tmp_path)
    file, before = tmp_path / "main.img", content()
    file.write_bytes(before)
    (tmp_path / "system.toml").write_text(the_system(f"partitions-{mode}", mode))
    own = slice(2 * MIB, 6 * MIB)
    written = b"L" * (1023 * 4096) + before[own][-4096:]
    use = USE.format(
        before=digest(before[own]),
        after=digest(written),
        read=digest(before[MIB : MIB + MIB // 2]),
        numbers=digest(b"".join(b"%d\n" % n for n in range(1, 100_001))),
    )
    (tmp_path / "use").write_text(use)
    inputs = ["--input", f"linux={tmp_path / 'use'}", *until(tmp_path, hostile="attempts: ")]
    outcome = tenon("run", tmp_path, "--headless", *inputs, limit=500)
    assert_well(outcome)
    assert "8192" in outcome.said("linux")

    attempts, races = (
        next((line for line in outcome.said("hostile") if line.startswith(what)), "")
        for what in ("attempts:", "races:")
    )
    assert attempts.endswith(", all contained"), outcome.said("hostile")
    assert int(attempts.split()[1].rstrip(",")) > 200
    assert races.startswith("races: 3000 rounds")

    # The disk is unchanged outside of both partitions.
    after = file.read_bytes()
    assert after[own][: 1023 * 4096] == b"M" * (1023 * 4096)
    theirs = slice(8 * MIB, 10 * MIB)
    assert b"MMMMMMMM" not in after[theirs] and b"LLLLLLLL" not in after[theirs]
    assert after[theirs] != before[theirs]
    outside = [slice(0, own.start), slice(own.stop, theirs.start), slice(theirs.stop, None)]
    assert [after[part] == before[part] for part in outside] == [True] * 3

    assert outcome.vm("motor")["exits_in_window"] == 0
    task = outcome.task
    assert task["released"] == task["completed"] > 1000 and task["duplicates"] == 0


def test_mortise_does_not_start_on_a_disk_that_has_not_what_is_promised(tmp_path):
    image = build.build(systems.load(ROOT / "tests/systems/partitions")).image
    disk = tmp_path / "disk"
    modern = ("-global", "virtio-mmio.force-legacy=false")
    drive = ("-device", "virtio-blk-device,drive=d,bus=virtio-mmio-bus.0", "-drive")
    plain = f"file={disk},format=raw,if=none,id=d"
    for size, options, why in (
        (64, modern, "there is no disk where the board has one"),
        (64, (*drive, plain), "the disk is behind a transport of before virtio 1"),
        (23, (*modern, *drive, plain), "a part of a disk ends beyond the disk"),
        (
            *(64, (*modern, *drive, f"{plain},readonly=on")),
            "a disk cannot be written, and a part of it is to be",
        ),
    ):
        with disk.open("wb") as file:
            file.truncate(size * MIB)
        command = [
            *("qemu-system-aarch64", "-M", "virt,virtualization=on,gic-version=3", "-m", "1G"),
            *("-cpu", "cortex-a53", "-smp", "4", "-nodefaults", "-nic", "none", "-display", "none"),
            *("-serial", "stdio", "-kernel", image, *options),
        ]
        ended = subprocess.run(
            command,
            check=True,
            capture_output=True,
            text=True,
            timeout=120,
            stdin=subprocess.DEVNULL,
        )
        assert ended.stdout.rstrip().endswith(f"mortise| error: manifest: {why}"), ended.stdout
