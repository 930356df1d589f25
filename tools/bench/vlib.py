"""Suite `vlib`: cost of calls from a Tenon VM into a program in Linux.

In `bench-vlib` both VMs own a core. The client calls a program that answers at once, between two
marks, and the instructions of client, Mortise and Linux on both cores are counted: one waits while
the other works, so nothing else runs. In two more calls Linux is descheduled repeatedly, first at
its time-out, then because a VM of higher priority runs on the client's core; this is counted visit
by visit. Finally Linux gets 3 ms in each period of 10 ms, and its instructions in one are counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from tenonos import build, system
from tenonos.errors import WorkError
from tenonos.run import RunOptions, Session, Target
from tenonos.run.plugin import FIRST, IDLE, OTHER, Passage, Record, Visit
from tenonos.run.symbols import MORTISE, address, interrupt
from tools.bench.reading import Setting
from tools.bench.row import Kinds, Row, most_common

SYSTEM, CLIENT, LINUX = "bench-vlib", "client", "linux"
SETTING = Setting(SYSTEM, "mortise-static+linux")

SAMPLES = 1_000
"""Numbers of calls, as in `bench/apps/vlib-bench` and the program in Linux."""

PATIENCE = 600.0
"""Time limit in host seconds, once Linux is ready."""

VECTORS, SYNCHRONOUS, DOORBELL = 0x800, 0x400, 0x500
"""Size of a vector table, and offsets of hypercalls and of Mortise's doorbell (Arm ARM, D1.4.2)."""

DEADLINE, MARKED = range(2)
"""Paths: from the client's interrupt to its next hypercall, and between marks."""


@dataclass
class Stopped:
    """Repeated descheduling of Linux during a call."""

    before: int = 0
    """The client's hypercalls before the first of these orders. A visit is reported at the start of
    the next one, so one belongs to the previous count."""
    deadlines: list[Passage] = field(default_factory=list)
    """The client's paths from an interrupt to a hypercall."""
    orders: list[Visit] = field(default_factory=list)
    """Its hypercalls to deschedule and to resume Linux, alternating."""
    ways: list[Visit] = field(default_factory=list)
    """Visits that deschedule Linux, except at its own request."""

    def each(self) -> list[tuple[Visit, Visit]]:
        """The orders to deschedule, each with the visit that deschedules Linux."""
        orders = self.orders[self.before :: 2]
        both = [*zip(orders, self.ways, strict=False)][:SAMPLES]
        if len(both) < SAMPLES:
            seen = f"{len(orders)} orders and {len(self.ways)} ways off its core"
            raise WorkError(f"of {SAMPLES} times that Linux was stopped, {seen} were seen")
        return both


@dataclass
class Counted:
    """The records of the client's core and of Linux's, in order."""

    client: int
    linux: int
    passages: list[Passage] = field(default_factory=list)
    maps: list[Passage] = field(default_factory=list)
    late: Stopped = field(default_factory=lambda: Stopped(before=2))
    """Descheduling at the time-out, after the vLib call."""
    descheduled: Stopped = field(default_factory=lambda: Stopped(before=3))
    """Descheduling at preemption of the caller, after the late phase and the vLib call."""

    def take(self, record: Record) -> None:
        """Take a record."""
        if isinstance(record, Passage) and record.path == MARKED:
            (self.passages if record.vcpu == self.client else self.maps).append(record)
        elif isinstance(record, Passage):
            self.stopped.deadlines.append(record)
        elif isinstance(record, Visit):
            entry = record.entry % VECTORS
            if record.vcpu == self.client and (record.before, entry) == (FIRST, SYNCHRONOUS):
                self.stopped.orders.append(record)
            way = (record.before, record.after)
            if record.vcpu == self.linux and way == (OTHER, IDLE) and entry == DOORBELL:
                self.stopped.ways.append(record)

    @property
    def stopped(self) -> Stopped:
        """The current counts of descheduling; between calls a value that is not used."""
        match len(self.passages):
            case seen if seen == 2 * SAMPLES:
                return self.late
            case seen if seen == 2 * SAMPLES + 1:
                return self.descheduled
            case _:
                return Stopped()

    @property
    def is_complete(self) -> bool:
        """Whether all phases are complete."""
        return len(self.passages) == 4 * SAMPLES + 1


