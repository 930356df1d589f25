"""Reference simulator of a core shared by fixed priorities, reservations and deadlines.

An event simulation by the definitions, independent of `pool/core/sched`:

* fixed priority, FIFO within a priority, preemptive;
* deferrable server (Strosnider, Lehoczky and Sha, 1995): a budget that is replenished at each
period boundary and retained while the server is idle;
* constant-bandwidth server with hard reservations (Abeni and Buttazzo, 1998): on arrival, a new
deadline if the remaining budget exceeds its share of the remaining time; after depletion the
server is suspended until the deadline, then replenished with a deadline one period later;
* background: the remaining time, round-robin by slices of execution time; or, if fair, by
start-time fair queueing (Goyal, Guo and Vin, 1996) in such slices.

Times are in ns. A demand is a list of jobs `(release, work)`; `work` is None if it never ends.
Events at the same instant are processed in this order: replenishments, completions, arrivals,
depletions, and the scheduling decision.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction


@dataclass(frozen=True)
class Vm:
    """A VM on the core: its scheduling parameters and its demand."""

    name: str
    priority: int
    jobs: Sequence[tuple[int, int | None]]
    budget: int | None = None
    period: int | None = None
    by_deadline: bool = False
    background: bool = False
    origin: int = 0
    """Start of its life and of its first period."""


@dataclass(frozen=True)
class Dispatch:
    """From `time` on `vm` is running, or the core is idle (None)."""

    time: int
    vm: str | None


@dataclass(eq=False)
class _Server:
    vm: Vm
    left: int | None
    end: int | None
    """End of the current period: boundary, or deadline."""
    jobs: list[tuple[int, int | None]]
    work: list[int | None] = field(default_factory=list)
    """The arrived jobs, the first of which is in progress."""
    begun: bool = False
    """Whether the job in progress has run."""
    spent: bool = False
    """Whether the budget is depleted and not yet replenished."""
    start: int = 0
    finish: int = 0
    """Its start tag and finish tag in a fair background."""

    @property
    def has_work(self) -> bool:
        return bool(self.work)

    @property
    def may_run(self) -> bool:
        return self.has_work and (not self.spent or self.vm.background)

    @property
    def is_behind(self) -> bool:
        """Whether it is in the background."""
        return self.vm.priority == 0 or self.spent


def simulate(
    vms: Iterable[Vm], until: int, slice_: int = 1_000_000, fair: bool = False, switch: int = 0
) -> list[Dispatch]:
    """The schedule from 0 to `until` as a list of dispatches.

    `switch` is the cost of a preemption: execution time that a job needs in addition each time that
    it continues.
    """
    return (_Fair if fair else _Core)(vms, slice_, switch).run(until)


class _Core:
    def __init__(self, vms: Iterable[Vm], slice_: int, switch: int = 0) -> None:
        self.slice, self.switch = slice_, switch
        self.servers = [
            _Server(
                vm,
                vm.budget,
                vm.origin + vm.period if vm.period else None,
                sorted(vm.jobs, key=lambda job: job[0]),
            )
            for vm in vms
        ]
        self.queue: list[_Server] = []
        """The ready VMs outside of the background, in the order of arrival."""
        self.behind: list[_Server] = []
        self.spent: list[_Server] = []
        """The background in the order of depletion."""
        self.running: _Server | None = None
        self.dispatched: _Server | None = None
        """The server that ran until the present instant."""
        self.turn: _Server | None = None
        self.turn_left = 0

    def run(self, until: int) -> list[Dispatch]:
        now, history = 0, [Dispatch(0, None)]
        while True:
            self.replenish(now)
            self.complete()
            self.arrive(now)
            self.exhaust(now)
            self.choose()
            self.dispatch()
            name = self.running.vm.name if self.running else None
            if name != history[-1].vm:
                if history[-1].time == now:
                    history.pop()
                if not history or name != history[-1].vm:
                    history.append(Dispatch(now, name))
            then = self.next_event(now)
            if then is None or then > until:
                return history
            self.advance(then - now)
            now = then

    # Passage of time.

    def next_event(self, now: int) -> int | None:
        times = [server.jobs[0][0] for server in self.servers if server.jobs]
        times += [server.end for server in self.servers if self.has_boundary(server)]
        if (running := self.running) is not None:
            if running.work[0] is not None:
                times.append(now + running.work[0])
            if running.left is not None and not running.spent:
                times.append(now + running.left)
            if running.is_behind and len(self.behind) > 1:
                times.append(now + self.turn_left)
        return min((time for time in times if time > now), default=None)

    @staticmethod
    def has_boundary(server: _Server) -> bool:
        return server.end is not None and (not server.vm.by_deadline or server.spent)

    def advance(self, time: int) -> None:
        running = self.running
        if running is None:
            return
        if running.work[0] is not None:
            running.work[0] -= time
        if running.left is not None and not running.spent:
            running.left -= time
        if running.is_behind:
            self.turn_left = max(0, self.turn_left - time)

    # Events of an instant, in this order.

    def replenish(self, now: int) -> None:
        rest = [server for server in self.servers if server not in self.spent]
        for server in [*self.spent, *rest]:
            if self.has_boundary(server) and server.end == now:
                server.left, server.end = server.vm.budget, server.end + server.vm.period
                if server.spent:
                    self.leave(server)
                    server.spent = False
                    self.enter(server)

    def complete(self) -> None:
        running = self.running
        if running is not None and running.work[0] == 0:
            running.work.pop(0)
            running.begun = False
            if not running.work:
                self.leave(running)
                running.spent = False

    def arrive(self, now: int) -> None:
        for server in self.servers:
            while server.jobs and server.jobs[0][0] <= now:
                first = not server.has_work
                server.work.append(server.jobs.pop(0)[1])
                if first:
                    self.wake(server, now)

    def wake(self, server: _Server, now: int) -> None:
        vm = server.vm
        if vm.by_deadline:
            share = Fraction(vm.budget, vm.period)
            if now >= server.end or Fraction(server.left, server.end - now) > share:
                server.left, server.end = vm.budget, now + vm.period
        self.enter(server)
        if server.left == 0:
            self.run_out(server, now)

    def exhaust(self, now: int) -> None:
        running = self.running
        if running is not None and running.left == 0 and not running.spent and running.work:
            self.run_out(running, now)

    def run_out(self, server: _Server, now: int) -> None:
        self.leave(server)
        if server.vm.by_deadline and server.end <= now:
            # The deadline has passed: the next one, counted from now if that has passed too.
            server.end += server.vm.period
            if server.end <= now:
                server.end = now + server.vm.period
            server.left = server.vm.budget
        else:
            server.spent = True
            self.spent.append(server)
        self.enter(server)

    def choose(self) -> None:
        if self.queue:
            top = max(server.vm.priority for server in self.queue)
            level = [server for server in self.queue if server.vm.priority == top]
            timed = [server for server in level if server.vm.by_deadline]
            self.running = min(timed, key=lambda server: server.end) if timed else level[0]
            return
        self.running = None
        if self.behind:
            self.choose_behind()

    def choose_behind(self) -> None:
        first = self.behind[0]
        if first is self.turn and self.turn_left == 0 and len(self.behind) > 1:
            self.behind.append(self.behind.pop(0))
            first = self.behind[0]
            self.turn = None
        if first is not self.turn:
            self.turn, self.turn_left = first, self.slice
        self.running = first

    def dispatch(self) -> None:
        """Charge a job that continues after a preemption with the switch to it."""
        running = self.running
        if running is not None:
            if running.begun and running is not self.dispatched and running.work[0] is not None:
                running.work[0] += self.switch
            running.begun = True
        self.dispatched = running

    # The queue of a server.

    def enter(self, server: _Server) -> None:
        if server.may_run:
            (self.behind if server.is_behind else self.queue).append(server)

    def leave(self, server: _Server) -> None:
        for place in (self.queue, self.behind, self.spent):
            if server in place:
                place.remove(server)
        if server is self.running:
            self.running = None


class _Fair(_Core):
    """The background by tags: a slice ends one slice beyond its start tag; the least is next."""

    level = 0
    over = False

    def advance(self, time: int) -> None:
        super().advance(time)
        running = self.running
        if running is None or not running.is_behind:
            return
        running.finish += time
        if turns := (running.finish - running.start) // self.slice:
            running.start += turns * self.slice
            self.over = len(self.behind) > 1
            if not self.over:
                self.level = max(self.level, running.start)

    def enter(self, server: _Server) -> None:
        super().enter(server)
        if server in self.behind:
            server.start = server.finish = max(server.finish, self.level)

    def choose(self) -> None:
        if self.over and self.running in self.behind:
            self.behind.remove(self.running)
            self.behind.append(self.running)
        self.over = False
        super().choose()

    def choose_behind(self) -> None:
        first = min(self.behind, key=lambda server: server.start)
        self.turn_left = first.start + self.slice - first.finish
        self.level = max(self.level, first.start)
        self.running = first


def got(history: Sequence[Dispatch], start: int, end: int) -> dict[str | None, int]:
    """Execution time of each VM from `start` to `end`."""
    parts: dict[str | None, int] = {}
    for dispatch, following in zip(history, [*history[1:], Dispatch(end, None)], strict=True):
        time = min(following.time, end) - max(dispatch.time, start)
        parts[dispatch.vm] = parts.get(dispatch.vm, 0) + max(0, time)
    return parts
