"""Schedulability analysis and resource use of a plan, before the build.

The tasks of each core are analysed by `analysis.response` with the kernels' measured costs. The
result is one of three: guaranteed, under named assumptions; not guaranteed, with the reason; or
infeasible, which refuses the plan.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tenonos.analysis import costs, least
from tenonos.analysis.response import Task, latency, response, utilisation
from tenonos.plan.allocate import Infeasible, Share
from tenonos.plan.defaults import usable
from tenonos.plan.models import Analysis, Guest, Item, Kind, Resource, Verdict
from tenonos.system.board import Board
from tenonos.system.units import LONGEST, duration_text

NO_BUDGET = "no budget stated"
SEVERAL_CORES = "the kernel's costs are those of one core, and it has several"
_TIMES: tuple[Kind, ...] = ("period", "deadline", "jitter", "wcet")
UNMEASURED = ("fp.context", "trace", "time.tick", "sched.timeslice", "sched.cooperative")
"""Capabilities that make the kernel's paths longer than the recorded ones."""


def check(
    guests: Sequence[Guest], items: Sequence[Item], shares: Mapping[str, Share], board: Board
) -> None:
    """Refuse tasks that cannot meet their deadlines."""
    for tasks in _Cores(guests, items, shares, board).tasks.values():
        for task in tasks:
            others = [other for other in tasks if other is not task]
            _in_time(task, others)
            _in_rhythm(task, others, items)


def check_least(
    guests: Sequence[Guest], items: Sequence[Item], shares: Mapping[str, Share], board: Board
) -> None:
    """Refuse periods and bounds below the least that the board can do."""
    cores = _Cores(guests, items, shares, board)
    for name in cores.tenons:
        kernel = cores.kernel(name)
        for kinds, bound, what in (
            (("period",), least.period(board, kernel), "released every"),
            (("deadline", "jitter"), least.deadline(board, kernel), "begun within"),
        ):
            asked = _least(name, items, *kinds)
            if asked and asked < bound:
                raise Infeasible(
                    f"{name} would be {what} {duration_text(asked)}, and the least on "
                    f"{board.name} is {duration_text(bound)}: {least.reasons(board, kernel)}"
                )
        if (_most(name, items, *_TIMES) or 0) > LONGEST:
            raise Infeasible(
                f"{name} would have a time of more than {duration_text(LONGEST)}, and the "
                "kernel counts nanoseconds in 63 bits"
            )


def analyse(
    guests: Sequence[Guest],
    items: Sequence[Item],
    shares: Mapping[str, Share],
    board: Board,
    capabilities: Mapping[str, Sequence[str]],
) -> Analysis:
    """The guarantees of a plan that has passed `check`, with their assumptions."""
    cores = _Cores(guests, items, shares, board)
    verdicts = [
        cores.verdict(guest, capabilities.get(guest.name, ()))
        for guest in guests
        if guest.kind == "tenon" and _least(guest.name, items, "period")
    ]
    return Analysis(
        tasks=verdicts, assumptions=cores.assumptions(), resources=_resources(cores, shares)
    )


def _in_time(task: Task, others: Sequence[Task]) -> None:
    longest = response(task, others)
    if longest > task.deadline:
        beside = f" beside {' and '.join(other.name for other in others)}" if others else ""
        raise Infeasible(
            f"{task.name} may take {duration_text(longest)} or more from a release to its end"
            f"{beside}, kernel included, and its deadline is {duration_text(task.deadline)}"
        )


def _in_rhythm(task: Task, others: Sequence[Task], items: Sequence[Item]) -> None:
    bound = _least(task.name, items, "jitter")
    if bound and (late := latency(task, others)) > bound:
        raise Infeasible(
            f"{task.name} may start {duration_text(late)} after a release, "
            f"and must start within {duration_text(bound)}"
        )


