"""QEMU's i.MX 8M Plus: a GICv3, an i.MX UART."""

import newer_qemu
import pytest
from conftest import ROOT, assert_well

from tenonos.run import qemu
from tenonos.setup.packages import numbers
from tenonos.system import board

SYSTEM = ROOT / "tests/systems/motor-imx8mp/system.toml"
TYPED = """\
timeout 500
expect tenon-ready cpus=3
expect #
send sleep 1; echo $((6 * 7)) typed
expect 42 typed
"""


@pytest.fixture(autouse=True)
def _newer(monkeypatch):
    """A QEMU that has the board."""
    newer_qemu.put_on_path(monkeypatch)


@pytest.mark.timeout(600)
def test_the_loop_runs_on_a_core_of_its_own(tenon, tmp_path):
    beginning, *vms = SYSTEM.read_text().split("\n[[vm]]\n")
    (motor,) = (vm for vm in vms if 'name = "motor"' in vm)
    beginning = beginning.replace('"motor-imx8mp"', '"imx8mp-loop"').replace('"linux"', '"motor"')
    (tmp_path / "system.toml").write_text(f"{beginning}\n[[vm]]\n{motor}")
    outcome = tenon("run", tmp_path, "--headless", "--deterministic", "--seconds", 1)
    assert_well(outcome)
    assert "control loop starts" in outcome.said("motor")
    motor = outcome.vm("motor")
    assert (motor["exits_in_window"], motor["el2_instructions_in_window"]) == (0, 0)
    assert outcome.task["released"] == outcome.task["completed"] > 800
    # A tick of the counter of 8 MHz is 125 ns.
    assert outcome.task["latency_ns"]["max"] == 125


@pytest.mark.timeout(600)
def test_linux_and_the_motor_run_side_by_side_and_linux_is_typed_to(tenon, tmp_path):
    needed = board.load("qemu-imx8mp").emulator.since_shared
    if numbers(qemu.version()) < numbers(needed):
        pytest.skip(f"QEMU {qemu.version()} delivers no virtual interrupts there, {needed} does")
    script = tmp_path / "typed"
    script.write_text(TYPED)
    outcome = tenon(
        *("run", "motor-imx8mp", "--headless", "--deterministic", "--input", f"linux={script}")
    )
    assert_well(outcome)
    motor, linux = outcome.vm("motor"), outcome.vm("linux")
    assert (motor["state"], linux["state"]) == ("running", "running")
    assert (motor["exits_in_window"], motor["el2_instructions_in_window"]) == (0, 0)
    assert outcome.task["released"] == outcome.task["completed"] > 800
