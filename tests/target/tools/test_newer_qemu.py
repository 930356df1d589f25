"""A newer QEMU beside the installed one counts the same instructions, on a Cortex-A55 too."""

import subprocess
import sys

import newer_qemu
import pytest
from conftest import ROOT, assert_well

from tenonos.analysis.recorded import RecordedRows, tools
from tenonos.run import qemu


@pytest.fixture
def newer(monkeypatch):
    """A newer QEMU in front of the path."""
    newer_qemu.put_on_path(monkeypatch)
    assert int(qemu.version().partition(".")[0]) >= newer_qemu.NEWER


A55 = ("--cpu", "cortex-a55")
"""The core of the paper's board; the images are the same."""


@pytest.mark.timeout(600)
def test_the_loop_has_its_core_to_itself(tenon, newer):
    assert_loop_has_its_core(tenon)


@pytest.mark.long(25, "pool/mortise/vcpu", "pool/mortise/run", "pool/hw/arch")
@pytest.mark.timeout(600)
def test_the_loop_has_its_core_to_itself_on_a_cortex_a55(tenon, newer):
    assert_loop_has_its_core(tenon, *A55)


def assert_loop_has_its_core(tenon, *cpu):
    done = tenon("run", "motor-linux", "--headless", "--deterministic", "--seconds", 1, *cpu)
    assert_well(done)
    motor = done.vm("motor")
    assert (motor["exits_in_window"], motor["el2_instructions_in_window"]) == (0, 0)
    assert done.vm("linux")["el2_instructions_in_window"] > 0
    assert done.task["latency_ns"]["min"] == done.task["latency_ns"]["max"] == 128


@pytest.mark.timeout(600)
def test_paths_take_the_recorded_instructions(tenon, newer):
    assert_paths_as_recorded(tenon)


@pytest.mark.long(40, "pool/mortise/vcpu", "pool/mortise/run", "pool/hw/arch")
@pytest.mark.timeout(600)
def test_paths_take_the_recorded_instructions_on_a_cortex_a55(tenon, newer):
    assert_paths_as_recorded(tenon, *A55)


def assert_paths_as_recorded(tenon, *cpu):
    done, differences = measured(tenon, "irq", "--environment", "bare", *cpu)
    assert len(done.result) >= 5
    assert not differences, "with the other QEMU it takes as many"


def measured(tenon, *suite):
    """A suite's run, and where its rows differ from the recorded ones."""
    rows = RecordedRows.load()
    if rows.made["rust"] != tools()["rust"]:
        pytest.skip(f"the recorded rows are of Rust {rows.made['rust']}")
    done = tenon("bench", *suite)
    assert_well(done)
    return done, rows.differences(done.result)


@pytest.mark.long(20, "pool/mortise/vcpu", "pool/mortise/run", "pool/mortise/machine")
@pytest.mark.timeout(600)
def test_a_core_is_regained_in_the_recorded_instructions(tenon, newer):
    done, differences = measured(tenon, "regain")
    assert len(done.result) == 13
    assert not differences, "with the other QEMU they take as many"


@pytest.mark.timeout(600)
def test_the_counts_of_the_plugin_are_exact(newer):
    slice_of_tests = ROOT / "tests" / "target" / "tools" / "test_counting.py"
    line = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", slice_of_tests]
    done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
