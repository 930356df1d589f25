"""Mortise on a GICv2: VMs reach the CPU interfaces of their cores and no other part."""

from conftest import assert_well

REBOOT = """\
timeout 500
expect tenon-ready cpus=3
expect #
send reboot -f
expect tenon-ready cpus=3
"""


def test_linux_on_three_cores_and_the_motor_have_their_interrupts(tenon, tmp_path):
    """A reboot of Linux, during which its other cores are parked."""
    script = tmp_path / "reboot"
    script.write_text(REBOOT)
    outcome = tenon(
        *("run", "motor-gicv2", "--headless", "--deterministic", "--input", f"linux={script}")
    )
    assert_well(outcome)
    assert sum("tenon-ready cpus=3" in line for line in outcome.said("linux")) == 2
    motor, linux = outcome.vm("motor"), outcome.vm("linux")
    assert (motor["state"], linux["state"], linux["restarts"]) == ("running", "running", 1)
    assert (motor["exits_in_window"], motor["el2_instructions_in_window"]) == (0, 0)
    assert outcome.task["released"] == outcome.task["completed"] > 800
