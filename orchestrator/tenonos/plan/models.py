"""The planner's typed values: what `compose --json` prints, and what plans are made of."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from tenonos import outputs
from tenonos.plan.retrieval.retrieve import THRESHOLD, Hit

Kind = Literal[
    "period",
    "deadline",
    "jitter",
    "wcet",
    "tick",
    "ram",
    "image",
    "cores",
    "vms",
    "priority",
    "capability",
    "forbid",
    "utility",
    "board",
]
TIMING: tuple[Kind, ...] = ("period", "deadline", "jitter", "wcet")
"""What is told of a periodic task."""
Utility = Literal["footprint", "latency", "balance"]

DISPATCH, LIFECYCLE, TEMPLATE = "virt.dispatch", "virt.lifecycle", "virt.template"
"""The capabilities by which VMs share cores, come and go, and are made on demand."""
CHANNEL = "ipc.channel"
"""The capability by which VMs talk."""
NATIVE = "virt.native"
"""The capability of programs that are the hypervisor's own."""
OF_LINUX = (LIFECYCLE, TEMPLATE, "virt.detach", "virt.vlib")
"""The capabilities that are about what a Linux does for others, which is there then."""

NANOSECONDS, BYTES, CORES, CPU = "ns", "bytes", "cores", "cpu"
UNITS: dict[str, str] = {
    **dict.fromkeys(("period", "deadline", "jitter", "wcet", "tick"), NANOSECONDS),
    **dict.fromkeys(("ram", "image"), BYTES),
    "cores": CORES,
}


SOURCE: Any = Field(default=None, alias="from")
"""A verbatim piece of the objective: `from` in JSON, which Python has taken."""


class Model(BaseModel):
    """Common base of the values that become JSON."""

    model_config = ConfigDict(populate_by_name=True, extra="forbid", frozen=True)

    def json_dict(self) -> dict[str, Any]:
        """The value as JSON knows it."""
        return self.model_dump(mode="json", by_alias=True)


class Item(Model):
    """One demand: stated in the objective (`from`, `span`) or a default (`rule`)."""

    kind: Kind
    value: int | str | None = None
    """None only while a plan is being made: a bound was asked for and no number given."""
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
        """Whether the user said so."""
        return self.source is not None

    def __str__(self) -> str:
        return f"{self.kind} {self.value}" + (f" {self.unit}" if self.unit else "")


class Missing(Model):
    """A demand nothing in the pool meets; `capability` if the pool at least has a name for it."""

    capability: str | None = None
    source: str | None = SOURCE


class Ignored(Model):
    """Words judged to be no demand, and why."""

    source: str | None = SOURCE
    why: str


class Clash(Model):
    """One of a minimal set of demands that cannot hold together."""

    kind: Kind
    value: int | str
    source: str | None = SOURCE


class Evidence(Model):
    """Why words were taken to mean a capability: the text that matched, and how well."""

    words: str
    span: tuple[int, int]
    capability: str
    symbol: str
    score: float
    matched: list[str] = []
    path: list[tuple[str, str, str]] = []
    """The relations that led from the words to the symbol; none if its own text did."""
    threshold: float = THRESHOLD
    """The least score that counts."""

    @classmethod
    def of(cls, hit: Hit, words: str, span: tuple[int, int], capability: str) -> Evidence:
        """What a hit tells of words."""
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
    """What an objective says of a VM's exchange with another: which way, with whom."""

    direction: Direction
    peer: str | None = None
    source: str | None = SOURCE
    span: tuple[int, int] | None = None


class Guest(Model):
    """A VM the objective calls for: its name, its kind and how it is to be filled."""

    name: str
    kind: Literal["tenon", "linux"]
    interrupts: Literal["direct", "shared"] = "direct"
    """How a real-time VM takes them; a guest system always shares."""
    made_by: str | None = None
    """Of one that is not there at boot: the VM that has it made."""
    asked: Item | None = None
    """The demand that it is made so."""
    tasks: int = 1
    """How many periodic tasks of its own it has, if it has any."""
    talks: tuple[Talk, ...] = ()


