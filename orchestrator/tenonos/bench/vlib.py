"""vLibs: what it costs that a Tenon VM calls a program in Linux.

In `bench-vlib` both have a core of their own. The client calls a program that answers at
once, between two marks, and what it, Mortise and Linux execute meanwhile is counted on both cores:
one stands still while the other works, so that nothing else is. In two more calls Linux is stopped
again and again, first as its time is over, then as somebody more urgent than the client has its
core: this is counted visit by visit. At last it has 3 ms in each of as many periods of 10 ms, and
all that it executes in one is counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from tenonos import build, system
from tenonos.bench.reading import Setting
from tenonos.bench.row import Kinds, Row, most_common
from tenonos.errors import WorkError
from tenonos.run import RunOptions, Session, Target
from tenonos.run.plugin import FIRST, IDLE, OTHER, Passage, Record, Visit
from tenonos.run.symbols import MORTISE, address, interrupt

SYSTEM, CLIENT, LINUX = "bench-vlib", "client", "linux"
SETTING = Setting(SYSTEM, "mortise-static+linux")

SAMPLES = 1_000
"""Of each, as `bench/apps/vlib-bench` and the program in Linux do it."""

PATIENCE = 600.0
"""Host seconds that all of it may take once Linux is ready."""

VECTORS, SYNCHRONOUS, DOORBELL = 0x800, 0x400, 0x500
"""The vectors' size, and where a guest's calls and Mortise's doorbell come to (Arm ARM, D1.4.2)."""

DEADLINE, MARKED = range(2)
"""Paths: from the client's interrupt to its next call of Mortise, and what lies between marks."""


@dataclass
class Stopped:
    """How Linux was stopped in the middle of a call, again and again."""

    before: int = 0
    """The client's calls of Mortise before the first of these orders. A visit is told as the next
    one begins, so that there is one of what was counted before."""
    deadlines: list[Passage] = field(default_factory=list)
    """The client's ways from an interrupt to a call of Mortise."""
    orders: list[Visit] = field(default_factory=list)
    """Its calls of Mortise: to stand still and to go on, in turns."""
    ways: list[Visit] = field(default_factory=list)
    """Linux's ways off its core, but those that it asked for."""

    def each(self) -> list[tuple[Visit, Visit]]:
        """The orders to stand still, each with Linux's way off its core."""
        orders = self.orders[self.before :: 2]
        both = [*zip(orders, self.ways, strict=False)][:SAMPLES]
        if len(both) < SAMPLES:
            seen = f"{len(orders)} orders and {len(self.ways)} ways off its core"
            raise WorkError(f"of {SAMPLES} times that Linux was stopped, {seen} were seen")
        return both


@dataclass
class Counted:
    """What was counted on the client's core and on Linux's, in the order in which it was."""

    client: int
    linux: int
    passages: list[Passage] = field(default_factory=list)
    maps: list[Passage] = field(default_factory=list)
    late: Stopped = field(default_factory=lambda: Stopped(before=2))
    """As its time is over; the vLib call comes before."""
    descheduled: Stopped = field(default_factory=lambda: Stopped(before=3))
    """As its caller loses its core; the end of what was late, and the vLib call come before."""

    def take(self, record: Record) -> None:
        """One more."""
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
        """What is counted now of how Linux is stopped; between others' calls what nobody reads."""
        match len(self.passages):
            case seen if seen == 2 * SAMPLES:
                return self.late
            case seen if seen == 2 * SAMPLES + 1:
                return self.descheduled
            case _:
                return Stopped()

    @property
    def is_complete(self) -> bool:
        """Whether all was seen."""
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
        raise WorkError(f"the client did not come to its end: {seen}", mend="see ./tenon run vlib")
    return counted


def _calls(name: str, passages: Sequence[Passage]) -> Iterator[Row]:
    """What a call takes in all, and of that each side and Mortise."""
    tenon = [passage.instructions - passage.el2 for passage in passages]
    mortise = [passage.el2_everywhere for passage in passages]
    linux = [passage.other_everywhere for passage in passages]
    kinds = most_common([_kinds(passage) for passage in passages])
    yield _row(name, [sum(parts) for parts in zip(tenon, mortise, linux, strict=True)], kinds)
    yield _row(f"{name}_in_tenon", tenon)
    yield _row(f"{name}_in_mortise", mortise)
    yield _row(f"{name}_in_linux", linux)


def _timed_out(late: Stopped) -> Iterator[Row]:
    """What it takes from a call's deadline until Linux stands still: the client's way from its
    timer's interrupt to the order, then both as below."""
    both = late.each()
    # Each comes behind one from the interrupt that ends its pause.
    ways = late.deadlines[1::2][:SAMPLES]
    if len(ways) < SAMPLES:
        raise WorkError(f"of {SAMPLES} times that a call's time was over, {len(ways)} were seen")
    each = [(way, *stopped) for way, stopped in zip(ways, both, strict=True)]
    kinds = most_common([sum(map(_kinds, parts), Kinds()) for parts in each])
    yield _row("time_out", [sum(part.instructions for part in parts) for parts in each], kinds)
    yield _row("time_out_in_tenon", [way.instructions for way in ways])


def _descheduled(stopped: Stopped) -> Iterator[Row]:
    """What it takes that Linux is stopped: the order on one core, and its way off the other."""
    both = stopped.each()
    kinds = most_common([_kinds(order) + _kinds(stop) for order, stop in both])
    taken = [order.instructions + stop.instructions for order, stop in both]
    yield _row("remote_deschedule", taken, kinds)
    yield _row("remote_deschedule_order", [order.instructions for order, _ in both])


def _kinds(taken: Passage | Visit) -> Kinds:
    return Kinds(taken.barriers, taken.sysreg_writes, taken.mmio)


def _row(name: str, values: Sequence[int], kinds: Kinds | None = None) -> Row:
    return SETTING.row(("vlib", name), {}, values, kinds or Kinds())
