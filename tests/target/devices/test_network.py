"""Networks between VMs: unmodified Linux VMs and a hostile driver on one, beside a control loop."""

import subprocess

import pytest
from conftest import ROOT, SUPPORT, assert_well
from descriptions import described, motor, network_driver, table

from tenonos import build
from tenonos import system as systems
from tenonos.run import RunOptions, Session, Target, plugin

# Pings until the other Linux is there, then without a loss; a file by TCP.
LEFT = """\
timeout 250
expect tenon-ready
expect #
send ip addr add 10.0.0.1/24 dev eth0; ip link set eth0 up; ip link show eth0
expect 02:74:6e:6e:00:01
expect #
send for n in $(seq 60); do ping -c 1 -W 1 10.0.0.2 > /dev/null && break; done
expect #
send ping -c 50 -i 0.1 -s 1400 10.0.0.2 | tail -2
expect 50 packets transmitted, 50 packets received
expect #
send ping -c 20 -i 0.1 -s 20 10.0.0.2 | tail -2
expect 20 packets transmitted, 20 packets received
expect #
send seq 20000 | nc 10.0.0.2 7777
expect #
send tail -n 1 /proc/net/dev | tr -s ' '; echo un''spoilt
expect unspoilt
"""
RIGHT = """\
timeout 250
expect tenon-ready
expect #
send ip addr add 10.0.0.2/24 dev eth0; ip link set eth0 up; ip link show eth0
expect 02:00:00:00:00:99
expect #
send nc -l -p 7777 > got; md5sum < got
expect e071f707df7bbeee2a6a1eb48011ddd0
"""

HOSTILE = network_driver("hostile", [3])
"""A third VM in the network, with a rate."""
RATE = table("network.port", vm="hostile", rate="1M")

STARTED = 10
"""Moments of the loop after which the senders run."""

SHARED = described(
    "network-one-core",
    motor(
        "\n" + table("vm.task", name="control", period="1ms", deadline="1ms"),
        cpus=[1],
        interrupts="shared",
        priority=40,
    ),
    network_driver("hostile", [1], interrupts="shared", priority=0),
    network_driver("peer", [2], interrupts="shared"),
    table("network", name="lan", vms=["hostile", "peer"]),
    mode="dynamic",
)
"""The control loop; a sender runs on its core while the loop is idle."""


def compile_guest(folder, frames):
    """The hostile guest, as `net.elf`."""
    command = [
        *("aarch64-linux-gnu-gcc", "-O1", "-Wall", "-Wextra", "-Werror", "-ffreestanding"),
        *("-nostdlib", "-mgeneral-regs-only", "-mstrict-align", "-fno-pie", "-no-pie"),
        *("-Wl,--build-id=none", "-Wl,-n,-e,entry", "-Wl,-Ttext=0x48080000"),
        *(f"-DFRAMES={frames}", "-o", folder / "net.elf", SUPPORT / "guests" / "net.c"),
    ]
    subprocess.run(command, check=True)


@pytest.mark.timeout(900)
def test_linux_vms_reach_each_other_and_a_hostile_driver_harms_itself_alone(tenon, tmp_path):
    text = (ROOT / "tests/systems/network" / "system.toml").read_text()
    text = text.replace('vms = ["left", "right"]', 'vms = ["left", "right", "hostile"]')
    (tmp_path / "system.toml").write_text("\n".join((text, RATE, HOSTILE)))
    compile_guest(tmp_path, 20_000)
    (tmp_path / "left").write_text(LEFT)
    (tmp_path / "right").write_text(RIGHT)
    inputs = [f"{vm}={tmp_path / vm}" for vm in ("left", "right")]
    options = [option for each in inputs for option in ("--input", each)]
    outcome = tenon("run", tmp_path, "--headless", *options, limit=600)
    assert_well(outcome)

    said = outcome.said("hostile")
    attempts = next((line for line in said if line.startswith("attempts:")), "")
    assert attempts.endswith(", all contained"), said
    assert int(attempts.split()[1].rstrip(",")) > 400
    assert "flood: 20000 frames" in said
    assert outcome.vm("hostile")["state"] == "off"

    assert outcome.vm("motor")["exits_in_window"] == 0
    task = outcome.task
    assert task["released"] == task["completed"] > 1000 and task["duplicates"] == 0


@pytest.mark.long(60, "pool/mortise/vdev-net", "pool/core/virtq")
@pytest.mark.timeout(600)
def test_no_frame_keeps_the_core_from_a_loop_for_long(tmp_path):
    (tmp_path / "system.toml").write_text(SHARED)
    compile_guest(tmp_path, 1_000_000)
    found, releases = [], 0

    def count(record):
        nonlocal releases
        releases += isinstance(record, plugin.Moment)
        # The start of a VM has sections of its own.
        if releases > STARTED and isinstance(record, plugin.Visit) and record.vcpu == 1:
            found.append(record.section)

    options = RunOptions(0.7, deterministic=True, plan=("visits",), count=count)
    result = Session(Target.of(build.build(systems.load(tmp_path))), options, []).run()
    (task,) = result.periodic
    assert task.released == task.completed > 500 and task.duplicates == 0
    assert len(found) > 10_000
    assert max(found) <= 150
