"""The simulator of shared cores: schedules known by hand, and the analysis held against it."""

import random
import sys
from pathlib import Path

import pytest
from descriptions import described, load_vm

from tenonos import system
from tenonos.errors import InputError

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

from simulator.shares import Dispatch, Vm, got, simulate

GREEDY = [(0, None)]


def schedule(*vms: Vm, until: int, slice_: int = 10) -> list[tuple[int, str | None]]:
    return [(each.time, each.vm) for each in simulate(vms, until, slice_)]


def test_priorities_preempt_and_peers_do_not():
    high = Vm("high", 2, [(3, 2), (10, 1)])
    low, peer = Vm("low", 1, [(0, 6)]), Vm("peer", 1, [(1, 2)])
    assert schedule(low, peer, high, until=20) == [
        (0, "low"),
        (3, "high"),
        (5, "low"),
        (8, "peer"),
        (10, "high"),
        (11, None),
    ]


def test_a_budget_is_a_cap_and_is_kept_for_later():
    capped = Vm("capped", 2, [(0, 3), (9, 9)], budget=2, period=5)
    rest = Vm("rest", 0, GREEDY)
    # At 9 the whole budget is there yet, and the next one at 10: three in a row.
    assert schedule(capped, rest, until=24) == [
        (0, "capped"),
        (2, "rest"),
        (5, "capped"),
        (6, "rest"),
        (9, "capped"),
        (12, "rest"),
        (15, "capped"),
        (17, "rest"),
        (20, "capped"),
        (22, "rest"),
    ]


def test_a_budget_used_up_leaves_the_background():
    vm = Vm("vm", 2, [(0, None)], budget=2, period=10, background=True)
    rest = Vm("rest", 0, GREEDY)
    assert schedule(vm, rest, until=21, slice_=3) == [
        (0, "vm"),
        (2, "rest"),
        (5, "vm"),
        (8, "rest"),
        (10, "vm"),
        (12, "rest"),
        (13, "vm"),
        (16, "rest"),
        (19, "vm"),
    ]


def test_the_earliest_deadline_runs_first():
    a = Vm("a", 1, [(0, None)], budget=2, period=4, by_deadline=True)
    b = Vm("b", 1, [(0, None)], budget=3, period=6, by_deadline=True)
    assert schedule(a, b, until=15) == [
        (0, "a"),
        (2, "b"),
        (5, "a"),
        (7, "b"),
        (10, "a"),
        (14, "b"),
    ]


def test_a_late_wakeup_does_not_consume_unused_budget():
    late = Vm("late", 1, [(7, 9)], budget=5, period=10, by_deadline=True)
    other = Vm("other", 1, [(7, None)], budget=7, period=14, by_deadline=True)
    # Deadlines 17 and 21: had its period begun at 0, late's would be at 10 and 20.
    assert schedule(late, other, until=21) == [(0, None), (7, "late"), (12, "other"), (19, "late")]


def test_what_each_had():
    history = [Dispatch(0, None), Dispatch(2, "a"), Dispatch(5, "b")]
    assert got(history, 1, 9) == {None: 1, "a": 3, "b": 4}


def accepted(vms: list[Vm], folder: Path, monkeypatch: pytest.MonkeyPatch) -> bool:
    monkeypatch.chdir(folder)
    tables = [
        load_vm(
            vm.name,
            priority=vm.priority,
            schedule="edf" if vm.by_deadline else "fixed",
            budget=f"{vm.budget}ms",
            period=f"{vm.period}ms",
        )
        for vm in vms
    ]
    Path("system.toml").write_text(described("random", *tables, mode="dynamic"))
    try:
        system.load(Path("system.toml"))
    except InputError:
        return False
    return True


def test_what_is_accepted_is_kept(tmp_path, monkeypatch):
    """A VM that is always runnable receives each budget in time, whatever the others do."""
    dice = random.Random(4)
    kept = refused = 0
    while kept < 150:
        vms = []
        by_deadline = [dice.random() < 0.5 for _ in range(4)]
        for number in range(dice.randint(2, 4)):
            period = dice.randint(4, 30)
            priority = dice.randint(1, 3)
            jobs, time = [], dice.randint(0, 20)
            for _ in range(40):
                jobs.append((time, dice.randint(1, 8)))
                time += dice.randint(1, 20)
            budget = dice.randint(1, max(1, period // 2))
            terms = {"budget": budget, "period": period, "by_deadline": by_deadline[priority]}
            vms.append(Vm(f"vm{number}", priority, jobs, origin=dice.randint(0, 9), **terms))
        if not accepted(vms, tmp_path, monkeypatch):
            refused += 1
            continue
        kept += 1
        watched = dice.choice(vms)
        start = watched.origin + (dice.randint(0, 15) if watched.by_deadline else 0)
        vms[vms.index(watched)] = Vm(**{**vars(watched), "jobs": [(start, None)]})
        history = simulate(vms, 400)
        for boundary in range(start + watched.period, 400, watched.period):
            periods = (boundary - start) // watched.period
            assert got(history, start, boundary)[watched.name] >= periods * watched.budget, vms
    assert refused > 30


def test_a_job_pays_for_each_time_that_it_continues():
    urgent = Vm("urgent", 2, [(2, 1), (5, 1)])
    # Six units of work, and one for each of two returns; jobs that begin pay nothing.
    long = Vm("long", 1, [(0, 6)])
    history = simulate([urgent, long], 20, switch=1)
    assert [(each.time, each.vm) for each in history] == [
        (0, "long"),
        (2, "urgent"),
        (3, "long"),
        (5, "urgent"),
        (6, "long"),
        (10, None),
    ]


def test_in_a_fair_background_whoever_had_least_is_next():
    # It comes for a moment and is next; in round robin it would be last.
    guest = Vm("guest", 0, [(4, 2), (12, 2)])
    one, other = Vm("one", 0, GREEDY), Vm("other", 0, GREEDY)
    history = simulate([one, other, guest], 20, 3, fair=True)
    assert [(each.time, each.vm) for each in history] == [
        (0, "one"),
        (3, "other"),
        (6, "guest"),
        (8, "one"),
        (11, "other"),
        (14, "guest"),
        (16, "one"),
        (19, "other"),
    ]
