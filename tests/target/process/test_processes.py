"""Processes: unmodified programs of Linux, and a hostile one, beside a loop at 1 kHz."""

import re
import subprocess
from pathlib import Path

import pytest
from conftest import ROOT, assert_well, until

SYSTEM = """\
name = "{name}"
board = "qemu-virt"
pool = "0.1"
mode = "static"
console = "programs"

[[vm]]
name = "programs"
kind = "tenon"
app = "programs"
cpus = [1]
memory = "16M"
task = [{{ name = "control", period = "1ms" }}]
"""

LOOP = 'task = [{ name = "control", period = "1ms" }]\n'
"""The loop beside processes, as a key of their VM."""

LATEST = 600
"""Nanoseconds from a release to the body, each of which is one instruction: 200 of that path, and
at most 400 with interrupts masked, of the kernel or of Mortise."""


def unharmed(outcome, latest=LATEST):
    """Asserts that the loop kept each release, whatever processes did."""
    assert_well(outcome)
    task = outcome.task
    assert task["released"] == task["completed"] > 0
    assert task["late"] == task["duplicates"] == 0
    assert task["latency_ns"]["max"] <= latest


def system(folder: Path, name: str) -> Path:
    """A system of processes with the files below `files`."""
    (folder / "files").mkdir(parents=True)
    (folder / "system.toml").write_text(SYSTEM.format(name=name) + 'files = "files"\n')
    return folder


def compiled(source: Path, program: Path) -> None:
    """Compiles a program that needs no library."""
    options = ["-static", "-nostdlib", "-ffreestanding", "-O1", "-fno-stack-protector"]
    options += ["-mno-outline-atomics", "-Wall", "-Wextra", "-Werror"]
    command = ["aarch64-linux-gnu-gcc", *options, "-o", program, source]
    subprocess.run(list(map(str, command)), check=True)


@pytest.mark.timeout(300)
def test_a_shell_of_debian_runs_programs(tenon, tmp_path):
    last = until(tmp_path, programs="busybox has ended")
    outcome = tenon("run", "programs", "--headless", "--deterministic", *last)
    unharmed(outcome)
    assert outcome.said("programs") == [
        "shell 1 on Linux aarch64",
        "total 1",
        "-rw-r--r--    1 0        0               21 Jan  1 00:00 words",
        "kernel",
        "mortise",
        "child ended with 1",
        "child ended with 2",
        "child ended with 3",
        "the shell is replaced",
        "busybox has ended",
    ]


@pytest.mark.timeout(600)
def test_a_hostile_process_harms_itself_alone(tenon, tmp_path):
    folder = system(tmp_path / "hostile-process", "hostile-process")
    compiled(ROOT / "tests/support/hostile_process.c", folder / "files/init")
    compiled(ROOT / "tests/support/hostile_signals.c", folder / "files/signals")
    last = until(tmp_path, programs="signals has ended")
    outcome = tenon("run", folder, "--headless", "--deterministic", *last)
    unharmed(outcome)
    reports = re.compile(r".* ended by signal \d+|.* makes system call \d+, which .*")
    said = [line for line in outcome.said("programs") if not reports.fullmatch(line)]
    # What is called depends on what earlier calls have written, and may unmap the program itself.
    random = re.compile(r"call at random: (exit 0|signal (7|11|14))")
    said = ["call at random: ended" if random.fullmatch(line) else line for line in said]
    assert said == [
        "read the kernel: signal 11",
        "write to the kernel: signal 11",
        "read a device: signal 11",
        "read the kernel's last word: signal 11",
        "jump to the kernel: signal 11",
        "use a null pointer: signal 11",
        "write to code: signal 11",
        "execute the stack: signal 11",
        "read beyond all addresses: signal 11",
        "write a system register: signal 4",
        "mask interrupts: signal 4",
        "call the hypervisor: signal 4",
        "map writable code: exit 0",
        "pass addresses of the kernel: exit 0",
        "stop at a breakpoint: signal 5",
        "collect at once: exit 0",
        "touch all memory: signal 7",
        "create processes: exit 0",
        "create threads: exit 0",
        "call at random: ended",
        "lost: 0",
        "send without end: exit 0",
        "nest without end: signal 11",
        "queue without end: exit 0",
        "return to random bytes: signal 11",
        "change frames: exit 0",
        "return to the kernel: signal 11",
        "escape from a group: exit 0",
        "end at execve: exit 0",
        "execve among signals: exit 0",
        "stop and continue: exit 0",
        "call at random: ended",
        "end the first process: exit 0",
        "lost: 0",
        "signals has ended",
    ]