def rows(tell: Callable[[str], None]) -> Iterator[Row]:
    """The rows of the suite."""
    tell(SYSTEM)
    counted = _counted()
    calls, late = counted.passages[:SAMPLES], counted.passages[SAMPLES : 2 * SAMPLES]
    yield from _calls("call", calls)
    yield from _calls("async_call", late)
    yield from _timed_out(counted.late)
    yield from _descheduled(counted.descheduled)
    opened, periods = (counted.passages[n * SAMPLES + 1 :][:SAMPLES] for n in (2, 3))
    ends = [*zip(opened, counted.maps, strict=True)]
    yield _row("channel_map", [a.instructions + b.el2 + b.other for a, b in ends])
    yield _row("channel_map_in_linux", [passage.other for passage in counted.maps])
    yield _row("budget", [period.other_everywhere for period in periods])


def _counted() -> Counted:
    """A run of the system."""
    built = build.build(system.load(SYSTEM))
    target = Target.of(built)
    cpus = {vm.name: vm.cpus[0] for vm in built.system.vms}
    counted = Counted(cpus[CLIENT], cpus[LINUX])

    def take(record: Record) -> None:
        counted.take(record)
        if counted.is_complete:
            session.finish()

    client = next(vm for vm in target.vms if vm.name == CLIENT).memory
    vector = interrupt(built, CLIENT)
    call = address(built, MORTISE, "mortise_fast_vectors") + SYNCHRONOUS
    plan = ("marks", "visits", f"guest {client.start:x} {client.stop:x}")
    options = RunOptions(
        seconds=PATIENCE, deterministic=True, routes=((vector, call),), plan=plan, count=take
    )
    session = Session(target, options, [])
    session.run()
    if not counted.is_complete or len(counted.maps) != SAMPLES:
        seen = f"{len(counted.passages)} calls and {len(counted.maps)} maps were seen"
        raise WorkError(f"the client did not complete: {seen}", mend="see ./tenon run vlib")
    return counted


def _calls(name: str, passages: Sequence[Passage]) -> Iterator[Row]:
    """The cost of a call in total, and the parts of each side and of Mortise."""
    tenon = [passage.instructions - passage.el2 for passage in passages]
    mortise = [passage.el2_everywhere for passage in passages]
    linux = [passage.other_everywhere for passage in passages]
    kinds = most_common([_kinds(passage) for passage in passages])
    yield _row(name, [sum(parts) for parts in zip(tenon, mortise, linux, strict=True)], kinds)
    yield _row(f"{name}_in_tenon", tenon)
    yield _row(f"{name}_in_mortise", mortise)
    yield _row(f"{name}_in_linux", linux)


def _timed_out(late: Stopped) -> Iterator[Row]:
    """The cost from a call's deadline until Linux is descheduled: the client's path from its timer
    interrupt to the order, then as below."""
    both = late.each()
    # Each follows one from the interrupt that ends its pause.
    ways = late.deadlines[1::2][:SAMPLES]
    if len(ways) < SAMPLES:
        raise WorkError(f"of {SAMPLES} times that a call's time was over, {len(ways)} were seen")
    each = [(way, *stopped) for way, stopped in zip(ways, both, strict=True)]
    kinds = most_common([sum(map(_kinds, parts), Kinds()) for parts in each])
    yield _row("time_out", [sum(part.instructions for part in parts) for parts in each], kinds)
    yield _row("time_out_in_tenon", [way.instructions for way in ways])


def _descheduled(stopped: Stopped) -> Iterator[Row]:
    """The cost of descheduling Linux: the order on one core, and the visit on the other."""
    both = stopped.each()
    kinds = most_common([_kinds(order) + _kinds(stop) for order, stop in both])
    taken = [order.instructions + stop.instructions for order, stop in both]
    yield _row("remote_deschedule", taken, kinds)
    yield _row("remote_deschedule_order", [order.instructions for order, _ in both])


def _kinds(taken: Passage | Visit) -> Kinds:
    return Kinds(taken.barriers, taken.sysreg_writes, taken.mmio)


def _row(name: str, values: Sequence[int], kinds: Kinds | None = None) -> Row:
    return SETTING.row(("vlib", name), {}, values, kinds or Kinds())
