"""Bandwidth regulation throttles the background only."""

import shutil

import pytest
from conftest import ROOT, assert_well, until
from descriptions import load_vm, table

pytestmark = pytest.mark.long(
    120,
    "pool/mortise/regulate",
    "pool/mortise/dispatch",
    "pool/core/sched",
)


@pytest.mark.timeout(600)
def test_regulation_spares_a_neighbour(tenon):
    outcome = tenon("bench", "vlib", "--environment", "mortise-dynamic", limit=550)
    assert_well(outcome)
    rows = {(row["name"], *row["params"].values()): row for row in outcome.result}
    # On a core shared by Tenon and Linux, a call also times out within 1,000 instructions.
    late = rows.pop(("time_out", "shared"))
    assert 0 < late["max"] <= late["goal"] == 1_000
    assert late["samples"] == 1_000
    # Regulation throttles only the background: each period of the foreground is complete.
    promised = [rows.pop(("foreground", throttle)) for throttle in (False, True)]
    assert all(row["samples"] == 200 for row in promised)
    assert all(19_000 < row["min"] <= row["max"] <= 20_000 for row in promised)
    lost = rows.pop(("foreground_lost",))
    assert lost["median"] == lost["goal"] == 0
    assert all(row["unit"] == "percent" for row in rows.values())
    left = rows.pop(("slowdown_left",))
    assert 0 < left["median"] <= left["goal"] == 50
    assert all(row["samples"] == 48 for row in rows.values())
    slower = {key[1:]: row["median"] for key, row in rows.items()}
    assert slower.keys() == {
        (throttle, *case) for throttle in (False, True) for case in ((), (2,), (10,), (30,), (60,))
    }
    assert left["median"] == round(100 * slower[True,] / slower[False,], 1)
    # Two cores share a limit, so each has less of it.
    assert 0 < slower[True, 2] < 0.75 * slower[False, 2]
    # The foreground is never throttled: the larger its budget, the smaller the effect.
    assert 0 < slower[True, 10] < slower[True, 30] < slower[True, 60] < slower[False, 60]
    assert 2 * slower[True, 10] <= slower[False, 10]


STEADY = load_vm("steady", priority=30, budget="1200us", period="5ms") + table(
    "vm.task", name="spin-1000us", period="5ms"
)

SYSTEM = (
    (ROOT / "bench/systems/bench-regulate" / "system.toml")
    .read_text()
    .partition("[[vm]]")[0]
    .replace("limit = 100000", "limit = 1000")
    .replace("bench-regulate", "held-back")
)


@pytest.fixture
def held_back(tmp_path):
    """A core with a limit that leaves nearly no background time."""
    folder = tmp_path / "held-back"
    folder.mkdir()
    (folder / "system.toml").write_text("\n".join((SYSTEM, STEADY, load_vm("greedy", priority=0))))
    return folder


def test_who_has_a_budget_does_not_wait(tenon, held_back):
    # The foreground alone exceeds the limit a thousandfold.
    outcome = tenon("run", held_back, "--headless", "--deterministic", "--seconds", 0.3)
    assert_well(outcome)
    (task,) = outcome.result["periodic"]
    assert task["completed"] == task["released"] >= 55
    assert task["late"] == task["duplicates"] == 0


def test_an_event_that_is_not_counted_ends_the_boot(tenon, held_back):
    file = held_back / "system.toml"
    file.write_text(file.read_text().replace('"instructions"', '"l2-refill"'))
    outcome = tenon("run", held_back, "--headless", "--deterministic", "--seconds", 0.3)
    assert [vm["state"] for vm in outcome.result["vms"]] == ["empty", "empty"]
    assert "its cores do not count the event that it regulates by" in outcome.stderr


SEEN = """
[[vm]]
name = "{name}"
kind = "tenon"
app = "seen"
cpus = [{cpu}]
memory = "4M"
interrupts = "{interrupts}"
"""


def test_who_shares_a_core_is_not_told_of_its_monitor(tenon, tmp_path):
    """Other fields are visible: a Cortex-A53 has debug version 6 and PMU version 3."""
    places = {"one": (0, "shared"), "other": (0, "shared"), "alone": (1, "direct")}
    vms = (
        SEEN.format(name=name, cpu=cpu, interrupts=interrupts)
        for name, (cpu, interrupts) in places.items()
    )
    (tmp_path / "system.toml").write_text(SYSTEM.partition("[regulation]")[0] + "".join(vms))
    shutil.copytree(ROOT / "tests/support/linux/seen", tmp_path / "seen")
    last = until(tmp_path, **dict.fromkeys(places, "atomics 0"))
    outcome = tenon("run", tmp_path, "--headless", "--deterministic", *last)
    assert_well(outcome)
    for name, monitor in {"one": (0, 0), "other": (0, 0), "alone": (1, 3)}.items():
        said = [line.partition("seen: ")[2] for line in outcome.said(name) if "seen: " in line]
        assert said == [
            "debug 6, monitor {} and {}, vectors 0".format(*monitor),
            "granule 0, atomics 0",
        ]
