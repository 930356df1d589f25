"""Overloaded cores, compared with the reference simulator dispatch by dispatch.

Mortise's trace has the actual schedule. `tests/simulator` computes the expected one from the
budgets in `system.toml` and the demands in the names of the tasks.
"""

from __future__ import annotations

import json
import sys
import tomllib
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import pytest
from conftest import ROOT, assert_overloaded, assert_well
from descriptions import described, load_vm, table

sys.path.insert(0, str(ROOT / "tests"))

from simulator.shares import Dispatch, Vm, got, simulate

from tenonos import catalogue
from tenonos.system.units import duration

pytestmark = pytest.mark.long(120, "pool/mortise/dispatch", "pool/core/sched", "pool/core/timer")

US, MS = 1_000, 1_000_000

BEGIN = 100 * MS
"""Start of the demands of `tests/guests/load`."""

PREPARE = 3 * US
"""Execution time of a VM at the start, before it waits for its first release."""

RELEASE = 1_000
"""Overhead of a release: an interrupt, a wake-up, a sleep, a sample."""

BOUND = 20 * US
"""Maximum deviation of a dispatch from the simulator's. The cost of a preemption, two switches and
Mortise's work, is in no demand: a job that was preempted ten times ends ten preemptions later.
Budgets, slices and releases do not drift, so that the bound holds for runs of any length."""

MOMENT = 2 * US
"""Dispatches that are shorter than this are ignored on both sides: a switch takes no time in the
simulator, which dispatches for less than a switch if a job ends just before a replenishment."""

SECONDS = 1


@dataclass
class Run:
    """A run of a system and its records."""

    system: dict
    result: dict
    dispatches: list[Dispatch]
    starts: dict[str, tuple[int, int]]
    """Time at which each VM was first ready, which starts its periods, and time at which it had
    booted; VMs are loaded and boot one after the other."""

    @property
    def end(self) -> int:
        return self.dispatches[-1].time

    def vms(self):
        """The VMs as input of the simulator."""
        for vm in self.system["vm"]:
            origin, asleep = self.starts[vm["name"]]
            before = [other for _, other in self.starts.values() if other < asleep]
            start = (origin, asleep - max([origin, *before]))
            budget, period = (duration(vm[key]) if key in vm else None for key in PAIR)
            rated = vm.get("schedule") == "rate-monotonic"
            yield Vm(
                vm["name"],
                # Above all others here, by rate-monotonic priority.
                64 * MS - period if rated else vm.get("priority", 32),
                [start, (BEGIN, PREPARE), *self.demand(vm)],
                budget,
                period,
                by_deadline=vm.get("schedule") == "edf",
                background=vm.get("exhausted", "background" if rated else "wait") == "background",
                origin=origin,
            )

    def demand(self, vm):
        tasks = [task for task in self.result["periodic"] if task["vm"] == vm["name"]]
        if not tasks:
            return [(BEGIN, None)]
        (task,) = tasks
        work = int(task["task"].removeprefix("spin-").removesuffix("us")) * US + RELEASE
        first, period = task["first_ns"], task["period_ns"]
        # The first release is at least 1 ms after the start of the demands.
        first -= (first - BEGIN - MS) // period * period
        return [(time, work) for time in range(first, self.end, period)]


PAIR = ("budget", "period")


def recorded(file) -> tuple[list[Dispatch], dict[str, tuple[int, int]]]:
    """The schedule of core 0, and the times at which each VM was first ready and first idle."""
    events = json.loads(file.read_text())["traceEvents"]
    (mortise,) = {
        e["pid"] for e in events if e["name"] == "process_name" and e["args"]["name"] == "mortise"
    }
    tracks = {
        e["tid"]: e["args"]["name"]
        for e in events
        if e["name"] == "thread_name" and e["pid"] == mortise
    }
    pieces = [e for e in events if e["ph"] == "X" and e["pid"] == mortise]
    pieces.sort(key=lambda e: e["ts"])
    dispatches, ready, asleep = [], {}, {}
    for piece in pieces:
        track, time = tracks[piece["tid"]], round(piece["ts"] * 1000)
        if track == "core 0":
            vm = None if piece["name"].startswith("idle") else piece["name"]
            dispatches.append(Dispatch(time, vm))
        elif piece["name"] == "ready":
            ready.setdefault(track, time)
        elif piece["name"] == "sleeps":
            asleep.setdefault(track, time)
    return dispatches, {name: (ready[name], asleep[name]) for name in asleep}


