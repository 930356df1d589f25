"""Thread servers of Tenon: their guarantees, and the schedule of the reference simulator."""

from __future__ import annotations

import json
import re
import sys
from bisect import bisect_right
from itertools import pairwise

import pytest
from conftest import ROOT, assert_well, until

sys.path.insert(0, str(ROOT / "tests"))

from simulator.shares import Dispatch, Vm, got, simulate

US, MS = 1_000, 1_000_000

BEGIN, FIRST, END = 100 * MS, 1_370 * US, 480 * MS
"""When the demands of the guest `budgets` begin, the offset of the first releases, and the end."""

ATTACHED = 3 * US
"""Start of the first periods after `BEGIN`."""

STARTED = 13 * US
"""Time at which all threads have started."""

RELEASE = 450
"""Overhead of a release."""

SWITCH = 725
"""Overhead of a preemption: what a job takes in addition for each time that it continues. The trace
has 590 to 810 for it, by the number of pieces of a job."""

BOUND = 10 * US
"""Maximum deviation of a dispatch from the simulator's, from the first to the last; 6.5 us are
seen. Without `SWITCH` preemptions would add up in the background, to 30 us after 200 ms."""

NAMES = ("rest", "more")


@pytest.fixture(scope="module")
def budgets(tenon, tmp_path_factory):
    """A run of the system and the schedule of its core."""
    folder = tmp_path_factory.mktemp("servers")
    file = folder / "trace.json"
    line = ("run", "tests/systems/budgets", "--headless", "--deterministic", "--trace", file)
    outcome = tenon(*line, *until(folder, budgets="the end"))
    assert_well(outcome)
    return outcome.said("budgets"), recorded(file)


@pytest.fixture(scope="module")
def counted(tenon, tmp_path_factory):
    """The same with counters of the budgets: what they state, and the schedule."""
    folder = tmp_path_factory.mktemp("counted")
    text = (ROOT / "tests" / "systems" / "budgets" / "system.toml").read_text()
    (folder / "system.toml").write_text(text)
    (folder / "budgets.config").write_text("CONFIG_TENON_THREAD_SERVERS=y\n")
    file = folder / "trace.json"
    line = ("run", folder, "--headless", "--deterministic", "--trace", file)
    outcome = tenon(*line, *until(folder, budgets="the end"))
    assert_well(outcome)
    assert "budgets: 5 passed, 0 failed" in outcome.said("budgets")
    return {one["server"]: one for one in outcome.result["budgets"]}, recorded(file)


def recorded(file) -> list[Dispatch]:
    events = json.loads(file.read_text())["traceEvents"]
    (process,) = {
        e["pid"] for e in events if e["name"] == "process_name" and e["args"]["name"] == "budgets"
    }
    (core,) = {
        e["tid"]
        for e in events
        if e["pid"] == process and e["name"] == "thread_name" and e["args"]["name"] == "core 0"
    }
    pieces = [e for e in events if e["ph"] == "X" and (e["pid"], e["tid"]) == (process, core)]
    pieces.sort(key=lambda e: e["ts"])
    return merged(Dispatch(round(e["ts"] * 1000), e["name"]) for e in pieces)


def merged(history) -> list[Dispatch]:
    changes: list[Dispatch] = []
    for dispatch in history:
        if not changes or changes[-1].vm != dispatch.vm:
            changes.append(dispatch)
    return changes


def simulated(lines) -> list[Dispatch]:
    """The expected schedule for the printed parameters, with rate-monotonic priorities."""
    words = r"(\w+) has (\d+) of (\d+), wants (\d+) of (\d+)"
    loads = [match.groups() for line in lines if (match := re.match(words, line))]
    assert len(loads) == 3
    threads = []
    for name, *numbers in loads:
        budget, period, work, each = map(int, numbers)
        jobs = [(time, work + RELEASE) for time in range(BEGIN + FIRST, END, each)]
        terms = {"budget": budget, "period": period, "origin": BEGIN + ATTACHED}
        threads.append(Vm(name, END // period, jobs, **terms, background=True))
    threads += [Vm(name, 0, [(BEGIN + STARTED + i, None)]) for i, name in enumerate(NAMES)]
    return simulate(threads, END, fair=True, switch=SWITCH)


def agreed(one: list[Dispatch], other: list[Dispatch]) -> int:
    """Fraction of the long dispatches of one schedule that match the other schedule."""
    times = [dispatch.time for dispatch in other]
    count = 0
    for dispatch, following in pairwise(one):
        start, end = dispatch.time + BOUND, following.time - BOUND
        if start < BEGIN + 2 * BOUND or end > END or end <= start:
            continue
        first, last = bisect_right(times, start) - 1, bisect_right(times, end - 1) - 1
        told = f"{dispatch} until {following.time}, not {other[first : last + 1]}"
        assert first == last and other[first].vm == dispatch.vm, told
        count += 1
    return count


def test_what_servers_promise(budgets):
    lines, _ = budgets
    assert [line for line in lines if "FAILED" in line] == []
    assert "budgets: 5 passed, 0 failed" in lines


def test_an_overload_of_threads(budgets):
    """In both directions, so that no thread runs for long at a wrong time, over the whole run."""
    lines, dispatches = budgets
    ideal = merged(simulated(lines))
    assert agreed(dispatches, ideal) >= 580
    assert agreed(ideal, dispatches) >= 580


def test_what_an_overload_leaves_is_shared_fairly(budgets):
    lines, dispatches = budgets
    had, ideal = (got(history, BEGIN, END - MS) for history in (dispatches, simulated(lines)))
    # At most two slices of difference between threads with unlimited demands.
    assert abs(had["rest"] - had["more"]) <= 2 * MS
    for name in ("brief", "steady", "eager"):
        assert had[name] == pytest.approx(ideal[name], rel=0.01)


def test_the_counters_agree_with_the_dispatches(counted):
    servers, dispatches = counted
    for name in ("brief", "steady", "eager"):
        one = servers[name]
        budget, period, periods = one["budget_ns"], one["period_ns"], one["periods"]
        assert periods >= (END - BEGIN) // period - 1
        starts = range(BEGIN + ATTACHED, BEGIN + ATTACHED + periods * period, period)
        ran = [got(dispatches, start, start + period).get(name, 0) for start in starts]
        # What exceeds the budget ran in the background.
        used = [min(time, budget) for time in ran]
        mean, most = one["used_per_period_ns"]["mean"], one["used_per_period_ns"]["max"]
        assert mean == pytest.approx(sum(used) / periods, rel=0.01)
        assert most == pytest.approx(max(used), abs=BOUND) and most <= budget
        depleted = sum(time >= budget - BOUND for time in ran)
        assert abs(one["exhausted"] - depleted) <= 1
    # It demands more than its budget in each period but the first, which begins before its release.
    assert servers["eager"]["exhausted"] >= servers["eager"]["periods"] - 1
    assert servers["steady"]["exhausted"] == 0


def test_threads_without_a_budget_are_not_counted(counted):
    servers, _ = counted
    assert {"rest", "more"}.isdisjoint(servers)
