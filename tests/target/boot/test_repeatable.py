"""Deterministic runs are identical even on a host with delayed threads."""

import os
import shlex
import shutil
import subprocess
import sys

import pytest
from conftest import SUPPORT, assert_well

QEMU = "qemu-system-aarch64"


@pytest.fixture
def late(tmp_path, monkeypatch):
    """An emulator that accounts late for the instructions of a core before a WFI."""
    if not sys.platform.startswith("linux"):
        pytest.skip("a library is put before the emulator's with Linux's loader")
    library = tmp_path / "late.so"
    source = SUPPORT / "late.c"
    line = ["cc", "-O1", "-shared", "-fPIC", "-o", library, source, "-ldl"]
    subprocess.run(line, check=True)
    script = tmp_path / QEMU
    emulator = shlex.quote(shutil.which(QEMU))
    script.write_text(f'#!/bin/sh\nLD_PRELOAD={shlex.quote(str(library))} exec {emulator} "$@"\n')
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")


@pytest.mark.timeout(600)
def test_the_clock_does_not_run_ahead_of_a_core_that_is_about_to_wait(tenon, late):
    options = ("--headless", "--deterministic", "--seconds", 2)
    runs = [tenon("run", "motor-linux", *options) for _ in range(3)]
    for run in runs:
        assert_well(run)
    assert all(run.result == runs[0].result for run in runs)
