"""Size of the emulated machine: as many cores and as much RAM as the demands need.

It is chosen where no board is named and that of the default board is free. Otherwise, and where no
possible size suffices, the board stays as it is, and the allocation has the reason.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tenonos.plan.allocate import Infeasible, Share, allocate
from tenonos.plan.amend import reduced
from tenonos.plan.defaults import complete
from tenonos.plan.effects import BANDWIDTH, OF_A_LINUX, is_regulated
from tenonos.plan.models import Assumption, Guest, Item, Plan, manages
from tenonos.plan.pool import Pool
from tenonos.plan.solve import minimal
from tenonos.plan.templates import maker
from tenonos.system import board as boards
from tenonos.system.board import Board
from tenonos.system.limits import SHARED_CORES
from tenonos.system.schema import MachineSpec
from tenonos.system.units import size_text

GIBIBYTE = 1 << 30
EVEN = 0.5
"""The confidence that the user means the emulator's machine in that size."""
_SERVED = OF_A_LINUX - {BANDWIDTH} | {"virt.dma"}
"""Capabilities for which the memory of Linux is in the kernels' own maps, or cards reach it."""
_ALL = re.compile(r"\ball(?: of)?(?: (?:the|its|our|your))?\s*$", re.IGNORECASE)
"""Words before a number of cores that make it that of the machine."""
_MACHINE = r"(?:board|machine|chip|part|soc|system|computer|platform|processor|module|hardware)"
_FOUR = re.compile(
    rf"\b(?:quad[- ]?core|(?:four|4)[- ]core {_MACHINE}"
    rf"|{_MACHINE}(?: only)?(?: with| has| of| having),?(?: only| just)? (?:four|4) cores)\b",
    re.IGNORECASE,
)
"""Words for a machine of four cores."""


@dataclass(frozen=True)
class Sizes:
    """The sizes of a board for the demands of a plan."""

    plan: Plan
    board: Board
    pool: Pool

    def choose(self) -> tuple[Board, Assumption | None]:
        """The board in the least size for the demands, in whole GiB, and what is assumed by it.

        If no size suffices, the board in the largest size where that has another reason.
        """
        most, board = self.board.most, self.board
        reason = self._reason(board)
        if most is None or reason is None:
            return board, None
        cores = max(board.cpus, self._most_cores(most.cpus))
        room = self._most_ram(most.ram)
        largest = board.sized(cores, room)
        if not self._suffices(cores, room):
            other = self._reason(largest)
            return (board if other in (None, reason) else largest), None
        cpus = next(n for n in range(board.cpus, cores + 1) if self._suffices(n, room))
        steps = range(board.ram.size, room, GIBIBYTE)
        ram = next((size for size in steps if self._suffices(cpus, size)), room)
        return board.sized(cpus, ram), self._assumption(board.sized(cpus, ram))

    def _most_cores(self, most: int) -> int:
        """The most cores: those of the board if the objective states that number for it."""
        text, items = self.plan.objective, self.plan.items
        counts = (i.span for i in items if i.kind == "cores" and i.value == self.board.cpus)
        stated = any(_ALL.search(text[: span[0]]) for span in counts if span)
        return self.board.cpus if stated or _FOUR.search(text) else most

    def _most_ram(self, most: int) -> int:
        """The most RAM: up to 4 GiB if Mortise serves the memory of a Linux VM."""
        served = any(i.kind == "capability" and i.value in _SERVED for i in self.plan.items)
        return min(most, boards.REACH - self.board.ram.base) if served else most

    def _suffices(self, cpus: int, ram: int) -> bool:
        """Whether the demands can be met in a size, with no core shared that cannot be."""
        try:
            shares = self._shares(self.board.sized(cpus, ram), self.plan.guests, self.plan.items)
        except Infeasible:
            return False
        shared = _shared(self.plan.guests, self.plan.items, shares)
        return all(cpu < SHARED_CORES for cpu in shared)

    def _reason(self, board: Board) -> str | None:
        """The reason why cores and memory of a board do not suffice; None if they do."""
        try:
            self._shares(board, self.plan.guests, self.plan.items)
        except Infeasible as error:
            return str(error)
        return None

    def _fits(self, items: Sequence[Item]) -> bool:
        """Whether some of the demands can be met by the board in its own size."""
        try:
            self._shares(self.board, *reduced(self.plan, items))
        except Infeasible:
            return False
        return True

    def _shares(
        self, board: Board, guests: Sequence[Guest], items: Sequence[Item]
    ) -> dict[str, Share]:
        plan = Plan(objective="", planner="", guests=list(guests), items=list(items))
        return allocate(guests, complete(plan, board, self.pool, {}).items, board)

    def _assumption(self, made: Board) -> Assumption | None:
        """The size as an assumption, at the first words that need it."""
        stated = [item for item in self.plan.items if item.stated]
        needs = minimal(stated, self._fits)
        first = min(
            needs or stated,
            key=lambda item: (item.kind == "capability", item.span or (0, 0)),
            default=None,
        )
        if first is None or first.source is None or first.span is None:
            return None
        return Assumption(
            source=first.source,
            span=first.span,
            taken_as=f"on {made.name} with {_text(made)}",
            instead_of=_text(self.board),
            confidence=EVEN,
        )


def _shared(
    guests: Sequence[Guest], items: Sequence[Item], shares: Mapping[str, Share]
) -> set[int]:
    """The cores on which Mortise has a scheduler: of several VMs, of the creator of VMs, and of a
    Linux with a limit of memory traffic."""
    takers = Counter(cpu for share in shares.values() for cpu in share.cpus)
    found = {cpu for cpu, count in takers.items() if count > 1}
    manager = maker(guests) if manages(items) else None
    found |= {shares[manager].cpus[-1]} if manager else set()
    if is_regulated(items):
        found |= {c for g in guests if g.kind == "linux" for c in shares[g.name].cpus}
    return found


def stated(board: Board) -> MachineSpec | None:
    """The keys of a board in another size than that of its `board.toml`."""
    default = boards.load(board.name)
    cores = board.cpus if board.cpus != default.cpus else None
    ram = board.ram.size if board.ram.size != default.ram.size else None
    return MachineSpec(cores=cores, ram=ram and size_text(ram)) if cores or ram else None


def _text(board: Board) -> str:
    return f"{board.cpus} cores and {board.ram.size // GIBIBYTE} GiB"
