"""Guests that know nothing of TenonOS, unmodified: U-Boot, and an ELF that was linked elsewhere."""

import subprocess
from pathlib import Path

import pytest
from conftest import ROOT, assert_well

GUESTS = Path(__file__).parent / "guests"

# Beside U-Boot: memory in the middle of nowhere, a second piece far from it, a tree at its start.
ELSEWHERE = """
[[vm]]
name = "elsewhere"
kind = "image"
image = "elsewhere.elf"
cmdline = "speak=softly"
cpus = [1]
memory = "2M"
memory_seen_at = "0x4800_0000"

[[vm.region]]
at = "0x1000_0000"
size = "2M"
"""

VERSION = """\
timeout 200
expect =>
send version
expect U-Boot
expect aarch64
expect =>
"""


@pytest.fixture
def folder(tmp_path):
    """U-Boot's system with one more guest, compiled here."""
    text = (ROOT / "systems" / "u-boot" / "system.toml").read_text()
    (tmp_path / "system.toml").write_text(text + ELSEWHERE)
    (tmp_path / "version").write_text(VERSION)
    command = [
        *("aarch64-linux-gnu-gcc", "-O1", "-Wall", "-Werror", "-ffreestanding", "-nostdlib"),
        *("-mgeneral-regs-only", "-mstrict-align", "-fno-pie", "-no-pie", "-Wl,--build-id=none"),
        *("-Wl,-n,-e,entry", "-Wl,-Ttext=0x48080000", "-Wl,--section-start=.far=0x10000000"),
        *("-o", tmp_path / "elsewhere.elf", GUESTS / "elsewhere.c"),
    ]
    subprocess.run(command, check=True)
    return tmp_path


@pytest.mark.timeout(600)
def test_uboot_answers_beside_an_elf_that_lies_where_it_was_linked(tenon, folder):
    outcome = tenon("run", folder, "--headless", "--input", f"loader={folder / 'version'}")
    assert_well(outcome)
    said = outcome.said("loader")
    assert any(line.startswith("U-Boot 20") for line in said), said
    assert any(line.startswith("aarch64-linux-gnu-gcc") for line in said), said
    assert "DRAM:  128 MiB" in said
    assert outcome.said("elsewhere") == [
        *(f"{what}: as linked" for what in ("level", "data", "zeros", "far", "tree")),
        "command line: as linked",
        "elsewhere: done",
    ]
    assert outcome.vm("loader")["state"] == "running"
    assert outcome.vm("elsewhere")["state"] == "off"
