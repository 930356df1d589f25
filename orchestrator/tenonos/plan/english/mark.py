"""Value type of a mark: words understood by grammar alone, with their meaning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tenonos.plan.models import Quantity

MarkKind = Literal[
    Quantity,
    "cpu",
    "own",
    "vms",
    "several",
    "count",
    "priority",
    "utility",
    "board",
    "alone",
    "rest",
    "not",
    "unwanted",
    "idiom",
    "label",
    "bare",
    "phrase",
    "gist",
    "said",
    "apart",
    "together",
    "ignored",
]


@dataclass(frozen=True)
class Mark:
    """A range of tokens [first, last) with its meaning."""

    kind: MarkKind
    first: int
    last: int
    value: int | str | None = None
    others: tuple[int, ...] = ()
    """More values of the same words: `cores 1 to 3`."""
    at_most: bool = False
    whole: bool = False
    """For cores: whether they are the machine's (`quad-core board`, `of four cores`)."""
    machine: bool = False
    """For cores: whether the machine with them is named (`quad-core board`)."""
    leads: bool = False
    """For named cores: whether their content follows: `core 2 runs ...`."""
    each: bool = False
    """Whether it applies to each of several."""
    until: int | None = None
    """The end of the words to show, if beyond `last`."""
    new: bool = False
    """For a gist: whether it is about a different VM from the preceding one."""
    denied: bool = False
    """For a gist: whether a negation precedes it."""
