"""Value types of the planner: plans, and the output of `compose --json`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from tenonos import outputs
from tenonos.plan.retrieval.retrieve import THRESHOLD, Hit

Quantity = Literal["period", "deadline", "jitter", "wcet", "tick", "ram", "image", "cores"]
"""Kinds of demands with a number."""
Kind = Literal[
    Quantity,
    "vms",
    "priority",
    "capability",
    "forbid",
    "utility",
    "board",
    "application",
]
TIMING: tuple[Kind, ...] = ("period", "deadline", "jitter", "wcet", "priority")
"""Kinds of demands on a periodic task."""
Utility = Literal["footprint", "latency", "balance"]

DISPATCH, LIFECYCLE, TEMPLATE = "virt.dispatch", "virt.lifecycle", "virt.template"
"""Capabilities for shared cores, dynamic VMs, and VMs created on demand."""
DIRECT = "virt.irq.direct"
"""The capability of interrupts without an exit."""
LINUX = "guest.linux"
CHANNEL = "ipc.channel"
"""The capability for channels between VMs."""
NATIVE = "virt.native"
"""The capability of native tasks, programs within the hypervisor."""
PROCESSES = ("process", "abi.linux")
"""Capabilities of processes: an application that does not start them has a VM of its own."""
OF_LINUX = (LIFECYCLE, TEMPLATE, "virt.detach", "virt.vlib", "virt.disk", "virt.drive")
"""Capabilities provided by a Linux VM to others, which imply one."""

NANOSECONDS, BYTES, CORES, CPU = "ns", "bytes", "cores", "cpu"
UNITS: dict[str, str] = {
    **dict.fromkeys(("period", "deadline", "jitter", "wcet", "tick"), NANOSECONDS),
    **dict.fromkeys(("ram", "image"), BYTES),
    "cores": CORES,
}


SOURCE: Any = Field(default=None, alias="from")
"""A verbatim piece of the objective: `from` in JSON, a keyword of Python."""


class Model(BaseModel):
    """Common base of the values that become JSON."""

    model_config = ConfigDict(populate_by_name=True, extra="forbid", frozen=True)

    def json_dict(self) -> dict[str, Any]:
        """The value as plain JSON types."""
        return self.model_dump(mode="json", by_alias=True)


class Item(Model):
    """One demand: stated in the objective (`from`, `span`) or a default (`rule`)."""

    kind: Kind
    value: int | str | None = None
    """None only during planning: for a bound stated without a number."""
    unit: str | None = None
    image: str | None = None
    source: str | None = SOURCE
    span: tuple[int, int] | None = None
    rule: str | None = None

    @model_validator(mode="after")
    def _has_an_origin(self) -> Item:
        if (self.source is None) != (self.span is None):
            raise ValueError("a demand has both its words and their place, or neither")
        if self.source is None and self.rule is None:
            raise ValueError("a default names its rule")
        return self

    @property
    def stated(self) -> bool:
        """Whether the user stated it."""
        return self.source is not None

    def __str__(self) -> str:
        return f"{self.kind} {self.value}" + (f" {self.unit}" if self.unit else "")


class Missing(Model):
    """A demand that the pool cannot satisfy; `capability` if the pool has a name for it."""

    capability: str | None = None
    source: str | None = SOURCE


class Ignored(Model):
    """Words judged to be no demand, with the reason."""

    source: str | None = SOURCE
    why: str


NO_DEMAND = "no demand"
"""Of an assumption: the words demand nothing."""


class Assumption(Model):
    """A reading that is likely and not certain, with its alternative."""

    source: str = SOURCE
    span: tuple[int, int] = Field(exclude=True)
    taken_as: str
    instead_of: str
    confidence: float


class Clash(Model):
    """One of a minimal set of demands that cannot be met together."""

    kind: Kind
    value: int | str
    source: str | None = SOURCE


class Evidence(Model):
    """Evidence that words mean a capability: the matching text, and the score."""

    words: str
    span: tuple[int, int]
    capability: str
    symbol: str
    score: float
    matched: list[str] = []
    path: list[tuple[str, str, str]] = []
    """Relations from the words to the symbol; none if its own text matched."""
    threshold: float = THRESHOLD
    """Threshold of the score."""

    @classmethod
    def of(cls, hit: Hit, words: str, span: tuple[int, int], capability: str) -> Evidence:
        """The evidence of a hit for words."""
        return cls(
            words=words,
            span=span,
            capability=capability,
            symbol=hit.entry.symbol,
            score=hit.evidence,
            matched=list(hit.matched),
            path=list(hit.path),
        )


Direction = Literal["to", "from", "both"]


class Talk(Model):
    """A stated exchange of messages of a VM: direction and peer."""

    direction: Direction
    peer: str | None = None
    source: str | None = SOURCE
    span: tuple[int, int] | None = None


class Guest(Model):
    """A VM or native task of the objective: name, kind and content."""

    name: str
    kind: Literal["tenon", "linux", "native"]
    interrupts: Literal["direct", "shared"] = "direct"
    """Interrupt mode of a real-time VM; a guest system always has shared interrupts."""
    made_by: str | None = None
    """For a VM created on demand: the VM that creates it."""
    asked: Item | None = None
    """The demand to create it on demand."""
    tasks: int = 1
    """The number of its periodic tasks, if it has any."""
    talks: tuple[Talk, ...] = ()


class Plan(Model):
    """A plan: a flat list of demands, each on one VM or on the whole system."""

    objective: str
    planner: str
    guests: list[Guest] = []
    items: list[Item] = []
    missing: list[Missing] = []
    ignored: list[Ignored] = []
    assumptions: list[Assumption] = []
    evidence: list[Evidence] = []
    contradictory: list[Item] = []
    """Demands that the words contradict each other in, each in its own words; none or several."""
    instead: Plan | None = None
    """Another reading of the objective, for a conflict of demands that it does not have."""

    def of(self, image: str | None, *kinds: Kind) -> list[Item]:
        """The demands of those kinds on one image (None: on the system as a whole)."""
        return [item for item in self.items if item.image == image and item.kind in kinds]


PARTITION = "virt.partition"
"""The capability of a hypervisor."""


def vms(guests: Iterable[Guest]) -> list[Guest]:
    """The guests that are VMs."""
    return [guest for guest in guests if guest.kind != "native"]


def is_bare(items: Iterable[Item]) -> bool:
    """Whether demands exclude a hypervisor."""
    return any((i.kind, i.value) == ("forbid", PARTITION) for i in items)


def shares_cores(items: Iterable[Item]) -> bool:
    """Whether demands have VMs share cores."""
    return any((i.kind, i.value) == ("capability", DISPATCH) for i in items)


def manages(items: Iterable[Item]) -> bool:
    """Whether demands have a VM manage the life cycles of others."""
    return any(i.kind == "capability" and i.value in (LIFECYCLE, TEMPLATE) for i in items)


def utility(plan: Plan) -> str:
    """The stated utility to optimise; without one, the balance."""
    stated = [str(i.value) for i in plan.items if i.kind == "utility" and i.value]
    return stated[0] if stated else "balance"


class Image(Model):
    """One image of the composition."""

    kind: Literal["mortise", "tenon", "linux", "native"]
    cpus: list[int] = []
    memory: int | None = None
    libraries: list[str] = []
    capabilities: list[str] = []
    config: dict[str, str] = {}


class Channel(Model):
    """A channel of the composition, with the words or the rule that ask for it."""

    name: str
    origin: str = Field(alias="from")
    to: str
    slots: int
    size: int
    words: str | None = None
    span: tuple[int, int] | None = None
    rule: str | None = None


class Template(Model):
    """A VM of the composition that is created on demand, with its resources."""

    name: str
    made_by: str
    cpus: list[int]
    memory: int
    reserve: int
    """Bytes of the reserve for all dynamic VMs, this one included."""
    start_on: str | None = None
    """The channel that creates it with its first message."""
    words: str | None = None
    span: tuple[int, int] | None = None


class Verdict(Model):
    """The guarantee for a VM's task; times in nanoseconds."""

    image: str
    cpus: list[int]
    period: int | None
    deadline: int | None
    wcet: int | None
    guaranteed: bool
    because: str | None = None
    """The reason, if not guaranteed."""
    response: int | None = None
    """Worst-case response time: from a release to the end of the job."""
    latency: int | None = None
    """Worst-case start latency: from a release to the start of the job."""


