"""Life cycles of VMs, by a manager beside a control loop on a dedicated core."""

import re

import pytest
from conftest import assert_well

CASES = 12
"""Cases of `tests/guests/lifecycle-test`, the last of them 10,000 lives."""
JUDGED = 25
"""Cases of `examples/apps/job-manager`."""
RIVALRIES = 6
"""Cases of `tests/guests/lifecycle-race-test`."""


@pytest.mark.long(45, "pool/mortise/lifecycle", "pool/tenon/vm")
@pytest.mark.timeout(900)
def test_life_cycles_keep_their_promises_and_leave_a_neighbour_alone(tenon):
    run = ("run", "lifecycle", "--headless", "--seconds", 8, "--deterministic")
    outcome = tenon(*run, limit=850)
    assert_well(outcome)
    lines = outcome.said("manager")
    assert [line for line in lines if "FAILED" in line] == []
    assert len([line for line in lines if line.startswith("ok ")]) == CASES
    assert lines[-1] == "lifecycle-test: all cases hold"
    # The control loop loses no release and makes no exit.
    control = outcome.task
    assert control["released"] == control["completed"] >= 8000
    assert control["duplicates"] == 0
    assert outcome.vm("motor")["exits_in_window"] == 0
    # All created VMs are destroyed.
    made = [vm for vm in outcome.result["vms"] if vm["name"] not in ("manager", "motor")]
    assert made
    assert {vm["state"] for vm in made} == {"destroyed"}


@pytest.mark.long(30, "pool/mortise/lifecycle", "pool/mortise/dispatch")
@pytest.mark.timeout(300)
def test_they_do_on_one_core_and_a_loop_there_goes_first(tenon):
    # One second covers some hundred of the 10,000 lives of the last case.
    outcome = tenon("run", "lifecycle-one-core", "--headless", "--deterministic", "--seconds", 1)
    assert_well(outcome)
    lines = outcome.said("manager")
    assert [line for line in lines if "FAILED" in line] == []
    assert len([line for line in lines if line.startswith("ok ")]) == CASES - 1
    control = outcome.task
    assert control["released"] == control["completed"] >= 1000
    assert (control["late"], control["duplicates"]) == (0, 0)
    # Bound: the longest section plus a switch.
    assert control["latency_ns"]["max"] <= 1_000


@pytest.mark.long(35, "pool/mortise/lifecycle", "pool/mortise/transfer", "pool/tenon/c-api")
@pytest.mark.timeout(300)
def test_a_program_in_c_has_the_same_calls(tenon):
    outcome = tenon("run", "job-manager", "--headless", "--deterministic", "--seconds", 5)
    assert_well(outcome)
    lines = outcome.said("manager")
    assert [line for line in lines if line.startswith("FAILED")] == []
    assert len([line for line in lines if line.startswith("ok ")]) == JUDGED
    assert "job-manager: 0 failed" in lines
    made = [vm for vm in outcome.result["vms"] if vm["name"] != "manager"]
    assert made
    assert {vm["state"] for vm in made} == {"destroyed"}


@pytest.mark.long(60, "pool/mortise/lifecycle", "pool/mortise/transfer")
@pytest.mark.timeout(300)
def test_a_manager_may_be_paused_in_the_midst_of_each_call(tenon):
    outcome = tenon(
        "run", "lifecycle-preemption", "--headless", "--deterministic", "--seconds", 200
    )
    assert_well(outcome)
    lines = outcome.said("subject")
    assert [line for line in lines + outcome.said("supervisor") if "FAILED" in line] == []
    found = [re.fullmatch(r"(.+): paused in (\d+) of 24", line) for line in lines]
    paused = {match[1]: int(match[2]) for match in found if match}
    assert len(paused) == 14
    assert {call: times for call, times in paused.items() if times < 3} == {}
    assert "all is as before" in lines
    (watched,) = outcome.said("supervisor")
    assert re.fullmatch(r"paused \d{3} times, at rest each time", watched)


@pytest.mark.timeout(600)
def test_what_a_manager_began_and_left_keeps_no_memory_and_no_slot(tenon):
    # The manager is restarted 44 times in the midst of a creation, and destroyed in one at last.
    outcome = tenon(
        "run", "lifecycle-orphans", "--headless", "--deterministic", "--seconds", 200, limit=550
    )
    assert_well(outcome)
    assert outcome.said("maker") == ["free"] * 45
    assert outcome.said("supervisor") == ["restarted 44 times"]


@pytest.mark.long(50, "pool/mortise/lifecycle", "pool/mortise/transfer")
@pytest.mark.timeout(300)
def test_calls_that_meet_lead_where_one_after_the_other_would(tenon):
    # A manager on two cores, interrupt storms on one of them, VMs on two shared cores.
    outcome = tenon("run", "lifecycle-race", "--headless", "--deterministic", "--seconds", 200)
    assert_well(outcome)
    lines = outcome.said("manager")
    assert len([line for line in lines if line.startswith("ok ")]) == RIVALRIES, lines
    assert lines[-1] == "lifecycle-race-test: 0 cases FAILED"
    assert {vm["state"] for vm in outcome.result["vms"]} == {"destroyed", "off"}
