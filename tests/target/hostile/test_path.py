"""The path from interrupt to task, in instructions of the real-time core.

The emulator's clock is not meaningful across cores. The number of instructions from a core's
interrupt to its task's body is, and it must not depend on other VMs.
"""

from __future__ import annotations

import tomllib

import pytest
from conftest import ROOT
from descriptions import CONTROL, described, motor

HOSTILE = sorted(
    file.parent.name
    for file in (ROOT / "tests/systems").glob("hostile-*/system.toml")
    if (found := tomllib.loads(file.read_text()))["mode"] == "static"
    and found["board"] == "qemu-virt"
)
"""Systems with a dedicated core for the motor, as interrupts are exits on a shared core, and on the
same board, as a GICv2 needs other instructions."""

ALONE = described("motor-alone", motor(CONTROL, cpus=[3]), mode="static")


def measure(system, *, deterministic=True):
    """The paths of the motor's core and their counts."""
    from tenonos import build
    from tenonos import system as systems
    from tenonos.run import RunOptions, Session, Target
    from tenonos.run.symbols import address, interrupt

    built = build.build(systems.load(system))
    route = (interrupt(built, "motor"), address(built, "motor", "motor::step"))
    options = RunOptions(seconds=2, deterministic=deterministic, routes=(route,))
    result = Session(Target.of(built), options, []).run()
    assert result.failure is None
    motor = next(vm for vm in result.vms if vm.name == "motor")
    assert motor.exits_in_window == 0
    assert motor.el2_instructions_in_window == (0 if deterministic else None)
    assert result.periodic[0].released == result.periodic[0].completed
    (path,) = result.paths
    return path


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    folder = tmp_path_factory.mktemp("motor-alone")
    (folder / "system.toml").write_text(ALONE)
    return measure(folder)


@pytest.mark.timeout(300)
def test_the_path_has_one_length(alone):
    assert alone.count >= 1_980
    assert alone.min == alone.max, alone.histogram


@pytest.mark.timeout(300)
def test_linux_adds_no_instruction(alone):
    beside = measure("motor-linux")
    assert beside.vcpu == alone.vcpu == 3
    assert (beside.min, beside.max) == (alone.min, alone.max), beside.histogram


@pytest.mark.alone
@pytest.mark.timeout(300)
@pytest.mark.parametrize("system", HOSTILE)
def test_an_attacker_adds_no_instruction(alone, system):
    # By the host's clock: spinning attackers would delay a deterministic run for minutes, and only
    # instructions are counted.
    beside = measure(system, deterministic=False)
    assert (beside.min, beside.max) == (alone.min, alone.max), beside.histogram
