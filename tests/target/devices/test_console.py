"""The serial line with one to four writers, each an image that prints some lines."""

import resource
import subprocess
import time

import pytest
from conftest import SUPPORT, assert_well
from descriptions import described, table

pytestmark = pytest.mark.alone

LINES = 100

GROUPS = (("a",), ("a", "bb"), ("left", "right"), ("w0", "w1", "w2", "w3"))
"""Names of the writers: their lengths decide when each one has the line."""


@pytest.fixture(scope="module")
def writer(tmp_path_factory):
    """Builds the writer of so many lines."""
    folder = tmp_path_factory.mktemp("writer")

    def built(lines):
        target = folder / f"writer{lines}.elf"
        command = [
            *("aarch64-linux-gnu-gcc", "-O1", "-Wall", "-Wextra", "-Werror", "-ffreestanding"),
            *("-nostdlib", "-mgeneral-regs-only", "-mstrict-align", "-fno-pie", "-no-pie"),
            *("-Wl,--build-id=none", "-Wl,-n,-e,entry", "-Wl,-Ttext=0x40080000"),
            *(f"-DLINES={lines}", "-o", target, SUPPORT / "guests" / "writer.c"),
        ]
        subprocess.run(command, check=True)
        return target

    return built


def printed(tenon, folder, writer, names, *options, lines=LINES):
    """The outcome of a run of these writers, which all print their lines."""
    vms = (
        table("vm", name=name, kind="image", image="writer.elf", cpus=[cpu], memory="2M")
        for cpu, name in enumerate(names)
    )
    folder.mkdir(exist_ok=True)
    (folder / "system.toml").write_text(described("writers", *vms))
    (folder / "writer.elf").write_bytes(writer(lines).read_bytes())
    outcome = tenon("run", folder, "--headless", *options, limit=120)
    assert_well(outcome)
    text = "".join(chr(97 + i % 26) for i in range(57))
    for name in names:
        assert outcome.said(name) == [f"{at % 100:02}{text}" for at in range(lines)], name
    return outcome


@pytest.mark.timeout(300)
@pytest.mark.parametrize("names", GROUPS, ids="-".join)
@pytest.mark.parametrize("timing", [(), ("--deterministic",)], ids=["host", "deterministic"])
def test_all_lines_of_all_writers_appear(tenon, tmp_path, writer, names, timing):
    printed(tenon, tmp_path, writer, names, *timing)


@pytest.mark.timeout(300)
def test_writers_take_no_time_from_each_other(tenon, tmp_path, writer):
    """Four writers print what one prints within twice its time, of the host and of its processors:
    those that wait sleep."""

    def times(names, lines):
        folder = tmp_path / f"{len(names)}"
        printed(tenon, folder, writer, names, lines=lines)  # builds it
        before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        printed(tenon, folder, writer, names, lines=lines)
        after, ended = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        executed = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return ended - began, executed

    (alone, alone_executed) = times(GROUPS[0], 4_000)
    (four, four_executed) = times(GROUPS[-1], 1_000)
    assert four <= 2 * alone, (four, alone)
    assert four_executed <= 2 * alone_executed, (four_executed, alone_executed)
