"""The demo: a control loop beside Linux, and its guarantees."""

import pytest
from conftest import assert_well

MS = 1_000_000
EXITS = ("irq", "hypercall", "mmio", "sysreg", "wfi", "other")


def assert_every_release_once(task, at_least):
    assert task["released"] == task["completed"] >= at_least
    assert task["duplicates"] == 0
    assert task["released"] == (task["last_ns"] - task["first_ns"]) // task["period_ns"] + 1


@pytest.fixture(scope="module")
def host(tenon):
    """Ten seconds of the demo by the host's clock."""
    return tenon("demo", "--headless", "--seconds", 10)


@pytest.fixture(scope="module")
def deterministic(tenon):
    """The demo twice, one instruction per nanosecond."""
    return [tenon("demo", "--headless", "--deterministic", "--seconds", 10) for _ in range(2)]


@pytest.mark.alone
@pytest.mark.timeout(600)
def test_both_guests_run_and_no_release_is_lost(host):
    assert_well(host)
    assert host.result["timing"] == "host"
    assert [(vm["kind"], vm["state"]) for vm in host.result["vms"]] == [
        ("tenon", "running"),
        ("linux", "running"),
    ]
    task = host.task
    assert (task["period_ns"], task["deadline_ns"]) == (MS, MS)
    assert_every_release_once(task, at_least=9_900)
    latency = task["latency_ns"]
    assert latency["min"] <= latency["p50"] <= latency["p99"] <= latency["p999"] <= latency["max"]


@pytest.mark.alone
@pytest.mark.timeout(600)
def test_linux_is_at_its_shell_with_three_cpus(host):
    assert any("tenon-ready cpus=3" in line for line in host.said("linux"))


@pytest.mark.alone
@pytest.mark.timeout(600)
def test_host_timing_says_what_it_is(host):
    assert "host's noise" in host.result["note"]
    assert "host's noise" in host.stdout


@pytest.mark.alone
@pytest.mark.timeout(600)
def test_the_loop_never_leaves_its_core(host):
    motor = host.vm("motor")
    assert motor["exits_in_window"] == 0
    assert tuple(motor["exits"]) == EXITS


@pytest.mark.alone
@pytest.mark.timeout(900)
def test_the_headline_is_a_count_on_the_loops_own_core(host, deterministic):
    """The same in host timing and in a deterministic run, as no clock is in it."""
    (counted,) = deterministic[0].result["paths"]
    assert (counted["name"], counted["vcpu"]) == ("motor: control", 3)
    assert counted["min"] == counted["max"] and counted["count"] >= 10_000
    (seen,) = host.result["paths"]
    assert seen["name"] == counted["name"]
    usual = max(seen["histogram"], key=seen["histogram"].get)
    assert int(usual) == counted["min"] == seen["min"]
    for run in (host, deterministic[0]):
        assert f"job: {counted['min']} instructions of CPU 3" in run.stdout


@pytest.mark.timeout(900)
def test_a_deterministic_run_is_on_time_and_without_the_hypervisor(deterministic):
    first = deterministic[0]
    assert_well(first)
    assert first.result["timing"] == "deterministic"
    assert_every_release_once(first.task, at_least=9_900)
    assert first.task["late"] == 0
    assert first.task["latency_ns"]["max"] < 512
    assert first.task["emulator_turns"] == {"releases": 0, "late": 0, "max_ns": 0}
    motor = first.vm("motor")
    assert motor["exits_in_window"] == 0
    assert motor["el2_instructions_in_window"] == 0
    assert first.result["channels"][0]["lost"] == 0


@pytest.mark.timeout(900)
def test_two_deterministic_runs_are_identical(deterministic):
    assert deterministic[0].result == deterministic[1].result


@pytest.mark.timeout(600)
def test_in_shared_mode_every_interrupt_is_an_exit(tenon):
    shared = tenon("run", "motor-shared", "--headless", "--deterministic", "--seconds", 2)
    assert_well(shared)
    assert_every_release_once(shared.task, at_least=1_980)
    motor = shared.vm("motor")
    assert motor["exits"]["irq"] >= 1_980, "the counter counts"
    assert motor["exits_in_window"] >= 1_980
    assert motor["el2_instructions_in_window"] > motor["exits_in_window"]


@pytest.mark.alone
@pytest.mark.timeout(600)
def test_linux_reboots_while_the_loop_goes_on(tenon, tmp_path):
    script = tmp_path / "reboot"
    script.write_text("expect tenon-ready\nexpect # \nsend reboot -f\nexpect tenon-ready\n")
    run = tenon("run", "motor-linux", "--headless", "--seconds", 5, "--input", f"linux={script}")
    assert_well(run)
    assert sum("tenon-ready cpus=3" in line for line in run.said("linux")) == 2
    assert_every_release_once(run.task, at_least=4_900)
    assert run.vm("motor")["exits_in_window"] == 0
    assert run.vm("linux")["state"] == "running"
    assert run.vm("linux")["restarts"] == 1


@pytest.mark.timeout(300)
def test_a_malformed_script_is_wrong_input(tenon, tmp_path):
    script = tmp_path / "script"
    script.write_text("expect ready\nshout\n")
    run = tenon("run", "motor-linux", "--headless", "--input", f"linux={script}")
    assert run.status == 2
    assert f"{script}:2" in run.stderr and len(run.stderr.splitlines()) == 1
