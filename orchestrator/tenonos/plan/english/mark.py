"""A mark: words of an objective that grammar alone understands, with what they say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

MarkKind = Literal[
    "period",
    "deadline",
    "jitter",
    "wcet",
    "tick",
    "ram",
    "image",
    "cores",
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
    """Of cores: they are the machine's (`quad-core board`, `of four cores`)."""
    machine: bool = False
    """Of cores: a machine was named that has them (`quad-core board`)."""
    leads: bool = False
    """Of named cores: whether what they have follows: `core 2 runs ...`."""
    each: bool = False
    """Whether it is said of each of several."""
    until: int | None = None
    """The end of the words to show, if they go on past `last`."""
    new: bool = False
    """Of a gist: whether it is said of another VM than what was said before."""
    denied: bool = False
    """Of a gist: whether a negation stands before it."""
