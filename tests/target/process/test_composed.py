"""An objective that asks for Linux programs becomes a system that runs one."""

import pytest
from conftest import assert_well


@pytest.mark.timeout(300)
def test_a_composed_system_runs_a_program(tenon, tmp_path):
    folder = tmp_path / "binary"
    said = "runs my existing Linux binary without Linux"
    assert_well(tenon("compose", said, "-o", folder, json_file=False))
    outcome = tenon("run", folder, "--headless", "--deterministic", "--seconds", "0.05")
    assert_well(outcome)
    line, end = outcome.said("programs")
    assert line.startswith("Linux ")
    assert "aarch64" in line
    assert end == "busybox has ended"
    assert outcome.vm("programs")["exit_status"] == 0
    assert outcome.task["released"] == outcome.task["completed"] > 0
