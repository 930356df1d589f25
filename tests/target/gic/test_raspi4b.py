"""QEMU's Raspberry Pi 4: cores started by the firmware's spin table, a GIC-400, a PL011."""

import newer_qemu
import pytest
from conftest import assert_well

TYPED = """\
timeout 500
expect tenon-ready cpus=3
expect #
send sleep 1; echo $((6 * 7)) typed
expect 42 typed
"""


@pytest.fixture
def newer(monkeypatch):
    """A QEMU that has the board."""
    newer_qemu.put_on_path(monkeypatch)


@pytest.mark.timeout(600)
def test_linux_and_the_motor_run_side_by_side_and_linux_is_typed_to(tenon, tmp_path, newer):
    script = tmp_path / "typed"
    script.write_text(TYPED)
    outcome = tenon(
        *("run", "motor-raspi4b", "--headless", "--deterministic", "--input", f"linux={script}")
    )
    assert_well(outcome)
    motor, linux = outcome.vm("motor"), outcome.vm("linux")
    assert (motor["state"], linux["state"]) == ("running", "running")
    assert (motor["exits_in_window"], motor["el2_instructions_in_window"]) == (0, 0)
    assert outcome.task["released"] == outcome.task["completed"] > 800


@pytest.mark.long(60, "orchestrator/tenonos/plan", "pool/mortise/gicv2")
@pytest.mark.timeout(600)
def test_the_twin_of_the_guide_runs(tenon, tmp_path, newer):
    line = ("compose", "a 1 kHz control loop beside Linux", "--board", "qemu-raspi4b")
    assert_well(tenon(*line, "-o", tmp_path / "twin", json_file=False))
    outcome = tenon(
        *("run", tmp_path / "twin", "--headless", "--deterministic", "--seconds", "0.1")
    )
    assert_well(outcome)
    assert outcome.vm("motor")["exits_in_window"] == 0
    assert outcome.task["released"] == outcome.task["completed"] == 100
