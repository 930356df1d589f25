"""An objective that asks for Linux programs becomes a system that runs one."""

import subprocess

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


@pytest.mark.timeout(300)
def test_a_program_of_the_user_is_in_the_composed_system(tenon, tmp_path):
    source, program = tmp_path / "greet.c", tmp_path / "greet"
    source.write_text('#include <stdio.h>\nint main(void) { puts("hello"); return 4; }\n')
    subprocess.run(["aarch64-linux-gnu-gcc", "-static", "-o", program, source], check=True)
    folder = tmp_path / "system"
    said = "my Linux binary as a process, without a Linux kernel"
    composed = tenon("compose", said, "--program", program, "-o", folder, json_file=False)
    assert_well(composed)
    outcome = tenon("run", folder, "--headless", "--deterministic", "--seconds", "0.05")
    assert outcome.said("programs") == ["hello", "greet has ended with 4"]
    assert outcome.vm("programs")["exit_status"] == 4
    assert outcome.status == 1


@pytest.mark.timeout(120)
def test_a_program_needs_a_vm_with_processes(tenon, tmp_path):
    source, program = tmp_path / "greet.c", tmp_path / "greet"
    source.write_text("int main(void) { return 0; }\n")
    subprocess.run(["aarch64-linux-gnu-gcc", "-static", "-o", program, source], check=True)
    asked = ["compose", "a 1 kHz loop", "--program", program, "-o", tmp_path / "loop"]
    loop = tenon(*asked, json_file=False)
    assert loop.status == 2
    assert "nothing in it runs the program" in loop.stderr
