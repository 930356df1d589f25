"""Suite `regain`: cost of regaining a core from a guest that never yields.

In `bench-regain` a manager pauses and restarts three guests that mask all interrupts, and finally
destroys them. One sleeps, so that Mortise's doorbell, a Group 0 SGI, regains its core. Two spin and
lose their memory before the doorbell arrives; one of them also blocks the doorbell. The plugin
reports each such visit of Mortise instruction by instruction, and the debug information has the
function of each, so Mortise needs no instrumentation.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from tenonos import build, system
from tenonos.build import Built
from tenonos.errors import WorkError
from tenonos.run import RunOptions, Session, Target
from tenonos.run.plugin import OTHER, Record, Visit
from tenonos.run.symbols import MORTISE
from tools.bench.reading import Setting
from tools.bench.row import Kinds, Row, most_common
from tools.bench.steps import Code

SYSTEM, MANAGER = "bench-regain", "manager"
SETTING = Setting(SYSTEM, "mortise-dynamic")

VECTORS, SYNCHRONOUS, DOORBELL = 0x800, 0x400, 0x500
"""Size of a vector table, and offsets of a guest's aborts and of the doorbell (Arm ARM, D1.4.2)."""

ROWS = {DOORBELL: "doorbell_to_stopped", SYNCHRONOUS: "abort_to_left"}
"""The rows, by the vector through which a core returns to Mortise."""
GUESTS = {"masked-asleep": {DOORBELL}, "masked": {DOORBELL, SYNCHRONOUS}, "deaf": {SYNCHRONOUS}}
"""The guests, with the possible vectors of their cores."""

ORDERS = ("pause", "restart", "destroy")
DECIDED = {"request_hold", "end_from_outside"}
"""The start of Mortise's part of an order, after the check of authority."""
WITHDRAWS = "withdraw_in"
STOPPED = {"pause": "mark_off_core", "restart": "record_stop"}
"""The function that records that a core has left its guest. Later instructions are not part of it:
a leading core starts the next run, or ends the last."""

PATIENCE = 600.0
"""Time limit in host seconds."""

_SGI, _REGISTER = 0xD518_CBE0, 0x1F
"""`MSR ICC_SGI0R_EL1, Xt` (IHI 0069, 12.2)."""
_TLBI, _DSB = 0xD50C_83DF, 0xD503_3B9F
"""`TLBI VMALLS12E1IS` and `DSB ISH` (Arm ARM, C6.2)."""


@dataclass(frozen=True)
class Part:
    """A part of a visit."""

    instructions: int
    kinds: Kinds


@dataclass(frozen=True)
class Order:
    """An order of the manager, in instructions of its core."""

    name: str
    to_doorbell: Part
    """Decision → SGI sent."""
    withdrawal: Part
    """First stage 2 entry invalidated → TLBI and DSB complete."""
    call: Part
    """Entry of the manager's call → SGI sent."""


@dataclass
class Seen:
    """The observations of both ends."""

    code: Code
    manager: int
    guests: dict[int, str]
    """Orders by core."""
    orders: list[Order] = field(default_factory=list)
    left: dict[tuple[int, str], list[Part]] = field(default_factory=lambda: defaultdict(list))
    """The guests' exits from their cores, by vector and order."""

    def take(self, record: Record) -> None:
        """Take a record."""
        if not isinstance(record, Visit):
            return
        if record.vcpu == self.manager and (order := self._order(record.steps)):
            self.orders.append(order)
        guest = self.guests.get(record.vcpu)
        if guest is not None and record.before == OTHER:
            self._way(guest, record)

    def _order(self, steps: Sequence[int]) -> Order | None:
        """The order in a visit of the manager's core, if there is one."""
        words = [self.code.word(step) for step in steps]
        if _TLBI not in words:
            return None
        invalidated = words.index(_DSB, words.index(_TLBI))
        rung = next(
            (at for at, word in enumerate(words) if word & ~_REGISTER == _SGI and at > invalidated),
            None,
        )
        decided = self.code.of(steps, DECIDED)
        begun = self.code.of(steps, {WITHDRAWS})
        asked = next((name for name in ORDERS if self.code.of(steps, {name})), None)
        # A destruction unmaps the memory after the guest has left, and needs no IPI then.
        if rung is None or not decided or asked is None:
            return None
        return Order(
            asked,
            self._part(steps[decided[0] : rung + 1]),
            self._part(steps[begun[0] : invalidated + 1]),
            self._part(steps[: rung + 1]),
        )

    def _part(self, steps: Sequence[int]) -> Part:
        return Part(len(steps), self.code.kinds(steps))

    def _way(self, guest: str, visit: Visit) -> None:
        """Takes down a way of a guest's core, if it is one off it."""
        for order, function in STOPPED.items():
            if ends := self.code.of(visit.steps, {function}):
                vector = visit.entry % VECTORS
                if vector not in GUESTS[guest]:
                    raise WorkError(f"{guest} came back by vector {vector:#x}")
                self.left[vector, order].append(self._part(visit.steps[: ends[-1] + 1]))
                return


def rows(tell: Callable[[str], None]) -> Iterator[Row]:
    """The rows of the suite."""
    tell(SYSTEM)
    yield from rows_of(_seen(build.build(system.load(SYSTEM))))


def rows_of(seen: Seen) -> Iterator[Row]:
    """Those of what was seen: each order's of the asking core, then of each guest's."""
    given: dict[str, list[Order]] = defaultdict(list)
    for order in seen.orders:
        given[order.name].append(order)
    if missing := [order for order in ORDERS if order not in given]:
        raise WorkError(f"no order to {missing[0]} was seen")
    for name in ORDERS:
        yield _row("decision_to_doorbell", name, [order.to_doorbell for order in given[name]])
        yield _row("withdrawal", name, [order.withdrawal for order in given[name]])
        yield _row("call_to_doorbell", name, [order.call for order in given[name]])
    for order in STOPPED:
        ways = sum(len(seen.left[vector, order]) for vector in ROWS)
        if ways < len(given[order]):
            raise WorkError(f"of {len(given[order])} times that a core was left, {ways} were seen")
    for vector, row in ROWS.items():
        for order in STOPPED:
            yield _row(row, order, seen.left[vector, order])


def _seen(built: Built) -> Seen:
    """A run of the system."""
    cpus = {vm.name: vm.cpus[0] for vm in built.system.vms}
    code = Code(
        built.elf_files[MORTISE].read_bytes(), DECIDED | {WITHDRAWS} | {*STOPPED.values(), *ORDERS}
    )
    seen = Seen(code, cpus[MANAGER], {cpus[guest]: guest for guest in GUESTS})
    options = RunOptions(
        seconds=PATIENCE, deterministic=True, plan=("visits", "steps"), count=seen.take
    )
    session = Session(Target.of(built), options, [])
    session.run()
    said = session.transcripts[MANAGER].text if MANAGER in session.transcripts else ""
    if "manager: 0 calls failed" not in said:
        raise WorkError("the manager did not complete", mend=f"see ./tenon run {SYSTEM}")
    return seen


def _row(name: str, order: str, parts: Sequence[Part]) -> Row:
    kinds = most_common([part.kinds for part in parts])
    values = [part.instructions for part in parts]
    return SETTING.row(("regain", name), {"order": order}, values, kinds)
