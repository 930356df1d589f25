"""The first process of a VM: its program by keys, its end, its system calls as lines."""

import subprocess
from pathlib import Path

import pytest
from conftest import until
from test_processes import SYSTEM, unharmed

BUSYBOX = """\
packages = ["busybox-static"]
program = "/bin/busybox"
"""

SHELL = """\
arguments = ["sh", "-c", 'echo "$PLACE: $1"; exit 3', "sh", "two \\" words"]
environment = ["PLACE=a \\\\ b"]
"""

UNKNOWN_CALLS = """\
void _start(void)
{
	register long number __asm__("x8") = 105;
	__asm__ volatile("svc 0" : : "r"(number) : "x0", "memory");
	number = 94;
	register long status __asm__("x0") = 0;
	__asm__ volatile("svc 0" : : "r"(number), "r"(status) : "memory");
}
"""


def system(folder: Path, name: str, keys: str, config: str = "") -> Path:
    """A system of processes; `keys` are further ones of its VM."""
    folder.mkdir(parents=True)
    vm, separator, task = SYSTEM.format(name=name).partition("task = ")
    (folder / "system.toml").write_text(vm + keys + separator + task)
    (folder / "programs.config").write_text(config)
    return folder


@pytest.mark.timeout(300)
def test_a_program_has_its_arguments_and_ends_the_run(tenon, tmp_path):
    ends = "CONFIG_TENON_PROCESS_ENDS_VM=y\n"
    folder = system(tmp_path / "first-process", "first-process", BUSYBOX + SHELL, ends)
    outcome = tenon("run", folder, "--headless", "--deterministic")
    assert outcome.said("programs") == ['a \\ b: two " words', "busybox has ended with 3"]
    vm = outcome.vm("programs")
    assert (vm["state"], vm["exit_reason"], vm["exit_status"]) == ("off", "system-off", 3)
    assert outcome.status == 1
    assert outcome.stderr.splitlines()[-1].endswith("programs ended with exit status 3")


@pytest.mark.timeout(300)
def test_a_call_that_is_not_served_is_in_the_summary(tenon, tmp_path):
    folder = system(tmp_path / "unserved", "unserved", 'files = "files"\n')
    (folder / "files").mkdir()
    source = tmp_path / "init.c"
    source.write_text(UNKNOWN_CALLS)
    options = ["-static", "-nostdlib", "-ffreestanding", "-O1", "-o", folder / "files/init"]
    subprocess.run(["aarch64-linux-gnu-gcc", *options, source], check=True)
    last = until(tmp_path, programs="init has ended")
    outcome = tenon("run", folder, "--headless", "--deterministic", *last)
    unharmed(outcome)
    call = {"program": "init", "number": 105, "call": "init_module"}
    assert outcome.vm("programs")["unserved"] == [call]
    assert "init asked for init_module (105), which no library serves" in outcome.stdout
    assert outcome.vm("programs")["exit_status"] == 0


@pytest.mark.timeout(300)
def test_system_calls_are_lines_in_the_form_of_strace(tenon, tmp_path):
    keys = BUSYBOX + 'arguments = ["cat", "/bin/none"]\n'
    folder = system(tmp_path / "traced", "traced", keys)
    last = until(tmp_path, programs="busybox has ended")
    outcome = tenon("run", folder, "--headless", "--deterministic", "--strace", "programs", *last)
    calls = [line for line in outcome.said("programs") if line.startswith("[pid 1] ")]
    assert '[pid 1] openat(AT_FDCWD, "/bin/none", O_RDONLY) = -1 ENOENT' in calls
    assert "[pid 1] exit_group(1) = ?" in calls
    assert any(line.startswith("[pid 1] write(2, \"cat: can't open ") for line in calls)
    assert outcome.vm("programs")["exit_status"] == 1
    recorded = outcome.vm("programs")["calls"]
    assert {"openat", "exit_group", "write"} < set(recorded)
    assert "calls = [" in outcome.stdout


@pytest.mark.timeout(120)
def test_system_calls_of_a_vm_without_processes_are_refused(tenon):
    outcome = tenon("run", "hello", "--headless", "--strace", "hello", json_file=False)
    assert outcome.status == 2
    assert 'VM "hello" has no processes' in outcome.stderr
