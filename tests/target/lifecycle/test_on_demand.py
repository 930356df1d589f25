"""A VM on demand: created by a message, destroyed when its job is done."""

import pytest
from conftest import assert_well

ANSWERS = ["3 numbers, sum 8, 1 to 4", "4 numbers, sum 17, 1 to 9", "5 numbers, sum 27, 3 to 8"]


@pytest.fixture(scope="module")
def jobs(tenon, tmp_path_factory):
    """The events of `on-demand`, and one of the user, beside a control loop."""
    script = tmp_path_factory.mktemp("script") / "input"
    script.write_text(
        "expect no more events\nsend echo the answer: $(job 7 -7)\nexpect the answer: 2 numbers\n"
        "send tenonctl list; echo li''sted\nexpect listed\n"
    )
    return tenon(
        *("run", "on-demand", "--headless", "--deterministic", "--input", f"linux={script}"),
        limit=500,
    )


@pytest.mark.timeout(600)
def test_each_event_is_answered_by_a_vm_made_for_it(jobs):
    assert_well(jobs)
    said = jobs.said("linux")
    answers = [line.removeprefix("answer: ") for line in said if "answer: " in line]
    assert [line.rpartition("answer: ")[2] for line in answers][:3] == ANSWERS
    assert any("the answer: 2 numbers, sum 0, -7 to 7" in line for line in said)
    assert jobs.said("job").count("1 done") == 4
    assert len([line for line in jobs.said("mortise") if line.startswith("job made")]) == 4


@pytest.mark.timeout(600)
def test_its_core_and_memory_are_free_again(jobs):
    # After each of the four, no VM is listed, and the reserve is complete.
    assert len([line for line in jobs.said("linux") if "slots, 4M free" in line]) == 4
    assert not [line for line in jobs.said("linux") if line.startswith("job ")]
    job = jobs.vm("job")
    assert (job["kind"], job["cpus"], job["state"]) == ("tenon", [3], "destroyed")
    # The last one started within the window: counters of its slot's previous VMs are excluded.
    assert job["exits_in_window"] == sum(job["exits"].values()) > 0
    linux = jobs.vm("linux")
    assert (linux["cpus"], linux["state"]) == ([1, 2, 3], "running")


@pytest.mark.timeout(600)
def test_no_message_is_lost(jobs):
    counted = {channel["name"]: channel for channel in jobs.result["channels"]}
    assert [counted[name]["messages"] for name in ("jobs", "results")] == [4, 4]
    assert [counted[name]["lost"] for name in ("jobs", "results")] == [0, 0]


@pytest.mark.timeout(600)
def test_the_loop_beside_notices_nothing(jobs):
    task, motor = jobs.task, jobs.vm("motor")
    assert task["released"] == task["completed"] > 1_000
    assert (task["late"], task["duplicates"]) == (0, 0)
    assert (motor["exits_in_window"], motor["el2_instructions_in_window"]) == (0, 0)


FILLED = """\
expect no more events
send while :; do echo 1 > /dev/tenon/jobs; tenonctl pause job && break; done; echo pau''sed
expect paused
send for i in $(seq 17); do timeout 0.2 sh -c "echo $i > /dev/tenon/jobs" || echo "full at $i"; done
expect full at 17
send tenonctl destroy job; echo destr''oyed
expect destroyed
send echo 2 > /dev/tenon/jobs || echo to''ld
expect told
send cat /dev/tenon/results; echo drai''ned
expect drained
send echo the answer: $(job 7 -7)
expect the answer: 2 numbers
"""
"""A VM is destroyed with a full channel; its successor finds the channel empty."""


@pytest.mark.timeout(600)
def test_what_a_destroyed_vm_had_not_read_is_lost_and_counted(tenon, tmp_path):
    script = tmp_path / "input"
    script.write_text(FILLED)
    ran = tenon(
        *("run", "on-demand", "--headless", "--deterministic", "--input", f"linux={script}"),
        limit=500,
    )
    assert_well(ran)
    (jobs,) = (each for each in ran.result["channels"] if each["name"] == "jobs")
    assert jobs["lost"] == 16
    assert any("the answer: 2 numbers, sum 0, -7 to 7" in line for line in ran.said("linux"))
    assert ran.task["released"] == ran.task["completed"]
    assert ran.vm("motor")["exits_in_window"] == 0
