"""The serial line with one to four writers, each an image that prints a hundred lines."""

import subprocess

import pytest
from conftest import SUPPORT, assert_well
from descriptions import described, table

pytestmark = pytest.mark.alone

LINES = 100

GROUPS = (("a",), ("a", "bb"), ("left", "right"), ("w0", "w1", "w2", "w3"))
"""Names of the writers: their lengths decide when each one has the line."""


@pytest.fixture(scope="module")
def writer(tmp_path_factory):
    target = tmp_path_factory.mktemp("writer") / "writer.elf"
    command = [
        *("aarch64-linux-gnu-gcc", "-O1", "-Wall", "-Wextra", "-Werror", "-ffreestanding"),
        *("-nostdlib", "-mgeneral-regs-only", "-mstrict-align", "-fno-pie", "-no-pie"),
        *("-Wl,--build-id=none", "-Wl,-n,-e,entry", "-Wl,-Ttext=0x40080000"),
        *("-o", target, SUPPORT / "guests" / "writer.c"),
    ]
    subprocess.run(command, check=True)
    return target


def printed(tenon, folder, writer, names, *options):
    """The outcome of a run of these writers, which all print their lines."""
    vms = (
        table("vm", name=name, kind="image", image="writer.elf", cpus=[cpu], memory="2M")
        for cpu, name in enumerate(names)
    )
    (folder / "system.toml").write_text(described("writers", *vms))
    (folder / "writer.elf").write_bytes(writer.read_bytes())
    outcome = tenon("run", folder, "--headless", *options, limit=120)
    assert_well(outcome)
    for name in names:
        lines = outcome.said(name)
        expected = [f"{at:02}{''.join(chr(97 + i % 26) for i in range(57))}" for at in range(LINES)]
        assert lines == expected, name
    return outcome


@pytest.mark.timeout(300)
@pytest.mark.parametrize("names", GROUPS, ids="-".join)
@pytest.mark.parametrize("timing", [(), ("--deterministic",)], ids=["host", "deterministic"])
def test_all_lines_of_all_writers_appear(tenon, tmp_path, writer, names, timing):
    printed(tenon, tmp_path, writer, names, *timing)
