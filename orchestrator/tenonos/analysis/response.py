"""Response times of periodic tasks on one core: fixed priorities, always preemptive.

The textbook's recurrence (Joseph and Pandya, 1986; with blocking and release jitter, Audsley and
others, 1993; over the whole busy period, Lehoczky, 1990), in whole numbers:

    w(q) = B + (q + 1) C + sum over who is as urgent or more of ceil((w(q) + J) / T) C
    R    = max over q of w(q) - q T + J

Each release also takes an interrupt, which comes before every task, those of the less urgent too.
Among equals anyone may be first, so that all of them count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

_JOBS = 10_000
"""Of a busy period that are looked at, before it counts as one that never ends."""


@dataclass(frozen=True)
class Task:
    """What one task asks of its core, all times in one unit; a larger priority is more urgent."""

    name: str
    work: int
    period: int
    deadline: int
    priority: int = 0
    jitter: int = 0
    """How much later than its instant a release may come."""
    blocking: int = 0
    """How long somebody less urgent may keep the core all the same."""
    interrupt: int = 0
    """What a release takes before its task runs, from whoever runs."""

    def released(self, time: int) -> int:
        """How often it is released in any stretch of so much time, at most."""
        return -(-(time + self.jitter) // self.period)


def utilisation(tasks: Sequence[Task]) -> Fraction:
    """The part of a core that tasks take."""
    return sum((Fraction(t.work + t.interrupt, t.period) for t in tasks), Fraction(0))


def response(task: Task, others: Sequence[Task]) -> int:
    """The longest from the instant of a release to the end of its job, beside others.

    If it is more than the deadline, it is the least that is known: the set is infeasible.
    """
    worst = end = 0
    for job in range(_JOBS):
        arrival = job * task.period - task.jitter
        end = _end(task, others, job, end, arrival + task.deadline)
        worst = max(worst, end - arrival)
        if worst > task.deadline or end <= arrival + task.period:
            return worst
    return task.deadline + 1


def latency(task: Task, others: Sequence[Task]) -> int:
    """The longest from the instant of a release to the first step of its job.

    It holds for a task that is done before its next release.
    """
    return response(replace(task, work=1), others) - 1


def _end(task: Task, others: Sequence[Task], job: int, least: int, limit: int) -> int:
    """When a job of the busy period ends: the least fixed point, or the first beyond the limit."""
    end = max(least, 1)
    while end <= limit:
        longer = task.blocking + _taken(task, others, job, end)
        if longer <= end:
            return end
        end = longer
    return end


def _taken(task: Task, others: Sequence[Task], job: int, time: int) -> int:
    total = (job + 1) * task.work + max(job + 1, task.released(time)) * task.interrupt
    for other in others:
        precedes = other.priority >= task.priority
        each = other.interrupt + (other.work if precedes else 0)
        total += other.released(time) * each
    return total
