"""Value types of a reading: what an objective says, each claim with its words and its confidence.

They are the labels of `bench/objectives/labelled`; its README defines each field.
"""

from __future__ import annotations

from typing import Literal

from tenonos.plan.models import Model

Polarity = Literal["demanded", "forbidden", "mentioned", "alternative"]
VmKind = Literal["tenon", "linux", "native", "processes", "other"]
Role = Literal[
    "period",
    "deadline",
    "jitter",
    "wcet",
    "tick",
    "slice",
    "budget",
    "latency",
    "ram",
    "image",
    "disk",
    "size",
    "bandwidth",
    "cores",
    "cpu",
    "priority",
    "vms",
]
"""Of a quantity."""


class Claim(Model):
    """A piece of the objective, its position in code points, and how sure the reader is."""

    span: str
    at: int
    confidence: float


def span_of(claim: Claim) -> tuple[int, int]:
    """The characters of a claim's evidence."""
    return claim.at, claim.at + len(claim.span)


def overlap(one: tuple[int, int], other: tuple[int, int]) -> bool:
    """Whether two pieces share a character."""
    return one[0] < other[1] and other[0] < one[1]


class Statement(Claim):
    """What is said of a capability."""

    name: str
    polarity: Polarity


class Vm(Claim):
    """A VM of the objective, or several alike."""

    kind: VmKind
    count: int
    name: str | None = None
    role: str | None = None


class Task(Claim):
    """A task that the user will write; `vm` is an index."""

    count: int
    vm: int | None = None


class Owner(Model):
    """A task or a VM, by index."""

    task: int | None = None
    vm: int | None = None


class Amount(Claim):
    """A quantity with its role; its value is the grammar's."""

    role: str
    value: int | tuple[int, ...]
    unit: str | None
    owner: tuple[Owner, ...] = ()
    """Empty for the system as a whole."""


class Span(Claim):
    """A piece that is no capability, quantity, VM or task; `value` for a utility."""

    kind: str
    value: str | None = None


class Reading(Model):
    """All that an objective says."""

    text: str
    capabilities: tuple[Statement, ...] = ()
    likely: tuple[Statement, ...] = ()
    """Statements less probable than none, which exact words may support."""
    vms: tuple[Vm, ...] = ()
    tasks: tuple[Task, ...] = ()
    quantities: tuple[Amount, ...] = ()
    spans: tuple[Span, ...] = ()
    cut: int | None = None
    """Where a text that is too long was cut."""
