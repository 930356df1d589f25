"""What is less urgent than the running VM waits, Mortise's own work too."""

import pytest
from conftest import assert_well
from descriptions import described, load_vm, table

URGENT = load_vm("urgent", priority=40) + table("vm.task", name="spin-700us", period="900us")
"""Runs at most instants at which the log rings are due, every 10 ms, and never for the millisecond
for which that work waits at most."""


@pytest.mark.timeout(300)
def test_periodic_work_does_not_interrupt_a_more_urgent_vm(tenon, tmp_path):
    system = described("periodic-work", URGENT, load_vm("below", priority=0), mode="dynamic")
    (tmp_path / "system.toml").write_text(system)
    line = ("run", tmp_path, "--headless", "--deterministic", "--seconds", 1)
    run = tenon(*line)
    assert_well(run)
    assert run.task["released"] > 800
    # Its own timer expires while it waits.
    assert run.vm("urgent")["exits"]["irq"] == 0
