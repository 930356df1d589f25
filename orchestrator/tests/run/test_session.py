"""A complete run with a stand-in for QEMU: decisions and results."""

import json
import os
import signal
import struct
import time
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest

from tenonos.errors import WorkError
from tenonos.run.console import Chunk
from tenonos.run.formats import State
from tenonos.run.memory import RunFolder
from tenonos.run.plugin import KIND_EXECUTING
from tenonos.run.screen import rows_now
from tenonos.run.script import parse


def test_the_json_is_as_documented(scenario):
    result = scenario("", seconds=0.1).run()
    assert result.failure is None
    value = json.loads(result.to_json())
    assert list(value) == ["board", "mode", "timing", "note", "vms", "periodic", "channels"]
    motor, linux = value["vms"]
    assert motor == {
        "name": "motor",
        "kind": "tenon",
        "cpus": [3],
        "state": "running",
        "exit_reason": None,
        "boot_ns": 5000,
        "exits": {"irq": 1, "hypercall": 2, "mmio": 3, "sysreg": 4, "wfi": 5, "other": 6},
        "exits_in_window": 0,
    }
    assert linux["cpus"] == [0, 1, 2]
    assert value["periodic"] == [
        {
            "vm": "motor",
            "task": "control",
            "period_ns": 1_000_000,
            "released": 100,
            "completed": 100,
            "late": 0,
            "duplicates": 0,
            "deadline_ns": 1_000_000,
            "first_ns": 120_000_000,
            "last_ns": 219_000_000,
            "latency_ns": {"min": 100, "p50": 100, "p99": 100, "p999": 100, "max": 100},
        }
    ]
    (channel,) = value["channels"]
    assert channel["name"] == "telemetry" and channel["lost"] == 0


def test_a_vm_that_died_is_a_failure_with_its_registers(scenario):
    result = scenario("dies", seconds=0.1).run()
    motor = json.loads(result.to_json())["vms"][0]
    assert result.failure == "motor stopped: data-abort"
    assert (motor["state"], motor["exit_reason"]) == ("stopped", "data-abort")
    assert motor["fault"]["text"] == "write to 0xdead000"
    assert (motor["fault"]["far"], motor["fault"]["esr"]) == ("0xdead000", "0x92000047")


def test_vms_that_came_and_went_are_in_the_result(scenario):
    session = scenario("late", seconds=0.1)
    value = json.loads(session.run().to_json())
    gone, job = value["vms"][2:]
    assert (gone["name"], gone["state"], gone["cpus"]) == ("gone", "destroyed", [2])
    assert (gone["exit_status"], gone["exit_reason"]) == (0, None)
    assert (job["name"], job["state"], job["kind"]) == ("job", "running", "tenon")
    assert job["exits"]["hypercall"] == 5
    assert value["channels"][1] == {"name": "jobs", "messages": 12, "lost": 3}
    assert [row.name for row in rows_now(session)] == ["motor", "linux", "gone", "job"]


def test_a_run_without_an_end_ends_with_its_vms(scenario):
    result = scenario("off").run()
    assert [(vm.state, vm.exit_reason) for vm in result.vms] == [("off", "system-off")] * 2
    assert result.failure is None


def test_a_mortise_that_starts_nothing_is_a_failure_in_its_own_words(scenario):
    result = scenario("refuses").run()
    assert result.failure == "Mortise started no VM: linux: its memory overlaps Mortise"


def test_last_words_are_waited_for_as_long_as_they_come(scenario):
    session = scenario("")
    assert not session._settled(10.0)
    session._chunk(Chunk("linux", 0, "the last", begins=True, ends=True))
    assert not session._settled(10.6)
    assert session._settled(11.2)


def interrupted(session, number):
    """A session that is sent a signal while it has its queue locked."""
    events, get = session._events, session._events.get

    def interrupt(**arguments):
        session._events.get = get
        events.mutex.acquire()
        signal.raise_signal(number)
        events.mutex.release()
        return get(**arguments)

    session._events.get = interrupt
    return session


@pytest.mark.timeout(20)
def test_a_signal_at_the_worst_moment_ends_a_run_in_order(scenario):
    assert interrupted(scenario(""), signal.SIGINT).run().failure is None
    with pytest.raises(KeyboardInterrupt):
        interrupted(scenario("", seconds=1000), signal.SIGINT).run()
    with pytest.raises(SystemExit, match="143"):
        interrupted(scenario(""), signal.SIGTERM).run()