@pytest.fixture(scope="module")
def run(tenon, tmp_path_factory):
    """Runs a system, by name or text, with Mortise's trace."""

    def call(system, overloaded=False) -> Run:
        folder = tmp_path_factory.mktemp("shares")
        if "\n" in system:
            (folder / "system.toml").write_text(system)
            asked, text = folder, system
        else:
            asked, text = system, catalogue.systems()[system].joinpath("system.toml").read_text()
        file = folder / "trace.json"
        line = ("run", asked, "--headless", "--deterministic", "--seconds", SECONDS)
        outcome = tenon(*line, "--trace", file)
        (assert_overloaded if overloaded else assert_well)(outcome)
        return Run(tomllib.loads(text), outcome.result, *recorded(file))

    return call


def pieces(history: list[Dispatch]) -> list[tuple[Dispatch, int]]:
    """The dispatches from the start of the demands on, with their lengths."""
    ended = pairwise([*history, Dispatch(history[-1].time + MS, None)])
    return [(one, after.time - one.time) for one, after in ended if one.time >= BEGIN]


def lasting(history: list[Dispatch], other: list[Dispatch]) -> list[Dispatch]:
    """The dispatches that are not shorter than a switch, here or in the other schedule: a slice
    that ends just before a release varies by a fraction of a switch. A short dispatch is kept if it
    is the only counterpart of a long one in the other schedule."""
    ours, theirs = pieces(history), pieces(other)

    def like(one: Dispatch, those: list[tuple[Dispatch, int]]) -> list[int]:
        near = (each for each in those if abs(each[0].time - one.time) < BOUND)
        return [lasted for each, lasted in near if each.vm == one.vm and each is not one]

    def is_left_out(one: Dispatch, lasted: int) -> bool:
        there = like(one, theirs)
        if lasted < MOMENT:
            stands = any(each >= 2 * MOMENT for each in there)
            return not stands or any(each >= MOMENT for each in like(one, ours))
        return lasted < 2 * MOMENT and any(each < MOMENT for each in there)

    lasts: list[Dispatch] = []
    for one, lasted in ours:
        if not is_left_out(one, lasted) and (not lasts or lasts[-1].vm != one.vm):
            lasts.append(one)
    return lasts


def assert_as_simulated(run: Run, at_least: int) -> list[Dispatch]:
    """Each dispatch from the start of the demands on equals the simulator's, within the bound."""
    ideal = list(simulate(run.vms(), run.end))
    recorded, simulated = lasting(run.dispatches, ideal), lasting(ideal, run.dispatches)
    for index, (real, expected) in enumerate(zip(recorded, simulated, strict=False)):
        near = abs(real.time - expected.time) <= BOUND
        around = slice(max(0, index - 3), index + 4)
        told = f"dispatch {index}: {recorded[around]}, simulated {simulated[around]}"
        assert real.vm == expected.vm and near, told
    assert abs(len(recorded) - len(simulated)) <= 1
    assert len(recorded) >= at_least
    return recorded


def assert_counted(run: Run, name: str) -> dict:
    """The counters of a VM that waits when its budget is depleted agree with its dispatches."""
    (counted,) = (one for one in run.result["budgets"] if one["vm"] == name)
    period, budget, periods = counted["period_ns"], counted["budget_ns"], counted["periods"]
    begin, _ = run.starts[name]
    used = [
        got(run.dispatches, begin + k * period, begin + (k + 1) * period) for k in range(periods)
    ]
    times = [each.get(name, 0) for each in used]
    # Until it waits for the demands, it is charged for its start in Mortise too.
    boot = next(k for k in range(periods) if begin + k * period >= BEGIN)
    later = sum(times[boot:])
    total = counted["used_per_period_ns"]["mean"] * periods
    assert 0.99 * later <= total <= 1.01 * later + boot * budget
    most = counted["used_per_period_ns"]["max"]
    assert max(times[boot:]) - 2 * MOMENT <= most <= budget
    depleted = sum(time > budget - 2 * MOMENT for time in times[boot:])
    assert 0.98 * depleted <= counted["exhausted"] <= 1.02 * depleted + boot
    return counted


@pytest.mark.timeout(600)
def test_an_overload_by_fixed_priority(run):
    overload = run("overload", overloaded=True)
    assert_as_simulated(overload, at_least=400)
    # Whole periods from the time on at which the demands of all three exceed their time.
    start, end = 200 * MS, 1_000 * MS
    had = got(overload.dispatches, start, end)
    whole = end - start
    assert had["sharp"] == pytest.approx(whole * 21 / 50, rel=0.001)
    assert had["steady"] >= whole * 3 / 10
    # The remaining time is shared round-robin.
    assert had["greedy"] == pytest.approx(had["steady"] - whole * 3 / 10, rel=0.2)
    assert had.get(None, 0) == 0


@pytest.mark.timeout(600)
def test_an_overload_by_deadline(run):
    overload = run("overload-deadline", overloaded=True)
    assert_as_simulated(overload, at_least=250)
    start, end = 200 * MS, 1_000 * MS
    had = got(overload.dispatches, start, end)
    for name, part in {"short": 2 / 5, "medium": 3 / 10, "long": 3 / 10}.items():
        # Not a multiple of the period: one budget more or less.
        assert had[name] == pytest.approx((end - start) * part, abs=6_279 * US)


