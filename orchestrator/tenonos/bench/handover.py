"""What it takes that a CPU changes hands: from Linux to Mortise, and back.

`bench-hyplet/handover.c` makes each change in one call, between two marks, while the rest
of Linux is at rest. All cores have a part in it, Linux's hot-plug far the largest, so that what all
of them execute meanwhile counts, Mortise's part and Linux's apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tenonos.bench.reading import Setting
from tenonos.bench.row import Kinds, Row
from tenonos.errors import WorkError
from tenonos.run.plugin import Passage

CHANGES, FULL = 20, 1_000
"""Each way."""

DIRECTIONS = ("to_mortise", "to_linux")
"""As the program takes them in turn."""

PROGRAM = "handover"
OVER = f"{PROGRAM}: over"


def script(changes: int) -> str:
    """It as a line of Linux's init."""
    return f"{PROGRAM} {changes}\n"


def rows(setting: Setting, changes: int, passages: Sequence[Passage]) -> Iterator[Row]:
    """For each direction all that was executed, and of that Mortise's part and Linux's."""
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
