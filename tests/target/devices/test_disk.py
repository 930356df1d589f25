"""Virtual disks in memory: an unmodified Linux, and a hostile driver, beside a control loop."""

import subprocess

import pytest
from conftest import ROOT, SUPPORT, assert_well
from descriptions import described, disk_driver, motor, table

from tenonos import build
from tenonos import system as systems
from tenonos.run import RunOptions, Session, Target, plugin

GUESTS = SUPPORT / "guests"

ATTACKED = table("disk", vm="hostile", size="2M")

SHARED = described(
    "disk-one-core",
    motor(
        "\n" + table("vm.task", name="control", period="1ms", deadline="1ms"),
        cpus=[1],
        interrupts="shared",
        priority=40,
    ),
    mode="dynamic",
)
"""The control loop; the attacker runs on its core while the loop is idle."""

# The data is read back from the disk: the page cache is empty.
USE = """\
timeout 200
expect tenon-ready
expect #
send cat /sys/block/vda/size /sys/block/vdb/serial; head -c 20 /dev/vdb
expect This disk is a file
send mkdir disk; mke2fs /dev/vda > /dev/null; mount /dev/vda disk; seq 100000 > disk/numbers
expect #
send sum=$(md5sum < disk/numbers); umount disk; echo 3 > /proc/sys/vm/drop_caches
expect #
send mount -o ro /dev/vda disk; test "$sum" = "$(md5sum < disk/numbers)" && echo un''spoilt
expect unspoilt
send echo spoilt > /dev/vdb
expect not permitted
"""


def compile_guest(folder):
    """The hostile guest, as `disk.elf`."""
    command = [
        *("aarch64-linux-gnu-gcc", "-O1", "-Wall", "-Wextra", "-Werror", "-ffreestanding"),
        *("-nostdlib", "-mgeneral-regs-only", "-mstrict-align", "-fno-pie", "-no-pie"),
        *("-Wl,--build-id=none", "-Wl,-n,-e,entry", "-Wl,-Ttext=0x48080000"),
        *("-o", folder / "disk.elf", GUESTS / "disk.c"),
    ]
    subprocess.run(command, check=True)


@pytest.mark.timeout(600)
def test_linux_has_disks_and_who_attacks_one_harms_itself_alone(tenon, tmp_path):
    text = (ROOT / "tests/systems/disk" / "system.toml").read_text()
    (tmp_path / "system.toml").write_text("\n".join((text, disk_driver([2, 3]), ATTACKED)))
    (tmp_path / "notes.img").write_bytes((ROOT / "tests/systems/disk" / "notes.img").read_bytes())
    (tmp_path / "use").write_text(USE)
    compile_guest(tmp_path)
    outcome = tenon("run", tmp_path, "--headless", "--input", f"linux={tmp_path / 'use'}")
    assert_well(outcome)
    linux = outcome.said("linux")
    assert "4096" in linux and any("tenonos-1This disk is a file" in line for line in linux)

    attempts, races = (
        next((line for line in outcome.said("hostile") if line.startswith(what)), "")
        for what in ("attempts:", "races:")
    )
    assert attempts.endswith(", all contained"), outcome.said("hostile")
    assert int(attempts.split()[1].rstrip(",")) > 200
    assert races == "races: 3000 rounds, some of them disturbed"
    assert outcome.vm("hostile")["state"] == "off"

    assert outcome.vm("motor")["exits_in_window"] == 0
    task = outcome.task
    assert task["released"] == task["completed"] > 1000 and task["duplicates"] == 0


@pytest.mark.long(20, "pool/mortise/vdev-blk", "pool/mortise/drive", "pool/core/virtq")
@pytest.mark.timeout(600)
def test_no_request_keeps_the_core_from_a_loop_for_long(tmp_path):
    hostile = disk_driver([1, 2], interrupts="shared", priority=0)
    (tmp_path / "system.toml").write_text("\n".join((SHARED, hostile, ATTACKED)))
    compile_guest(tmp_path)
    found, begun = [], False

    def count(record):
        nonlocal begun
        begun |= isinstance(record, plugin.Moment)
        if begun and isinstance(record, plugin.Visit) and record.vcpu == 1:
            found.append(record.section)

    options = RunOptions(0.2, deterministic=True, plan=("visits",), count=count)
    result = Session(Target.of(build.build(systems.load(tmp_path))), options, []).run()
    (task,) = result.periodic
    assert task.released == task.completed > 190 and task.duplicates == 0
    assert len(found) > 10_000
    # Longest sections before changes: 740 for unaligned data, 358 for a status with its entry in
    # the used ring, 284 for the configuration.
    assert max(found) <= 150
