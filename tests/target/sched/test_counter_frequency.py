"""Shared cores on a counter of 24 MHz, that of the RK3568: bounds are nanoseconds, not ticks."""

import re
import shutil
from itertools import pairwise

import pytest
from conftest import ROOT, assert_overloaded, assert_well
from test_shares import MS, US, got, recorded

from tenonos import catalogue

pytestmark = pytest.mark.long(
    35,
    "pool/hw/clock",
    "pool/core/timer",
    "pool/core/sched",
    "pool/mortise/dispatch",
)

HERTZ = 24_000_000
TICK = 42
"""Nanoseconds of a tick, rounded up."""

ANOTHER_BOARD = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv.pop(1))
from tenonos.system import board
board.ROOT = Path(sys.argv.pop(1))
from tenonos.cli import main
main()
"""


@pytest.fixture(scope="module")
def run(tenon, tmp_path_factory):
    """A way to run a system on the emulated board with another counter."""
    folder = tmp_path_factory.mktemp("boards")
    shutil.copytree(ROOT / "boards", folder / "boards")
    file = folder / "boards/qemu-virt/board.toml"
    text, frequencies = re.subn(
        r"\nfrequency = 62_500_000", f"\nfrequency = {HERTZ}", file.read_text()
    )
    text, cpus = re.subn(r'\ncpu = "cortex-a53"', f'\ncpu = "cortex-a53,cntfrq={HERTZ}"', text)
    assert (frequencies, cpus) == (1, 1)
    file.write_text(text)
    starter = folder / "starter.py"
    starter.write_text(ANOTHER_BOARD)

    def call(name, *options, overloaded=False):
        system = folder / f"{name}-24mhz"
        shutil.copytree(catalogue.systems()[name], system)
        file = system / "system.toml"
        text, names = re.subn(
            r'\nname = "(\S+)"', r'\nname = "\1-24mhz"', file.read_text(), count=1
        )
        assert names == 1
        file.write_text(text)
        line = ("run", system, "--headless", "--deterministic", *options)
        outcome = tenon(*line, entry=(starter, ROOT / "orchestrator", folder))
        (assert_overloaded if overloaded else assert_well)(outcome)
        return outcome

    return call


@pytest.mark.timeout(900)
def test_fixed_priorities(run):
    """The bounds of `test_one_core.py`, and a tick before the release and one before the body."""
    shared = run("one-core", "--seconds", 2)
    assert any("tenon-ready cpus=1" in line for line in shared.said("linux"))
    assert [(vm["cpus"], vm["state"]) for vm in shared.result["vms"]] == [([0], "running")] * 2
    task = shared.task
    assert task["released"] == task["completed"] >= 1_950
    assert (task["duplicates"], task["late"]) == (0, 0)
    assert task["released"] == (task["last_ns"] - task["first_ns"]) // MS + 1
    assert task["latency_ns"]["p50"] <= 550 + 2 * TICK
    assert task["latency_ns"]["max"] <= 700 + 2 * TICK


@pytest.mark.timeout(900)
def test_reservations(run, tmp_path):
    """Budgets are those of `system.toml`, and a time slice of the background is a millisecond."""
    file = tmp_path / "trace.json"
    run("overload", "--seconds", 1, "--trace", file, overloaded=True)
    dispatches, _ = recorded(file)
    start, end = 200 * MS, 900 * MS
    had = got(dispatches, start, end)
    whole = end - start
    assert had["sharp"] == pytest.approx(whole * 21 / 50, rel=0.001)
    assert had["steady"] >= whole * 3 / 10
    assert had.get(None, 0) == 0
    greedy = [
        b.time - a.time for a, b in pairwise(dispatches) if a.vm == "greedy" and a.time > start
    ]
    assert 900 * US <= max(greedy) <= 1_000 * US + 20 * US
