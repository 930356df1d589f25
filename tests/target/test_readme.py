"""The path of a newcomer: the shell lines of the README, word for word, in an empty folder."""

import json
import os
import re
import subprocess

import pytest
from conftest import ROOT, assert_well

SECTION = "## Your own system in ten minutes"


SLACK = 0.15
"""How far a figure may be from the README's: compilers differ."""


def figure(label):
    """The README's figure of that row."""
    text = (ROOT / "README.md").read_text()
    (value,) = re.findall(rf"^\| {re.escape(label)}.*\| ([\d,]+) \|", text, re.MULTILINE)
    return int(value.replace(",", ""))


def blocks():
    """The shell blocks of that section, in order."""
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


@pytest.mark.timeout(600)
def test_figures(tenon, tmp_path):
    rows = tmp_path / "rows.json"
    assert_well(tenon("bench", "--json", rows, json_file=False))
    median = {(row["suite"], row["name"]): row["median"] for row in json.loads(rows.read_text())}
    demo = tenon("demo", "--headless", "--deterministic", "--seconds", 2)
    sizes = json.loads(tenon("size", "--json", json_file=False).stdout)["images"]
    mortise, motor = (image["text"] + image["rodata"] for image in sizes)
    measured = {
        "release of the 1 kHz loop": demo.task["latency_ns"]["max"],
        "yield": median["sched", "yield"],
        "interrupt vector": median["irq", "entry"],
        "reset": median["boot", "tenon_reset_to_main"],
        "Mortise: code and constants": mortise,
        "Tenon with the motor": motor,
    }
    stale = {
        label: f"{value:,}, not {figure(label):,}"
        for label, value in measured.items()
        if abs(value - figure(label)) > SLACK * figure(label)
    }
    assert not stale, f"README.md: {stale}"