def vm(name: str, demand: tuple[int, str] | None = None, **terms: Any) -> str:
    """A VM with a demand in us per period, or an unlimited one."""
    task = ""
    if demand is not None:
        micros, period = demand
        task = table("vm.task", name=f"spin-{micros}us", period=period)
    return load_vm(name, **terms) + task


MIXED = described(
    "shares",
    # Releases are multiples of 1 ms, budgets are not, so that no budget ends at a release.
    # Within its budget, except in periods with two of its releases.
    vm("brief", (400, "7ms"), priority=50, budget="600us", period="8ms"),
    # Depleted in each period, and woken while its budget is depleted.
    vm("capped", (600, "3ms"), priority=40, budget="1130us", period="5ms"),
    # Two deadlines below.
    vm("soft", (2_500, "11ms"), priority=20, schedule="edf", budget="2070us", period="12ms"),
    vm("hard", (900, "6ms"), priority=20, schedule="edf", budget="1050us", period="9ms"),
    # Alone in the background: the turns of several that come and go depend on each other's
    # overheads, and nothing is guaranteed of them; the first test has two that are always ready.
    vm("rest", priority=0),
    mode="dynamic",
)


@pytest.mark.timeout(600)
def test_every_policy_side_by_side(run):
    """Budgets that are depleted while running, exhausted by waiting, and not used up."""
    mixed = run(MIXED, overloaded=True)
    assert_as_simulated(mixed, at_least=1_000)
    assert {each.vm for each in mixed.dispatches} >= {vm.name for vm in mixed.vms()}
    assert [one["vm"] for one in mixed.result["budgets"]] == ["brief", "capped", "soft", "hard"]
    for name in ("brief", "capped"):
        assert_counted(mixed, name)


def rated(name: str, demand: tuple[int, str], budget: str, period: str) -> str:
    """A VM with a budget and a rate-monotonic priority."""
    return vm(name, demand, schedule="rate-monotonic", budget=budget, period=period)


RATED = described(
    "shares",
    # Within their budgets: in some periods the first has two releases.
    rated("brief", (400, "3ms"), "900us", "5ms"),
    rated("steady", (1_900, "13ms"), "2070us", "12ms"),
    # Demands more than its budget, and runs in the background too.
    rated("eager", (9_000, "17ms"), "3130us", "19ms"),
    vm("rest", priority=0),
    mode="dynamic",
)


@pytest.mark.timeout(600)
def test_the_shorter_the_period_the_more_urgent(run):
    outcome = run(RATED, overloaded=True)
    assert_as_simulated(outcome, at_least=700)
    had = got(outcome.dispatches, 200 * MS, 1_000 * MS)
    assert had["brief"] == pytest.approx(267 * (400 * US + RELEASE), rel=0.02)
    assert had["eager"] > 800 * MS * 3_130 / 19_000
    assert had["rest"] > 100 * MS


CONTROLLER = vm("control", (300, "2ms"), priority=40, budget="500us", period="2ms")


@pytest.mark.timeout(600)
def test_a_vm_without_budget_starves_only_those_below(run):
    starving = run(
        described(
            "shares",
            CONTROLLER,
            vm("hog", priority=30),
            vm("below", priority=20),
            vm("rest", priority=0),
            mode="dynamic",
        )
    )
    recorded = assert_as_simulated(starving, at_least=900)
    # From the first millisecond on.
    assert {each.vm for each in recorded if each.time > BEGIN + MS} == {"control", "hog"}
    had = got(starving.dispatches, 200 * MS, 1_000 * MS)
    assert had["control"] == pytest.approx(400 * (300 * US + RELEASE), rel=0.01)


@pytest.mark.timeout(600)
def test_a_cap_keeps_a_hog_from_starving_the_others(run):
    kept = run(
        described(
            "shares",
            CONTROLLER,
            vm("hog", priority=30, budget="5ms", period="10ms"),
            vm("below", (100, "10ms"), priority=20),
            vm("rest", priority=0),
            mode="dynamic",
        )
    )
    assert_as_simulated(kept, at_least=900)
    had = got(kept.dispatches, 200 * MS, 1_000 * MS)
    assert had["hog"] == pytest.approx(400 * MS, rel=0.001)
    assert had["below"] == pytest.approx(80 * (100 * US + RELEASE), rel=0.05)
    assert had["rest"] > 200 * MS
    control, hog = assert_counted(kept, "control"), assert_counted(kept, "hog")
    # Each period of the hog since the demands began, and none of the controller.
    assert hog["exhausted"] >= hog["periods"] - BEGIN / hog["period_ns"] - 1
    assert control["exhausted"] <= 3 and control["periods"] >= 500
    assert len(kept.result["budgets"]) == 2
