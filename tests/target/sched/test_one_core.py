"""Two kernels on one core: a control loop of higher priority, and Linux in the remaining time."""

import pytest
from conftest import assert_well

MS = 1_000_000


@pytest.fixture(scope="module")
def shared(tenon):
    """Three deterministic seconds (one instruction per ns) during Linux's boot."""
    return tenon("run", "one-core", "--headless", "--deterministic", "--seconds", 3)


@pytest.mark.timeout(600)
def test_linux_reaches_its_shell_beside_the_loop(shared):
    assert_well(shared)
    assert any("tenon-ready cpus=1" in line for line in shared.said("linux"))
    assert [(vm["cpus"], vm["state"]) for vm in shared.result["vms"]] == [([0], "running")] * 2


@pytest.mark.timeout(600)
def test_no_release_is_lost_or_late(shared):
    task = shared.task
    assert task["released"] == task["completed"] >= 2_990
    assert (task["duplicates"], task["late"]) == (0, 0)
    assert task["released"] == (task["last_ns"] - task["first_ns"]) // MS + 1


@pytest.mark.timeout(600)
def test_the_loop_takes_the_core_within_its_bound(shared):
    # One instruction is 1 ns: from the release to the first instruction of the body.
    latency = shared.task["latency_ns"]
    assert latency["p50"] <= 550
    assert latency["max"] <= 700


@pytest.mark.timeout(600)
def test_linux_begins_again_and_the_loop_does_not_wait_for_its_filling(tenon, tmp_path):
    script = tmp_path / "reboot"
    steps = ("expect tenon-ready", "expect # ", "send sleep 0.3; reboot -f", "expect tenon-ready")
    script.write_text("\n".join(steps) + "\n")
    line = ("run", "one-core", "--headless", "--deterministic", "--seconds", 2)
    run = tenon(*line, "--input", f"linux={script}")
    assert_well(run)
    assert run.vm("linux")["restarts"] == 1
    task = run.task
    assert task["released"] == task["completed"] >= 1_990
    assert (task["duplicates"], task["late"]) == (0, 0)
    # 51 ms when it was filled in one step.
    assert task["latency_ns"]["max"] <= 2_000
