"""The shell commands of the README, verbatim, in an empty folder."""

import re

import pages
import pytest
from conftest import ROOT

SECTION = "## Your own system in ten minutes"


@pytest.mark.timeout(600)
def test_ten_minutes(tmp_path):
    said = []
    for block in pages.blocks(ROOT / "README.md", SECTION):
        done = pages.shell(block.text, tmp_path)
        assert done.returncode == 0, f"{block.text}\n{done.stdout}\n{done.stderr[-3000:]}"
        said.append(done)
    alone, tests, beside, composed, program = said
    assert "blinker| 300 releases" in alone.stderr
    assert "1 passed" in tests.stdout
    assert "tenon-ready cpus=3" in beside.stderr
    assert re.search(r"^ *3,000 +3,000 +0 +0 +0 *$", beside.stdout, re.MULTILINE)
    assert re.search(r"^ blinker .* running .* 0 +0 *$", beside.stdout, re.MULTILINE)
    assert "2 kHz" in composed.stdout
    assert re.search(r"^ *4,000 +4,000 +0 +0 +0 *$", composed.stdout, re.MULTILINE)
    assert "greeting| hello\n" in program.stderr
    assert "greeting| hello has ended\n" in program.stderr
    assert "greeting: exit status 0\n" in program.stdout
