"""Guests that never yield their cores: each core is regained, or reported as lost."""

import re

import pytest
from conftest import SUPPORT

GUESTS = SUPPORT / "guests"

SPINS = ["masked", "deaf", "closed"]
SLEEPS = ["masked-asleep", "deaf-asleep", "closed-asleep"]
"""Behaviours of `guests/deaf`, selected by the name of its VM."""
NOBODY = "deaf-asleep"
"""Behaviours that neither the doorbell nor the withdrawal of memory reaches, unless WFI traps."""

SYSTEM = """
name = "warden"
board = "qemu-virt"
pool = "0.1"
mode = "dynamic"

[[vm]]
name = "warden"
kind = "tenon"
app = "{guests}/warden"
cpus = [0]
memory = "8M"
interrupts = "shared"

[vm.manages]
vms = {names}
"""

KEEPER = """
[[vm]]
name = "{name}"
kind = "tenon"
app = "{guests}/deaf"
cpus = [{cpu}]
memory = "4M"
interrupts = "direct"
wfi = "{wfi}"
"""

RUNNING, LOST = 2, 10
LINE = re.compile(r"(\d) (\w+): answer (-?\d+), listed (\d), state (\d+), told (\d+)")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder for all systems, so that common images are linked once."""
    return tmp_path_factory.mktemp("warden")


def stopped(tenon, folder, names, wfi, seconds=60):
    """The outcome after a manager has restarted and destroyed each VM.

    The machine turns off afterwards, unless a core is lost: then the run ends by the host's clock.
    """
    listed = str(names).replace("'", '"')
    keepers = [
        KEEPER.format(name=name, cpu=cpu, wfi=wfi, guests=GUESTS)
        for cpu, name in enumerate(names, 1)
    ]
    system = SYSTEM.format(names=listed, guests=GUESTS)
    (folder / "system.toml").write_text(system + "".join(keepers))
    outcome = tenon("run", folder, "--headless", "--deterministic", "--seconds", seconds)
    lines = outcome.said("warden")
    assert "warden: done" in lines, lines
    told = {name: {} for name in names}
    for match in filter(None, map(LINE.fullmatch, lines)):
        told[names[int(match[1]) - 1]][match[2]] = tuple(map(int, match.groups()[2:]))
    return outcome, told


def assert_taken_back(outcome, name, told):
    assert told["runs"] == told["restarted"] == told["later"] == (0, 1, RUNNING, RUNNING)
    assert told["destroyed"] == (0, 0, 0, 0)
    vm = outcome.vm(name)
    assert (vm["state"], vm["exit_reason"], vm["restarts"]) == ("destroyed", None, 1)


def lines_about_loss(outcome):
    return [line for line in outcome.said("mortise") if " lost CPU " in line or " back" in line]


@pytest.mark.long(30, "pool/mortise/lifecycle", "pool/mortise/run")
@pytest.mark.timeout(300)
@pytest.mark.parametrize("names", [SPINS, SLEEPS], ids=["spins", "sleeps"])
def test_whoever_waits_in_mortise_or_executes_is_taken_back(tenon, folder, names):
    outcome, told = stopped(tenon, folder, names, "trap")
    assert outcome.status == 0, outcome.stderr
    for name in names:
        assert_taken_back(outcome, name, told[name])
    assert lines_about_loss(outcome) == []


@pytest.mark.long(18, "pool/mortise/lifecycle", "pool/mortise/run")
@pytest.mark.timeout(300)
def test_whoever_executes_is_taken_back_though_its_wfi_does_not_trap(tenon, folder):
    outcome, told = stopped(tenon, folder, SPINS, "pass")
    assert outcome.status == 0, outcome.stderr
    for name in SPINS:
        assert_taken_back(outcome, name, told[name])
    assert lines_about_loss(outcome) == []


@pytest.mark.timeout(300)
def test_a_core_that_nothing_wakes_is_said_to_be_lost(tenon, folder):
    outcome, told = stopped(tenon, folder, SLEEPS, "pass", seconds=12)
    # No call blocks for ever: each reports the loss, also the destruction.
    assert told[NOBODY]["runs"] == (0, 1, RUNNING, RUNNING)
    for when in ("restarted", "later", "destroyed"):
        assert told[NOBODY][when] == (0, 1, LOST, LOST)
    vm = outcome.vm(NOBODY)
    assert (vm["state"], vm["exit_reason"]) == ("lost", "lost-core")
    cpu = SLEEPS.index(NOBODY) + 1
    (line,) = lines_about_loss(outcome)
    assert f"{NOBODY} lost CPU {cpu}: vCPU 0 sleeps and lets nothing wake it" in line
    assert outcome.status == 1 and f"{NOBODY} lost a core" in outcome.stderr
    for name in SLEEPS:
        if name != NOBODY:
            assert_taken_back(outcome, name, told[name])
