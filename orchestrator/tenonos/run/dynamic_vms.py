"""Dynamic VMs, created and destroyed at run time, as observed by the host."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

from tenonos.run.formats import STATUS_SIZE, FormatError, Memory, State, Status


@dataclass(frozen=True)
class DynamicVm:
    """A dynamic VM: its place, and its last known status."""

    slot: int
    status: Status


class DynamicVms:
    """All observed VMs by name, in the order of their creation.

    A status page keeps its content until another VM takes the place: a VM that was created and
    destroyed between two reads is observed too, unless its place was reused in between.
    """

    def __init__(self, pages: Sequence[int]) -> None:
        self._pages = pages
        self._taken: dict[int, str] = {}
        self.seen: dict[str, DynamicVm] = {}

    def read(self, memory: Memory) -> None:
        """Read the status page of every place."""
        for slot, page in enumerate(self._pages):
            with contextlib.suppress(FormatError):
                status = Status.parse(memory.read(page, STATUS_SIZE))
                if status.state is not State.EMPTY:
                    self._note(slot, status)

    def _note(self, slot: int, status: Status) -> None:
        before = self._taken.get(slot)
        if before is not None and before != status.name and self.seen[before].slot == slot:
            gone = replace(self.seen[before].status, state=State.DESTROYED)
            self.seen[before] = DynamicVm(slot, gone)
        known = self.seen.get(status.name)
        # A former VM of the same name may have left its page in another place.
        if known is None or known.slot == slot or status.state is not State.DESTROYED:
            self._taken[slot] = status.name
            self.seen[status.name] = DynamicVm(slot, status)