def test_a_run_in_a_thread_of_a_worker_leaves_signals_alone(scenario):
    before = signal.getsignal(signal.SIGINT)
    with ThreadPoolExecutor(1) as threads:
        assert threads.submit(scenario("", seconds=0.1).run).result().failure is None
    assert signal.getsignal(signal.SIGINT) is before


def test_a_linux_that_never_gets_ready_is_reported(scenario):
    result = scenario("silent", seconds=0.1, boot_limit=0.5).run()
    assert result.failure == "linux did not say `tenon-ready` within 0.5 s"


def test_a_failed_emulator_is_reported_in_its_own_words(scenario):
    with pytest.raises(WorkError, match="no such machine"):
        scenario("fails").run()


def test_an_emulator_that_quits_ends_the_run(scenario):
    assert scenario("quits", seconds=0.1).run().vms[0].state == "running"


def test_a_script_types_on_its_vm_and_belongs_into_the_window(scenario, tmp_path):
    file = tmp_path / "script"
    file.write_text("expect tenon-ready\nsend reboot -f\nexpect tenon-ready\n")
    session = scenario("echo", seconds=0.01, scripts={"linux": parse(file)})
    result = session.run()
    heard = session.transcripts["linux"].text
    assert r"heard b'\x141reboot -f\n'" in heard, "VM 1 was selected first"
    assert session.ready == {"linux": 19_900_000}, "the first time counts"
    assert result.failure is None


def test_a_script_without_a_length_ends_the_run(scenario, tmp_path):
    file = tmp_path / "script"
    file.write_text("expect tenon-ready\n")
    assert scenario("", scripts={"linux": parse(file)}).run().failure is None


def test_nothing_is_left_behind(scenario):
    session = scenario("", seconds=0.05)
    session.run()
    assert session._qemu.process.poll() is not None
    assert not session._ram.path.parent.exists()


def test_what_a_killed_run_left_is_swept(tmp_path):
    gone, mine = tmp_path / "tenon-run-99999999-x", tmp_path / f"tenon-run-{os.getpid()}-y"
    gone.mkdir()
    mine.mkdir()
    with RunFolder(1 << 60, tmp_path) as folder:
        assert folder.parent == tmp_path, "what is too big for shared memory goes to the disk"
        assert not gone.exists() and mine.exists()
    assert not folder.exists()


def test_a_run_does_not_wait_for_the_host(scenario):
    began = time.monotonic()
    scenario("", seconds=0.1).run()
    assert time.monotonic() - began < 10


def test_what_is_still_to_be_counted_is_waited_for(scenario, monkeypatch):
    # All VMs have ended and the console is silent, but the plugin's records are late.
    monkeypatch.setattr("tenonos.run.plugin.build", lambda: "plugin.so")
    visits = []
    scenario("off counted", plan=("visits",), count=visits.append).run()
    assert [visit.instructions for visit in visits] == list(range(6))


def test_the_clock_of_executing_cores_is_no_record_of_a_bench(scenario):
    counted = []
    session = scenario("quiet", deterministic=True, count=counted.append)
    session._take("plugin", struct.pack("<IIQQ", KIND_EXECUTING, 16, 0, 5_000))
    assert not counted and session.window.now == 5_000


def test_no_release_of_a_paused_vm_is_missing(scenario):
    session = scenario("quiet", seconds=0.2)
    session.window.open(0)
    session.window.clock(10**9)
    session.statuses["motor"] = SimpleNamespace(state=State.PAUSED)
    session._settle()
    assert session.problem is None
    session.statuses["motor"] = SimpleNamespace(state=State.RUNNING)
    session._settle()
    assert "200 of 200 releases of task control of motor never came" in session.problem


@pytest.mark.parametrize("deterministic", [False, True])
def test_what_was_printed_before_the_end_is_taken(scenario, deterministic):
    session = scenario("", seconds=0.1, deterministic=deterministic)
    lines = b"[00000.099000000] motor| in time\r\n[00000.101000000] motor| too late\r\n"
    session.window.open(0)
    session.window.clock(10**9)

    def stop():
        for data in (lines[:50], lines[50:], b""):
            session._events.put(("console", data))

    session._qemu, session._open_streams = SimpleNamespace(stop=stop), 1
    session._finish()
    taken = session.transcripts["motor"].text
    assert "in time" in taken
    assert ("too late" in taken) != deterministic, "the host decides whether it was printed"
