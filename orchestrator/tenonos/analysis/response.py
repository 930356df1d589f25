"""Response times of periodic tasks on one core: fixed priorities, always preemptive.

The textbook's recurrence (Joseph and Pandya, 1986; with blocking and release jitter, Audsley and
others, 1993; over the whole busy period, Lehoczky, 1990), in integers:

    w(q) = B + (q + 1) C + sum over tasks of equal or higher priority of ceil((w(q) + J) / T) C
    R    = max over q of w(q) - q T + J

Each release also costs an interrupt, which delays every task, also when it releases one of lower
priority. Tasks of equal priority may run in any order, so all of them count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

_JOBS = 10_000
"""Jobs of a busy period to examine before it counts as endless."""


@dataclass(frozen=True)
class Task:
    """A periodic task, all times in one unit; a larger number is a higher priority."""

    name: str
    work: int
    period: int
    deadline: int
    priority: int = 0
    jitter: int = 0
    """Release jitter: the longest delay of a release after its instant."""
    blocking: int = 0
    """Blocking: the longest time for which lower priorities delay the task."""
    interrupt: int = 0
    """Overhead of a release before its task runs, charged to the running task."""

    def released(self, time: int) -> int:
        """The most releases in any interval of that length."""
        return -(-(time + self.jitter) // self.period)


def utilisation(tasks: Sequence[Task]) -> Fraction:
    """The utilisation of a core by tasks."""
    return sum((Fraction(t.work + t.interrupt, t.period) for t in tasks), Fraction(0))


def response(task: Task, others: Sequence[Task]) -> int:
    """The worst-case response time: from the instant of a release to the end of its job.

    A result beyond the deadline is a lower bound: the set is infeasible.
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
    """The worst-case start latency: from the instant of a release to the first step of its job.

    It holds for a task that completes before its next release.
    """
    return response(replace(task, work=1), others) - 1


def _end(task: Task, others: Sequence[Task], job: int, least: int, limit: int) -> int:
    """The end of a job of the busy period: the least fixed point, or a value beyond the limit."""
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