class _Cores:
    """The tasks of each core, and the VMs without guarantees."""

    def __init__(
        self,
        guests: Sequence[Guest],
        items: Sequence[Item],
        shares: Mapping[str, Share],
        board: Board,
    ) -> None:
        self.items = items
        self.board = board
        self.shares = shares
        self.tenons = [guest.name for guest in guests if guest.kind == "tenon"]
        self.tasks: dict[int, list[Task]] = {}
        for name in self.tenons:
            if self.obstacle(name) is None:
                cpu = shares[name].cpus[0]
                self.tasks.setdefault(cpu, []).append(self.task(name))

    def on(self, cpu: int) -> list[str]:
        """The VMs that run on a core."""
        return [name for name, share in self.shares.items() if cpu in share.cpus]

    def kernel(self, name: str) -> costs.Costs:
        """The kernels' costs for a VM."""
        alone = all(self.on(cpu) == [name] for cpu in self.shares[name].cpus)
        return costs.alone() if alone else costs.shared()

    def task(self, name: str) -> Task:
        """The task of a VM with an execution time, in nanoseconds."""
        kernel = self.kernel(name)
        # Without other tasks, a deadline only bounds the distance of releases.
        period = _least(name, self.items, "period") or _least(name, self.items, "deadline") or 1
        return Task(
            name=name,
            work=(_most(name, self.items, "wcet") or 0) + self.time(kernel.leave),
            period=period,
            deadline=_least(name, self.items, "deadline") or period,
            blocking=self.time(kernel.masked),
            interrupt=self.time(kernel.wake),
        )

    def time(self, instructions: int) -> int:
        """The most nanoseconds for a number of instructions."""
        return -(-instructions * 1_000_000_000 // self.board.instructions_per_second)

    def obstacle(self, name: str) -> str | None:
        """The reason why a VM has no guarantee."""
        if not _most(name, self.items, "wcet"):
            return NO_BUDGET
        if not _least(name, self.items, "period", "deadline"):
            return "no period stated"
        return SEVERAL_CORES if len(self.shares[name].cpus) > 1 else None

    def verdict(self, guest: Guest, capabilities: Sequence[str]) -> Verdict:
        """The guarantee for a VM's task."""
        name = guest.name
        because = self.obstacle(name)
        rivals = [n for n in self.tenons if set(self.on_all(n)) & set(self.on_all(name))]
        for rival in rivals:
            if because is None and (why := self.obstacle(rival)):
                because = f"{rival} has the same core, and {why} for it"
        if because is None and (odd := [c for c in UNMEASURED if c in capabilities]):
            because = f"the kernel's costs are kept without {', '.join(odd)}"
        common: dict[str, Any] = {
            "image": name,
            "cpus": list(self.on_all(name)),
            "period": _least(name, self.items, "period"),
            "deadline": _least(name, self.items, "deadline", "period"),
            "wcet": _most(name, self.items, "wcet"),
        }
        if because is not None:
            return Verdict(**common, guaranteed=False, because=because)
        tasks = self.tasks[self.shares[name].cpus[0]]
        task = next(each for each in tasks if each.name == name)
        others = [other for other in tasks if other is not task]
        longest = response(task, others)
        late = latency(task, others) if longest <= task.period else None
        return Verdict(**common, guaranteed=True, response=longest, latency=late)

    def on_all(self, name: str) -> tuple[int, ...]:
        """The cores of a VM."""
        return self.shares[name].cpus

    def assumptions(self) -> list[str]:
        """The assumptions of the guarantees, the user's first."""
        named = [name for name in self.tenons if self.obstacle(name) is None]
        if not named:
            return []
        said = [
            f"{self.board.name} does {self.board.instructions_per_second:,} instructions per "
            "second or more, as its board.toml says",
            "no release takes longer than the budget stated for it, blocking calls included",
            "nothing in these VMs is as urgent as the task declared",
            "no interrupts come to these cores but those of the tasks' own timers",
        ]
        for kernel in dict.fromkeys(self.kernel(name) for name in named):
            said.append(
                f"the kernels take at most {kernel.wake} instructions to wake a task and "
                f"{kernel.leave} when it ends, and mask interrupts for at most {kernel.masked} "
                f"({kernel.source}: measured, not proven)"
            )
        return said


def _resources(cores: _Cores, shares: Mapping[str, Share]) -> list[Resource]:
    board = cores.board
    given = len({cpu for share in shares.values() for cpu in share.cpus})
    memory = sum(share.memory for share in shares.values())
    found = [
        Resource(name="memory", unit="bytes", used=memory, available=usable(board)),
        Resource(name="cores", unit="cores", used=given, available=board.cpus),
    ]
    for cpu, tasks in sorted(cores.tasks.items()):
        # Parts per million, rounded up.
        part = utilisation(tasks)
        used = -(-part.numerator * 1_000_000 // part.denominator)
        found.append(Resource(name=f"time of core {cpu}", unit="ppm", used=used, available=10**6))
    return found


def _values(image: str, items: Sequence[Item], kinds: Sequence[Kind]) -> list[int]:
    mine = [i for i in items if i.image == image and i.kind in kinds]
    return [int(i.value) for i in mine if i.value is not None]


def _least(image: str, items: Sequence[Item], *kinds: Kind) -> int | None:
    return min(_values(image, items, kinds), default=None)


def _most(image: str, items: Sequence[Item], *kinds: Kind) -> int | None:
    return max(_values(image, items, kinds), default=None)
