"""`./tenon bench share dispatch`: two kernels on one core, one with a task of higher priority."""

import pytest
from conftest import assert_well

pytestmark = pytest.mark.long(
    250,
    "pool/core/sched",
    "pool/mortise/dispatch",
    "pool/mortise/vcpu",
    "pool/mortise/run",
    "pool/mortise/vgic",
)

LOADS = {"idle", "cpu", "block", "irq"}

SCHEDULES = {"reservations", "deadline"}


@pytest.fixture(scope="module")
def measured(tenon):
    # A missed, late or duplicate release fails the command.
    outcome = tenon("bench", "share", "dispatch", limit=900)
    assert_well(outcome)
    return outcome.result


def named(measured, name, fp=False):
    rows = [row for row in measured if row["name"] == name and "load" in row["params"]]
    return {row["params"]["load"]: row for row in rows if row["params"].get("fp", fp) == fp}


@pytest.mark.timeout(1000)
def test_every_load_is_measured(measured):
    assert {row["environment"] for row in measured} == {"mortise-dynamic"}
    delays = named(measured, "dispatch_delay")
    assert delays.keys() == LOADS
    for row in delays.values():
        assert row["samples"] == 2_000
        assert sum(row["histogram"].values()) == row["samples"]
        assert row["max"] == max(map(int, row["histogram"]))
    assert delays["block"]["paper"], "SPUMONE's worst stands beside"


@pytest.mark.timeout(1000)
def test_goals_hold(measured):
    late = []
    for row in measured:
        if row["goal"] is None:
            continue
        judged = row["median"] if "goal_worst" in row else row["max"]
        bounds = ((judged, row["goal"]), (row["max"], row.get("goal_worst")))
        if any(limit is not None and value > limit for value, limit in bounds):
            late.append((row["name"], row["params"], row["median"], row["max"]))
    assert not late


@pytest.mark.timeout(1000)
def test_no_switch_waits_for_what_can_come_behind_it(measured):
    # A device interrupt acknowledged just before the timer's was listed first: 651. One that is
    # repended because the timer is near is not part of the switch.
    assert named(measured, "vm_switch").keys() == LOADS - {"idle"}
    for fp, goal in ((False, 300), (True, 360)):
        for row in named(measured, "vm_switch", fp=fp).values():
            assert row["goal"] == goal and row["max"] <= goal


@pytest.mark.timeout(1000)
def test_a_policy_takes_no_longer(measured):
    rows = [row for row in measured if row["name"] == "vm_switch" and "schedule" in row["params"]]
    assert {row["params"]["schedule"] for row in rows} == SCHEDULES
    for row in rows:
        assert row["samples"] > 700
        # A budget that was depleted during a switch made it redundant: 575.
        assert row["max"] <= row["goal"] == 300


@pytest.mark.timeout(1000)
def test_the_loads_do_load(measured):
    switches = named(measured, "vm_switch")
    assert switches["cpu"]["samples"] >= 2 * 1_990, "Linux always has something to do"
    assert switches["irq"]["samples"] > 1_000
    # Both VMs use floating point in each run, so each switch exchanges all registers.
    floating = named(measured, "vm_switch", fp=True)["cpu"]
    assert floating["samples"] >= 2 * 1_990
    assert floating["min"] >= switches["cpu"]["min"] + 32
    # The number of runs of a writer depends on the host's disk.
    assert switches["block"]["samples"] > 20
