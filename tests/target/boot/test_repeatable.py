"""Deterministic runs are identical even on a host with delayed threads."""

import os
import shlex
import shutil
import subprocess
import sys

import newer_qemu
import pytest
from conftest import SUPPORT, assert_well

QEMU = "qemu-system-aarch64"


@pytest.fixture
def late(tmp_path, monkeypatch):
    """An emulator that accounts late for the instructions of a core before a WFI."""
    put_before_the_emulator(tmp_path, monkeypatch, "late")


def put_before_the_emulator(folder, monkeypatch, *names):
    """Puts libraries, of sources of these names, before those of the emulator on the path."""
    if not sys.platform.startswith("linux"):
        pytest.skip("a library is put before the emulator's with Linux's loader")
    libraries = []
    for name in names:
        libraries.append(folder / f"{name}.so")
        source = SUPPORT / f"{name}.c"
        line = ["cc", "-O1", "-shared", "-fPIC", "-o", libraries[-1], source, "-ldl", "-lpthread"]
        subprocess.run(line, check=True)
    script = folder / QEMU
    emulator = shlex.quote(shutil.which(QEMU))
    before = shlex.quote(":".join(map(str, libraries)))
    script.write_text(f'#!/bin/sh\nLD_PRELOAD={before} exec {emulator} "$@"\n')
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")


@pytest.mark.long(22, "bench/plugin", "orchestrator/tenonos/run")
@pytest.mark.timeout(600)
def test_the_clock_does_not_run_ahead_of_a_core_that_is_about_to_wait(tenon, late):
    options = ("--headless", "--deterministic", "--seconds", 2)
    runs = [tenon("run", "motor-linux", *options) for _ in range(3)]
    for run in runs:
        assert_well(run)
    assert all(run.result == runs[0].result for run in runs)


@pytest.mark.long(14, "bench/plugin", "orchestrator/tenonos/run")
@pytest.mark.timeout(600)
def test_nor_where_the_main_loop_is_woken_meanwhile(tenon, tmp_path, monkeypatch):
    assert_wakes_change_nothing(tenon, tmp_path, monkeypatch)


@pytest.mark.long(14, "bench/plugin", "orchestrator/tenonos/run")
@pytest.mark.timeout(600)
def test_nor_in_a_newer_qemu(tenon, tmp_path, monkeypatch):
    newer_qemu.put_on_path(monkeypatch)
    assert_wakes_change_nothing(tenon, tmp_path, monkeypatch)


def assert_wakes_change_nothing(tenon, folder, monkeypatch):
    """A run whose emulator's main loop is woken all the time, as by requests of a disk that are
    done, is the same as a plain one."""
    line = ("run", "one-core", "--headless", "--deterministic", "--seconds", 2)
    plain = tenon(*line)
    put_before_the_emulator(folder, monkeypatch, "late", "restless")
    woken = tenon(*line)
    for run in (plain, woken):
        assert_well(run)
    assert woken.result == plain.result
