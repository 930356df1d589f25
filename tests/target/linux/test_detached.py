"""Unmodified programs on a lent core behave as attached ones, also on faults and signals."""

import re
import struct
import subprocess

import pytest
from conftest import ROOT, SUPPORT, assert_nothing_lost, assert_well, cases

pytestmark = [pytest.mark.alone, pytest.mark.long(45, "pool/mortise/detach", "linux")]

HERE = SUPPORT / "linux"
INCLUDE = ROOT / "linux/include"
COMPILER = (
    *("aarch64-linux-gnu-gcc", "-static", "-s", "-O1", "-Wall", "-Wextra", "-Werror"),
    *(f"-I{INCLUDE}", f"-I{INCLUDE / 'uapi'}"),
)
KILLS = 60
OLD_STATUS = 42


def old_program():
    """An AArch32 program that exits with `OLD_STATUS`, as an ELF file with one segment."""
    at, head, segment = 0x10000, struct.Struct("<16sHHIIIIIHHHHHH"), struct.Struct("<8I")
    # mov r7, #1; mov r0, #OLD_STATUS; svc #0
    code = struct.pack("<3I", 0xE3A0_7001, 0xE3A0_0000 | OLD_STATUS, 0xEF00_0000)
    start = head.size + segment.size
    identity = b"\x7fELF\x01\x01\x01".ljust(16, b"\0")
    eabi5 = 0x500_0000
    return (
        head.pack(
            *(identity, 2, 40, 1, at + start, head.size, 0, eabi5, head.size),
            *(segment.size, 1, 0, 0, 0),
        )
        + segment.pack(1, 0, at, at, start + len(code), start + len(code), 5, 0x1000)
        + code
    )


@pytest.fixture(scope="module")
def run(tenon, tmp_path_factory, times):
    folder = tmp_path_factory.mktemp("detached")
    text = (ROOT / "tests/systems/detach/system.toml").read_text()
    text = text.replace("cpus = [3]", "cpus = [2, 3]")
    more = 'files = "root"\npackages = ["bash-static", "rt-tests", "sqlite3", "strace"]\n'
    (folder / "system.toml").write_text(text.replace("[vm.detach]", f"{more}\n[vm.detach]"))
    for place in ("bin", "root"):
        (folder / "root" / place).mkdir(parents=True)
    for name in ("trial", "tracer", "registers"):
        sources = [HERE / f"{name}.c", ROOT / "linux/libtenon/detach.c"]
        subprocess.run([*COMPILER, "-o", folder / "root/bin" / name, *sources], check=True)
    for name in ("script.sh", "table.sql"):
        (folder / "root/root" / name).write_bytes((HERE / name).read_bytes())
    old = folder / "root/bin/old"
    old.write_bytes(old_program())
    old.chmod(0o755)
    script = (HERE / "detached.sh").read_text().replace("KILLS", str(times(KILLS)))
    # By the host's clock: with instruction counting, a spinning program occupies whole slices.
    options = cases(folder, script, "DETACHED over", patience=20 * times(20))
    done = tenon("run", folder, "--headless", *options, limit=500)
    assert_well(done)
    return done


@pytest.fixture(scope="module")
def said(run):
    return [line.removeprefix("DETACHED ") for line in run.said("linux") if "DETACHED " in line]


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("sha256sum", 1),
        ("bash", 45),
        ("sqlite", 8),
        ("signals", 1),
        ("interrupted", 2),
        ("faults", 10),
        ("memory", 1),
        ("family", 3),
        ("restricted", 2),
        ("threads", 1),
        ("waits", 4),
        ("takeover", 1),
        ("registers", 1),
    ],
)
def test_a_program_says_the_same_detached(said, name, lines):
    (found,) = [line for line in said if line.startswith(f"{name} ")]
    match = re.fullmatch(rf"{name} same 0 (\d+)", found)
    assert match, found
    assert int(match[1]) >= lines


@pytest.mark.timeout(600)
def test_what_a_core_has_and_nobody_exchanges_is_not_a_program_s(said):
    """Registers of debug trap and read as zero; the others do not exist for EL0 (SIGILL is 4)."""
    assert "has registers: debug 0 monitor signal 4 vectors signal 4 tags signal 4" in said


@pytest.mark.timeout(600)
def test_cyclictest_runs_to_its_end(said):
    assert "cyclictest 0 1" in said


@pytest.mark.timeout(600)
def test_a_detached_program_is_stopped_traced_and_attached(said):
    assert "stopped T" in said
    assert "attached R, 1 before" in said
    assert "spun 0 spun: right" in said
    assert "terminated 143" in said


@pytest.mark.timeout(600)
def test_what_a_thread_becomes_is_detached_as_it_is(said):
    """The folder is named by the process id, which is that of the first thread."""
    assert "heir running, 1 in all" in said
    assert "taken over R" in said, "the thread that became it was attached"


@pytest.mark.timeout(600)
def test_sysfs_shows_and_controls_it(said):
    assert "moved to 3" in said
    assert "touched calls 1 faults 1" in said
    assert [line.removeprefix("answers ") for line in said if line.startswith("answers ")] == [
        "Device or resource busy",
        "Operation not permitted",
        "Invalid argument",
        "Device or resource busy",
        "Invalid argument",
        "No such process",
        "Invalid argument",
        "No such process",
    ]


@pytest.mark.timeout(600)
def test_a_core_has_one_thread_and_linux_can_have_it_back(said):
    assert "other tenon-detach: CPU 1 is not in [vm.detach]" in said
    assert "second tenon-detach: each CPU is lent already" in said
    assert "reclaimed R" in said


@pytest.mark.timeout(600)
def test_a_program_that_would_stay_in_linux_is_refused(said):
    assert "refused 126 tenon-detach: old is a 32-bit program, which Linux keeps" in said
    assert f"old {OLD_STATUS}" in said, "it runs attached"


@pytest.mark.timeout(600)
def test_after_many_kills_linux_has_all_it_had(said, times):
    assert [line for line in said if line.startswith(f"killed {times(KILLS)}, ")]
    assert_nothing_lost(said)
    assert "unloaded 4" in said
    assert "again" in said


@pytest.mark.timeout(600)
def test_nothing_was_wrong(run, said):
    assert "over" in said
    assert not [line for line in run.said("linux") if "WRONG" in line]
