"""The shell commands of the README, verbatim, in an empty folder."""

import os
import re
import subprocess

import pytest
from conftest import ROOT

SECTION = "## Your own system in ten minutes"


def blocks():
    """The shell blocks of a section in order."""
    text = (ROOT / "README.md").read_text().split(SECTION)[1].split("\n## ")[0]
    return re.findall(r"^```sh\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


@pytest.mark.timeout(600)
def test_ten_minutes(tmp_path):
    environment = os.environ | {
        "PATH": f"{ROOT}:{os.environ['PATH']}",
        "CARGO_TARGET_DIR": str(ROOT / ".tenon" / "target"),
    }
    said = []
    for block in blocks():
        done = subprocess.run(
            ["sh", "-e"],
            input=block,
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, f"{block}\n{done.stdout}\n{done.stderr[-3000:]}"
        said.append(done)
    alone, tests, beside, composed = said
    assert "blinker| 300 releases" in alone.stderr
    assert "1 passed" in tests.stdout
    assert "tenon-ready cpus=3" in beside.stderr
    assert re.search(r"^ *3,000 +3,000 +0 +0 +0 *$", beside.stdout, re.MULTILINE)
    assert re.search(r"^ blinker .* running .* 0 +0 *$", beside.stdout, re.MULTILINE)
    assert "2 kHz" in composed.stdout
    assert re.search(r"^ *4,000 +4,000 +0 +0 +0 *$", composed.stdout, re.MULTILINE)