class Plan(Model):
    """An objective understood: flat demands, each of one guest or of the whole system."""

    objective: str
    planner: str
    guests: list[Guest] = []
    items: list[Item] = []
    missing: list[Missing] = []
    ignored: list[Ignored] = []
    evidence: list[Evidence] = []

    def of(self, image: str | None, *kinds: Kind) -> list[Item]:
        """The demands of those kinds on one image (None: on the system as a whole)."""
        return [item for item in self.items if item.image == image and item.kind in kinds]


PARTITION = "virt.partition"
"""The capability of a hypervisor, whoever runs on it."""


def is_bare(items: Iterable[Item]) -> bool:
    """Whether demands leave no hypervisor."""
    return any((i.kind, i.value) == ("forbid", PARTITION) for i in items)


def shares_cores(items: Iterable[Item]) -> bool:
    """Whether demands have VMs share cores."""
    return any((i.kind, i.value) == ("capability", DISPATCH) for i in items)


def manages(items: Iterable[Item]) -> bool:
    """Whether demands have a VM manage the life cycles of others."""
    return any(i.kind == "capability" and i.value in (LIFECYCLE, TEMPLATE) for i in items)


def utility(plan: Plan) -> str:
    """What matters most of what the demands leave open: as stated, or else all of it."""
    stated = [str(i.value) for i in plan.items if i.kind == "utility" and i.value]
    return stated[0] if stated else "balance"


class Image(Model):
    """One image of the composition."""

    kind: Literal["mortise", "tenon", "linux"]
    cpus: list[int] = []
    memory: int | None = None
    libraries: list[str] = []
    capabilities: list[str] = []
    config: dict[str, str] = {}


class Channel(Model):
    """A channel of the composition, and what it was made of: words, or a rule."""

    name: str
    origin: str = Field(alias="from")
    to: str
    slots: int
    size: int
    words: str | None = None
    span: tuple[int, int] | None = None
    rule: str | None = None


class Template(Model):
    """A VM of the composition that is made on demand, and what it is granted."""

    name: str
    made_by: str
    cpus: list[int]
    memory: int
    reserve: int
    """Bytes of all VMs made at run time, in which this one's memory is."""
    start_on: str | None = None
    """The channel whose first message makes it."""
    words: str | None = None
    span: tuple[int, int] | None = None


class Verdict(Model):
    """What is guaranteed of a VM's task: times in nanoseconds."""

    image: str
    cpus: list[int]
    period: int | None
    deadline: int | None
    wcet: int | None
    guaranteed: bool
    because: str | None = None
    """Why not."""
    response: int | None = None
    """From a release to the end of its work at most."""
    latency: int | None = None
    """From a release to the beginning of its work at most."""


class Resource(Model):
    """How much of something the VMs take together."""

    name: str
    unit: Literal["bytes", "cores", "ppm"]
    used: int
    available: int


class Analysis(Model):
    """What a composition guarantees, what that rests on, and what it takes of the board."""

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
    reason: str = Field(default="", exclude=True)
    """Of a conflict: why, in one clause."""
    analysis: Analysis = Field(default=Analysis(), exclude=True)
    """Of images: what they guarantee. `explain.json` has it, as the contract has no key for it."""
    channels: list[Channel] = Field(default=[], exclude=True)
    templates: list[Template] = Field(default=[], exclude=True)
    """What of the VMs talks, and what is made on demand; in `explain.json` too."""
    devices: dict[str, list[str]] = Field(default={}, exclude=True)
    """The devices of the board that are each VM's own; in `system.toml`."""
    files: dict[str, str] = Field(default={}, exclude=True)
    """What `write` puts into the folder, by file name."""

    @property
    def accepted(self) -> bool:
        """Whether there is a system to build."""
        return bool(self.images)

    def write(self, folder: Path) -> None:
        """The composition as files: `system.toml`, one `.config` per image, `explain.json`."""
        with outputs.writing(folder):
            folder.mkdir(parents=True, exist_ok=True)
            for name, text in self.files.items():
                file = folder / name
                # Somebody may be reading what stays as it is.
                if not file.exists() or file.read_text() != text:
                    file.write_text(text)