class Resource(Model):
    """The use of a resource by all VMs."""

    name: str
    unit: Literal["bytes", "cores", "ppm"]
    used: int
    available: int


class Analysis(Model):
    """Guarantees of a composition, their assumptions, and its use of the board."""

    tasks: list[Verdict] = []
    assumptions: list[str] = []
    resources: list[Resource] = []


class Composition(Model):
    """The planner's whole answer. Exactly one of images, conflict and missing is not empty."""

    objective: str
    planner: str
    board: str
    plan: list[Item]
    images: dict[str, Image] = {}
    conflict: list[Clash] = []
    missing: list[Missing] = []
    ignored: list[Ignored] = []
    assumptions: list[Assumption] = []
    """In JSON only if there are any."""
    reason: str = Field(default="", exclude=True)
    """The reason of a conflict, in one clause."""
    analysis: Analysis = Field(default=Analysis(), exclude=True)
    """Guarantees of the images; in `explain.json`, as the output format has no key for them."""
    channels: list[Channel] = Field(default=[], exclude=True)
    templates: list[Template] = Field(default=[], exclude=True)
    """Channels and VMs created on demand; also in `explain.json`."""
    devices: dict[str, list[str]] = Field(default={}, exclude=True)
    """The devices owned by each VM; in `system.toml`."""
    files: dict[str, str] = Field(default={}, exclude=True)
    """The files that `write` creates, by name."""

    @property
    def accepted(self) -> bool:
        """Whether there is a system to build."""
        return bool(self.images)

    def json_dict(self) -> dict[str, Any]:
        """The value as plain JSON types."""
        found = super().json_dict()
        return found if self.assumptions else {k: v for k, v in found.items() if k != "assumptions"}

    def write(self, folder: Path) -> None:
        """The composition as files: `system.toml`, one `.config` per image, `explain.json`."""
        outputs.write_folder(folder, self.files)
