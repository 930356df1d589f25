"""Mortise on a GICv2: VMs have the CPU interfaces of their cores, and no more of it."""

from conftest import assert_well


def test_linux_on_three_cores_and_the_motor_have_their_interrupts(tenon):
    outcome = tenon("run", "motor-gicv2", "--headless", "--deterministic", "--seconds", 1)
    assert_well(outcome)
    assert any("tenon-ready cpus=3" in line for line in outcome.said("linux"))
    motor, linux = outcome.vm("motor"), outcome.vm("linux")
    assert (motor["state"], linux["state"]) == ("running", "running")
    assert (motor["exits_in_window"], motor["el2_instructions_in_window"]) == (0, 0)
    assert outcome.task["released"] == outcome.task["completed"] == 1000
