"""The path of a newcomer: the shell lines of the README, word for word, in an empty folder."""

import json
import os
import re
import subprocess
import tomllib

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


def bars(picture):
    """What a picture of the benchmarks says: our figure behind each bar."""
    texts = re.findall(r'<text class="(label|value)"[^>]*>([^<]*)</text>', picture)
    names = [text for kind, text in texts if kind == "label"]
    values = [float(text.replace(",", "")) for kind, text in texts if kind == "value"]
    return dict(zip(names, values, strict=True))


def compared():
    """The suites that the picture and the table draw on: other kernels have figures there."""
    figures = tomllib.loads((ROOT / "bench" / "figures.toml").read_text())["figure"]
    return sorted({figure["suite"] for figure in figures if "peers" in figure})


def differences(rows):
    """The largest difference of a median to the bare machine's."""
    key = lambda row: (row["suite"], row["name"], json.dumps(row["params"]))  # noqa: E731
    bare = {key(row): row["median"] for row in rows if row["environment"] == "bare"}
    virtual = [row for row in rows if row["environment"] != "bare" and key(row) in bare]
    assert virtual
    return max(abs(row["median"] - bare[key(row)]) for row in virtual)


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


@pytest.mark.timeout(700)
def test_figures(tenon, tmp_path):
    rows, drawing = tmp_path / "rows.json", tmp_path / "bench.svg"
    files = ("--json", rows, "--svg", drawing)
    assert_well(tenon("bench", *compared(), *files, json_file=False, limit=650))
    every = json.loads(rows.read_text())
    # The first of a name: on the bare machine, without floating point, with the fewest others.
    first = {(row["suite"], row["name"]): row for row in reversed(every)}
    median = {key: row["median"] for key, row in first.items()}
    smallest = [row for row in every if row["name"] == "tenon_hello"]
    hello = {row["params"].get("part"): row["median"] for row in smallest}
    demo = tenon("demo", "--headless", "--deterministic", "--seconds", 2)
    sizes = json.loads(tenon("size", "--json", json_file=False).stdout)["images"]
    mortise, motor = (image["text"] + image["rodata"] for image in sizes)
    measured = {
        "release of the 1 kHz loop": demo.task["latency_ns"]["max"],
        "yield": median["sched", "yield"],
        "interrupt vector": median["irq", "entry"],
        "interrupt → the thread": median["irq", "wake"],
        "start of a timer": median["timer", "start"],
        "the most any of these differ": differences(every),
        "reset": median["boot", "tenon_reset_to_main"],
        "Mortise: its instructions in a whole boot": median["boot", "linux_boot_el2"],
        "Mortise: code and constants": mortise,
        "Tenon with the motor": motor,
        "the smallest Tenon image": sum(hello[part] for part in ("text", "rodata", "data")),
    }
    stale = {
        label: f"{value:,}, not {figure(label):,}"
        for label, value in measured.items()
        if abs(value - figure(label)) > SLACK * figure(label)
    }
    assert not stale, f"README.md: {stale}"
    shown, drawn = (bars(file.read_text()) for file in (ROOT / "docs" / "bench.svg", drawing))
    assert shown.keys() == drawn.keys()
    stale = {name: drawn[name] for name in drawn if abs(drawn[name] / shown[name] - 1) > SLACK}
    assert not stale, f"docs/bench.svg: {stale}"
