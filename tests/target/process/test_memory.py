"""Mappings of files and of shared memory: as on Debian's kernel, and by a hostile process."""

import re
import subprocess

import pytest
from conftest import SUPPORT, assert_well, until
from process.test_applets import SYSTEM
from process.test_processes import compiled, system, unharmed

TENON = """\
kind = "tenon"
app = "programs"
memory = "16M"
program = "/bin/memory"
"""

LINUX = """\
kind = "linux"
memory = "256M"
"""


def printed(tenon, folder, keys):
    """What the program prints, without lines about processes that signals end."""
    (folder / "files/bin").mkdir(parents=True)
    (folder / "files/etc").mkdir()
    command = ["aarch64-linux-gnu-gcc", "-static", "-O1", "-Wall", "-Wextra", "-Werror"]
    command += ["-Wno-unused-result", "-o", folder / "files/bin/memory", SUPPORT / "memory.c"]
    subprocess.run(list(map(str, command)), check=True)
    start = folder / "files/etc/start"
    start.write_text("#!/bin/busybox sh\n/bin/memory\n")
    start.chmod(0o755)
    (folder / "system.toml").write_text(SYSTEM.format(name=folder.name) + keys)
    last = until(folder, programs="memory end")
    outcome = tenon("run", folder, "--headless", "--deterministic", *last)
    assert_well(outcome)
    lines = outcome.said("programs")
    first = next(at for at, line in enumerate(lines) if line.startswith("private: first"))
    reports = re.compile(r"memory \(\d+\) ended by signal \d+|memory has ended")
    lines = [line for line in lines[first:] if not reports.fullmatch(line)]
    return lines[: lines.index("memory end: 0")]


@pytest.mark.long(40, "pool/tenon/linux-memory", "pool/tenon/linux-shm", "tests/support/memory.c")
@pytest.mark.timeout(600)
def test_mappings_are_those_of_linux(tenon, tmp_path):
    ours = printed(tenon, tmp_path / "memory", TENON)
    theirs = printed(tenon, tmp_path / "memory-linux", LINUX)
    assert len(theirs) > 130
    assert ours == theirs


@pytest.mark.timeout(600)
def test_hostile_mappings_harm_their_process_alone(tenon, tmp_path):
    folder = system(tmp_path / "hostile-memory", "hostile-memory")
    text = (folder / "system.toml").read_text()
    # The less memory, the sooner it is used up.
    (folder / "system.toml").write_text(text.replace('memory = "16M"', 'memory = "8M"'))
    compiled(SUPPORT / "hostile_memory.c", folder / "files/init")
    last = until(tmp_path, programs="init has ended")
    outcome = tenon("run", folder, "--headless", "--deterministic", *last)
    unharmed(outcome)
    reports = re.compile(r".* ended by signal \d+|.* makes system call \d+, which .*")
    said = [line for line in outcome.said("programs") if not reports.fullmatch(line)]
    assert said == [
        "map nothing: exit 0",
        "alias code: exit 0, lost 0",
        "move anywhere: exit 0, lost 0",
        "truncate what is mapped: exit 0, lost 0",
        "use up by shared memory: signal 7, lost 0",
        "use up by moves: signal 7, lost 0",
        "use up by areas: exit 0, lost 0",
        "use up by forks: exit 0, lost 0",
        "use up by files: exit 0, lost 0",
        "wait for unmapped words: exit 0, lost 0",
        "map at random: exit 0, lost 0",
        "init has ended",
    ]
