"""Response times, compared with an event simulation and with known task sets."""

import sys
from fractions import Fraction
from itertools import pairwise
from math import lcm
from pathlib import Path

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tenonos.analysis.response import Task, latency, response, utilisation

sys.path.insert(0, str(Path(__file__).parents[3] / "tests"))

from simulator.shares import Vm, simulate

TOP = 1_000


@st.composite
def task_sets(draw):
    """Up to four schedulable tasks, with all parameters of the analysis."""
    made = []
    for index in range(draw(st.integers(1, 4))):
        period = draw(st.sampled_from([4, 5, 6, 8, 10, 12, 15, 20]))
        made.append(
            Task(
                name=str(index),
                work=draw(st.integers(1, max(1, period // 2))),
                period=period,
                deadline=10_000,
                priority=draw(st.integers(1, 4)),
                jitter=draw(st.integers(0, period)),
                blocking=draw(st.integers(0, 3)),
                interrupt=draw(st.integers(0, 1)),
            )
        )
    assume(utilisation(made) < 1)
    return made


def releases(task, first, delays, until):
    """Release instants from `first` on, one per period, with the jittered release times."""
    found, arrival, number = [], first, 0
    while arrival < until:
        delay = delays[number % len(delays)]
        found.append((arrival, max(arrival + delay, *(come for _, come in found[-1:]), 0)))
        arrival, number = arrival + task.period, number + 1
    return found


def ends(tasks, released, blocking, until):
    """Completion times of the jobs of each task: interrupts first, then blocking, then tasks."""
    vms = [Vm("masked", TOP + 1, [(0, blocking)])] if blocking else []
    for task in tasks:
        come = [each for _, each in released[task.name]]
        vms.append(Vm(task.name, task.priority, [(each, task.work) for each in come]))
        if task.interrupt:
            handled = [(each, task.interrupt) for each in come]
            vms.append(Vm(f"irq {task.name}", TOP, handled))
    history = simulate(vms, until)
    found = {}
    for task in tasks:
        done, jobs = 0, []
        for at, following in pairwise(history):
            if at.vm != task.name:
                continue
            done += following.time - at.time
            while (len(jobs) + 1) * task.work <= done:
                jobs.append(following.time - (done - (len(jobs) + 1) * task.work))
        found[task.name] = jobs
    return found


def worst(task, tasks, released, until):
    """The longest response of a task in one schedule."""
    done = ends(tasks, released, task.blocking, until)[task.name]
    return max(end - at for end, (at, _) in zip(done, released[task.name], strict=False))


@settings(max_examples=80, deadline=None)
@given(task_sets(), st.data())
def test_no_schedule_is_worse_than_the_analysis(tasks, data):
    until = 400
    released = {}
    for task in tasks:
        first = data.draw(st.integers(0, task.period))
        delays = data.draw(st.lists(st.integers(0, task.jitter), min_size=1, max_size=4))
        released[task.name] = releases(task, first, delays, until)
    for task in tasks:
        others = [other for other in tasks if other is not task]
        assert worst(task, tasks, released, until) <= response(task, others)


@settings(max_examples=80, deadline=None)
@given(task_sets())
def test_the_worst_of_the_analysis_happens(tasks):
    # Among equal priorities the simulator is FIFO; here all priorities differ.
    tasks = [
        Task(**{**vars(task), "priority": 2 * task.priority * 10 + index})
        for index, task in enumerate(tasks)
    ]
    until = 4 * lcm(*(task.period for task in tasks)) + 400
    assume(until <= 1_500)
    # All are released at once with the most jitter, and without jitter from then on.
    released = {}
    for task in tasks:
        instants = range(-task.jitter, until, task.period)
        released[task.name] = [(at, max(at, 0)) for at in instants]
    for task in tasks:
        others = [other for other in tasks if other is not task]
        assert worst(task, tasks, released, until) == response(task, others)


def test_a_set_known_by_hand():
    # w = 3; 3 + 1 + 2 = 6; 3 + 2 + 2 = 7; 3 + 2 + 4 = 9; 3 + 3 + 4 = 10; 10.
    a, b, c = Task("a", 1, 4, 4, 3), Task("b", 2, 6, 6, 2), Task("c", 3, 12, 12, 1)
    assert [response(a, [b, c]), response(b, [a, c]), response(c, [a, b])] == [1, 3, 10]
    assert utilisation([a, b, c]) == Fraction(5, 6)


def test_a_later_job_of_the_busy_period_may_be_the_worst():
    # Lehoczky's example: the first job of b ends after 114, the worst is the third's.
    a, b = Task("a", 26, 70, 70, 2), Task("b", 62, 100, 120, 1)
    assert response(b, [a]) == 118


def test_the_boundary_of_a_deadline_is_met_and_one_beyond_is_not():
    base = {"period": 100, "deadline": 100, "blocking": 7, "interrupt": 3}
    assert response(Task("t", 90, **base), []) == 100
    assert response(Task("t", 91, **base), []) > 100


def test_what_asks_for_more_than_the_core_is_found_infeasible():
    a, b = Task("a", 3, 5, 5, 2), Task("b", 3, 6, 10_000, 1)
    assert response(b, [a]) > b.deadline


def test_it_begins_behind_what_blocks_it_its_interrupt_and_the_more_urgent():
    a = Task("a", 10, 100, 100, 2, interrupt=2)
    b = Task("b", 20, 100, 100, 1, blocking=5, interrupt=3)
    assert latency(b, [a]) == 5 + 3 + 2 + 10
    assert latency(Task("t", 20, 100, 100, blocking=5, interrupt=3), [b]) == 5 + 3 + 3 + 20
