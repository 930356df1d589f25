"""VMs that are made and destroyed while a system runs, as the host sees them come and go."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

from tenonos.run.formats import STATUS_SIZE, FormatError, Memory, State, Status


@dataclass(frozen=True)
class Late:
    """A VM made at run time: its place, and the last that is known of it."""

    slot: int
    status: Status


class LateVms:
    """All that were seen, by name, in the order in which they came.

    A page stays as its VM left it until another takes the place: one that came and went between
    two looks is seen too, unless its place was taken in between.
    """

    def __init__(self, pages: Sequence[int]) -> None:
        self._pages = pages
        self._taken: dict[int, str] = {}
        self.seen: dict[str, Late] = {}

    def read(self, memory: Memory) -> None:
        """Look at every place."""
        for slot, page in enumerate(self._pages):
            with contextlib.suppress(FormatError):
                status = Status.parse(memory.read(page, STATUS_SIZE))
                if status.state is not State.EMPTY:
                    self._note(slot, status)

    def _note(self, slot: int, status: Status) -> None:
        before = self._taken.get(slot)
        if before is not None and before != status.name and self.seen[before].slot == slot:
            gone = replace(self.seen[before].status, state=State.DESTROYED)
            self.seen[before] = Late(slot, gone)
        known = self.seen.get(status.name)
        # One of the same name may have been here before, and left its page elsewhere.
        if known is None or known.slot == slot or status.state is not State.DESTROYED:
            self._taken[slot] = status.name
            self.seen[status.name] = Late(slot, status)
