"""`./tenon run` as a process: debugging, and cleanup at its end."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import ROOT, Outcome, assert_well
from descriptions import CONTROL, described, linux, motor

from tenonos.run.console import Chunk
from tenonos.run.frontend import Wishes, _printed


def test_a_line_that_was_broken_off_is_read_whole(capsys):
    """A line that arrives in pieces, which a busy host may read as several lines."""
    printed = _printed(Wishes())
    printed.chunk(Chunk("linux", 0, "all is ", begins=True, ends=True))
    printed.close(None)
    printed.chunk(Chunk("mortise", 0, "job made", begins=True, ends=True))
    printed.chunk(Chunk("linux", 0, "free", begins=True, continues=True, ends=True))
    printed.close(None)
    outcome = Outcome(0, "", capsys.readouterr().err, {})
    assert outcome.said("linux") == ["all is free"]
    assert outcome.said("mortise") == ["job made"]


def start(*arguments):
    line = [sys.executable, str(ROOT / "orchestrator"), "run", *arguments]
    return subprocess.Popen(
        line, cwd=ROOT, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )


def until(process, text, limit=120):
    """The first line on stderr that contains `text`."""
    end = time.monotonic() + limit
    for line in process.stderr:
        if text in line:
            return line
        assert time.monotonic() < end, f"no {text!r} within {limit} s"
    pytest.fail(f"ended without {text!r}, status {process.wait()}")


def folders(process):
    parents = (Path("/dev/shm"), ROOT / ".tenon" / "run")
    return [found for parent in parents for found in parent.glob(f"tenon-run-{process.pid}-*")]


@pytest.mark.timeout(180)
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_an_ended_run_leaves_nothing(how):
    process = start("hello", "--headless")
    until(process, "hello from Tenon")
    assert folders(process)
    process.send_signal(how)
    process.wait(timeout=20)
    assert not folders(process)


@pytest.mark.timeout(180)
def test_a_killed_run_takes_the_emulator_with_it():
    process = start("hello", "--headless")
    until(process, "hello from Tenon")
    (folder,) = folders(process)
    assert folder in working_folders()
    process.kill()
    process.wait(timeout=20)
    end = time.monotonic() + 20
    while any(there == folder for there in working_folders()):
        assert time.monotonic() < end, "the emulator lives on"
        time.sleep(0.1)
    shutil.rmtree(folder)


def working_folders():
    """Working directories of all processes; the emulator's is the folder of its run."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            with contextlib.suppress(OSError):
                yield (entry / "cwd").readlink()


@pytest.mark.timeout(180)
def test_a_debugger_knows_every_image():
    if shutil.which("gdb-multiarch") is None:
        pytest.skip("no gdb-multiarch here")
    process = start("hello", "--headless", "--gdb")
    try:
        line = shlex.split(until(process, "gdb-multiarch"))
        script = ["info line hello::main", "break hello::main", "continue", "backtrace", "kill"]
        steps = [word for step in script for word in ("-ex", step)]
        debugger = subprocess.run(
            [*line, "-batch", *steps],
            cwd=ROOT,
            check=False,
            capture_output=True,
            text=True,
            timeout=90,
            env={**os.environ, "DEBUGINFOD_URLS": ""},
        )
        said = debugger.stdout + debugger.stderr
        assert "Breakpoint 1, hello::main" in said, said
        assert "tenon_thread" in said, said
        process.wait(timeout=20)
    finally:
        process.kill()


@pytest.mark.timeout(600)
def test_lateness_that_is_the_emulators_is_marked(tenon):
    """Two busy cores beside the loop: it waits for their turns, and never for code of its core."""
    outcome = tenon("run", "random-exits", "--headless", "--deterministic", "--seconds", "0.05")
    assert_well(outcome)
    task = outcome.task
    turns = task["emulator_turns"]
    assert task["late"] == turns["late"] > 0 and turns["releases"] > 10
    assert 0.99 < turns["max_ns"] / task["latency_ns"]["max"] <= 1
    told = f"{turns['releases']} of them waited for the emulator, which ran other cores"
    assert told in " ".join(outcome.stdout.split())


@pytest.mark.timeout(300)
@pytest.mark.parametrize("keys", [{}, {"ready": "job control turned off"}], ids=["init", "line"])
def test_a_linux_with_another_init_opens_the_window(tenon, tmp_path, keys):
    own = linux(cpus=[0], cmdline="console=ttyAMA0 rdinit=/bin/sh", **keys)
    text = described("own-init", motor(CONTROL, cpus=[3]), own)
    (tmp_path / "system.toml").write_text(text)
    outcome = tenon("run", tmp_path, "--headless", "--deterministic", "--seconds", 0.2)
    assert_well(outcome)
    assert "tenon-ready" not in outcome.stderr
    assert outcome.task["released"] == outcome.task["completed"] == 200