@pytest.mark.timeout(300)
def test_threads_wait_for_each_other_and_end_together(tenon, tmp_path):
    folder = system(tmp_path / "threads", "threads")
    compiled(ROOT / "tests/support/threads.c", folder / "files/init")
    last = until(tmp_path, programs="init has ended")
    outcome = tenon("run", folder, "--headless", "--deterministic", *last)
    unharmed(outcome)
    assert outcome.said("programs") == [
        "counted: 8000",
        "numbers: 8",
        "another value: -11",
        "a timeout: -110",
        "a deadline: -110",
        "a word of the kernel: -14",
        "no word: -22",
        "no bits: -22",
        "woken by bits: 1",
        "moved on another value: -11",
        "woken and moved: 3",
        "left: 0",
        "woken at the other word: 2",
        "went on: 4",
        "not woken by an operation: 0",
        "woken by an operation: 2",
        "the word: 5",
        "the owner died: 3",
        "without a list: 2",
        "a short structure: -22",
        "a set number: -22",
        "a process: 6",
        "half a thread: -22",
        "the first one's exit: 4",
        "exit of all, exit: 3",
        "exit of all without the first, exit: 3",
        "init (31) ended by signal 11",
        "a fault, signal: 11",
        "a program, exit: 5",
        "init has ended",
    ]


@pytest.mark.timeout(300)
def test_deadlines_at_a_release_do_not_delay_it(tenon, tmp_path):
    folder = system(tmp_path / "sleepers", "sleepers")
    compiled(ROOT / "tests/support/sleepers.c", folder / "files/init")
    last = until(tmp_path, programs="init has ended")
    outcome = tenon("run", folder, "--headless", "--deterministic", *last)
    assert outcome.said("programs") == ["ended: 10", "init has ended"]
    unharmed(outcome)
    assert outcome.task["released"] > 200


@pytest.mark.timeout(300)
def test_a_program_that_is_none_is_refused(tenon, tmp_path):
    folder = system(tmp_path / "no-program", "no-program")
    program = folder / "files/init"
    program.write_bytes(b"\x7fELF and no more")
    program.chmod(0o755)
    last = until(tmp_path, programs="no processes")
    outcome = tenon("run", folder, "--headless", "--deterministic", *last)
    assert_well(outcome)
    (line,) = outcome.said("programs")
    assert line == "error: no processes: the first program cannot be started: ENOEXEC"


@pytest.mark.timeout(120)
def test_files_without_processes_are_refused(tenon, tmp_path):
    folder = system(tmp_path / "none", "none")
    text = (folder / "system.toml").read_text()
    (folder / "system.toml").write_text(text.replace('app = "programs"', 'app = "hello"'))
    outcome = tenon("build", folder, json_file=False)
    assert outcome.status != 0
    assert 'VM "programs" has files and no processes' in outcome.stderr


@pytest.mark.timeout(120)
def test_a_folder_that_is_not_there_is_refused(tenon, tmp_path):
    folder = system(tmp_path / "no-folder", "no-folder")
    (folder / "files").rmdir()
    outcome = tenon("build", folder, json_file=False)
    assert outcome.status != 0
    assert 'no folder "files"; what is in it is put into the file tree' in outcome.stderr
