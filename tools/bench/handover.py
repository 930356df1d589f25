"""Cost of CPU handover from Linux to Mortise, and back.

`bench-hyplet/handover.c` makes each handover in one call, between two marks, with the rest of Linux
idle. All cores take part, mostly by Linux's CPU hotplug, so that the instructions of all cores
count, separately for Mortise and Linux.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tenonos.errors import WorkError
from tenonos.run.plugin import Passage
from tools.bench.reading import Setting
from tools.bench.row import Kinds, Row

CHANGES, FULL = 20, 1_000
"""Handovers in each direction."""

DIRECTIONS = ("to_mortise", "to_linux")
"""The directions in the order of the program."""

PROGRAM = "handover"
OVER = f"{PROGRAM}: over"


def script(changes: int) -> str:
    """The line of Linux's init that runs it."""
    return f"{PROGRAM} {changes}\n"


def rows(setting: Setting, changes: int, passages: Sequence[Passage]) -> Iterator[Row]:
    """For each direction the total, and the parts of Mortise and Linux."""
    if len(passages) != changes * len(DIRECTIONS):
        raise WorkError(f"of {changes} changes each way {len(passages)} calls were seen")
    for index, direction in enumerate(DIRECTIONS):
        taken = passages[index :: len(DIRECTIONS)]
        mortise = [passage.el2_everywhere for passage in taken]
        linux = [passage.other_everywhere for passage in taken]
        whole = [sum(pair) for pair in zip(mortise, linux, strict=True)]
        for part, values in (("whole", whole), ("mortise", mortise), ("linux", linux)):
            params = {"direction": direction} | ({} if part == "whole" else {"part": part})
            yield setting.row(("hyplet", "handover"), params, values, Kinds())
