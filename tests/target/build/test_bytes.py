"""Mortise's memory functions in assembly, on a machine without Mortise."""

import subprocess

import pytest
from conftest import ROOT, bare

SOURCES = (ROOT / "tests/support/bytes.c", ROOT / "pool/core/memcpy/src/memcpy.s")
BUILD = (
    *("aarch64-linux-gnu-gcc", "-O1", "-ffreestanding", "-fno-builtin", "-mgeneral-regs-only"),
    *("-fno-pie", "-no-pie", "-static", "-nostdlib"),
    *("-Wl,-Ttext=0x40080000", "-Wl,--build-id=none"),
)


@pytest.mark.timeout(120)
def test_every_alignment_and_length_is_as_the_plainest_loop_has_it(tmp_path):
    image = tmp_path / "bytes"
    subprocess.run([*BUILD, *SOURCES, "-o", image], check=True)
    said = bare(image, tmp_path, "", cores=1, limit=60)
    assert said == ["all bytes well"]
