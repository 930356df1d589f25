"""Validation of a reply: each claim against the words it refers to, and against known names.

Valid claims become the plan; for each other one a complaint goes back to the model. Claims that
remain invalid are pruned: their words are then reported as missing, or as ignored if another claim
covers them. No number or name of a model is used unchecked.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypeVar

from tenonos.plan.llm.reply import Claim, Remark, Reply, shown
from tenonos.plan.llm.words import Span, Words
from tenonos.plan.models import CPU, UNITS, Evidence, Guest, Ignored, Item, Kind, Missing, Plan
from tenonos.plan.pool import Pool
from tenonos.plan.retrieval.knowledge import GUEST

T = TypeVar("T")
PLANNER = "llm"
NAMED = ("capability", "forbid", "utility", "board")
OF_ONE = ("period", "deadline", "jitter", "wcet", "image", "ram", "core")
"""Kinds of demands on a VM; all but the last two on a real-time one."""
UTILITIES = ("footprint", "latency", "balance")


class Refused(Exception):
    """An invalid claim; the message is the complaint."""


@dataclass(frozen=True)
class Complaint:
    """The error of a claim, with the words concerned if they occur."""

    text: str
    span: Span | None = None
    why: str = ""
    """The reason why the words are no demand, if that is the error."""


@dataclass
class Checked:
    """The valid and invalid claims of a reply."""

    objective: str
    guests: list[Guest] = field(default_factory=list)
    items: list[Item] = field(default_factory=list)
    missing: list[tuple[Span, str | None]] = field(default_factory=list)
    ignored: list[tuple[Span, str]] = field(default_factory=list)
    evidence: list[Evidence] = field(default_factory=list)
    complaints: list[Complaint] = field(default_factory=list)

    def plan(self) -> Plan:
        """The plan without invalid claims; no words of the objective are lost."""
        missing, ignored = list(self.missing), list(self.ignored)
        for complaint in self.complaints:
            if complaint.span is None:
                continue
            if complaint.why or self.covers(complaint.span):
                ignored.append((complaint.span, complaint.why or complaint.text))
            else:
                missing.append((complaint.span, None))
        if not self.guests and not missing and self.objective.strip():
            missing.append(((0, len(self.objective)), None))
        return Plan(
            objective=self.objective,
            planner=PLANNER,
            guests=self.guests,
            items=sorted(self.items, key=lambda item: item.span or (0, 0)),
            missing=[Missing(capability=c, source=self._at(s)) for s, c in _once(missing)],
            ignored=[Ignored(source=self._at(s), why=why) for s, why in _once(ignored)],
            evidence=self.evidence,
        )

    def covers(self, span: Span) -> bool:
        """Whether a valid claim refers to a place, or to a part of it."""
        spans = [item.span for item in self.items if item.span]
        spans += [s for s, _ in self.missing] + [s for s, _ in self.ignored]
        return any(_overlap(span, other) for other in spans)

    def _at(self, span: Span) -> str:
        return self.objective[slice(*span)]


class Checker:
    """The validation of one reply."""

    def __init__(self, words: Words, pool: Pool, boards: Iterable[str]) -> None:
        self.words = words
        self.pool = pool
        self.boards = tuple(boards)
        self.found = Checked(words.text, ignored=list(words.idle))
        self.handles: dict[str, Guest] = {}
        self._taken: dict[str, set[Span]] = {}

    def check(self, reply: Reply) -> Checked:
        """Validate a reply."""
        linuxes = sum(vm.kind == "linux" for vm in reply.vms)
        for vm in reply.vms:
            try:
                span = self._span("vm", vm.words)
                if vm.name in self.handles:
                    raise Refused(f"two VMs have the name “{shown(vm.name)}”")
                self._guest(vm.name, vm.kind, linuxes > 1, span)
            except Refused as refused:
                self._complain(refused, vm.words)
        for claim in reply.demands:
            try:
                self._claim(claim)
            except Refused as refused:
                self._complain(refused, claim.words)
        for remark in reply.missing:
            self._remark(remark, missing=True)
        for remark in reply.ignored:
            self._remark(remark, missing=False)
        self._nothing_left_out()
        return self.found

    # Claims

    def _guest(self, handle: str, kind: str, several: bool, span: Span) -> None:
        """A VM with a name of ours."""
        number = 1 + sum(guest.kind == kind for guest in self.found.guests)
        if kind == "linux":
            guest = Guest(name=f"linux-{number}" if several else "linux", kind="linux")
            value = f"{GUEST}{guest.kind}"
            self._available(value)
            self._add("capability", value, guest.name, span)
        else:
            guest = Guest(name=f"vm-{number}", kind="tenon")
        self.handles[handle] = guest
        self.found.guests.append(guest)

    def _claim(self, claim: Claim) -> None:
        span = self._span(claim.kind, claim.words)
        guest = self._owner(claim)
        if claim.kind in NAMED:
            value = self._name(claim, span)
            if value is not None:
                kept = guest.name if guest and claim.kind == "capability" else None
                self._add(_kind(claim), value, kept, span)
            return
        number = self.words.value(claim.kind, span)
        if number is None and (claim.kind != "jitter" or self.words.has_number(span)):
            raise Refused(f"our grammar finds no single, complete {claim.kind} there")
        rule = "at-most" if claim.at_most and claim.kind in ("ram", "image") else None
        owner = guest.name if guest and claim.kind != "vms" else None
        self._add(_kind(claim), number, owner, span, rule, CPU if claim.kind == "core" else None)

    def _owner(self, claim: Claim) -> Guest | None:
        """The VM that a claim refers to."""
        guest = self.handles.get(claim.vm) if claim.vm is not None else None
        if claim.vm is not None and guest is None:
            raise Refused(f"there is no VM “{shown(claim.vm)}” in vms")
        if claim.kind in OF_ONE and guest is None:
            raise Refused(f"a {claim.kind} is that of one VM: name it")
        timing = claim.kind in OF_ONE[:-2] or claim.kind == "capability"
        if timing and guest and guest.kind == "linux":
            raise Refused(f"a {claim.kind} does not apply to a Linux VM")
        return guest

    def _name(self, claim: Claim, span: Span) -> str | None:
        """The name in a claim if it exists; None if it is missing from the pool."""
        name = claim.name or ""
        if claim.kind in ("utility", "board"):
            known = UTILITIES if claim.kind == "utility" else self.boards
            if name not in known:
                raise Refused(f"“{shown(name)}” is none of {', '.join(known)}")
            return name
        entry = self.pool.by_name.get(name)
        if entry is None or entry.kind == "board":
            raise Refused(f"“{shown(name)}” is not in the vocabulary")
        if claim.kind == "capability" and name.startswith(GUEST):
            raise Refused("a guest system belongs in vms")
        if claim.kind == "capability" and not entry.available:
            self.found.missing.append((span, name))
            return None
        self._note(name, entry.symbol, span)
        return name

    def _available(self, name: str) -> None:
        entry = self.pool.by_name.get(name)
        if entry is None or not entry.available:
            raise Refused(f"the pool has no {name}")

    def _remark(self, remark: Remark, missing: bool) -> None:
        try:
            span = self._span("missing" if missing else "ignored", remark.words)
        except Refused as refused:
            self._complain(refused, remark.words)
            return
        if missing:
            self.found.missing.append((span, None))
        else:
            self.found.ignored.append((span, shown(remark.why) or "no demand"))

    def _nothing_left_out(self) -> None:
        """Complain about numbers that are neither demands nor said not to be."""
        for span in self.words.numbers():
            complained = any(c.span and _overlap(c.span, span) for c in self.found.complaints)
            if not complained and not self.found.covers(span):
                self.found.complaints.append(
                    Complaint(f"nothing points at “{self.words.text[slice(*span)]}”", span)
                )

    # Words

    def _span(self, kind: str, words: str) -> Span:
        """The place of words: of several, the first without a claim of the same kind."""
        places = self.words.places(words)
        if not places:
            raise Refused("it is not in the objective verbatim, in whole words")
        taken = self._taken.setdefault(kind, set())
        live = [p for p in places if not any(_overlap(p, idle) for idle, _ in self.words.idle)]
        if not live and kind not in ("missing", "ignored"):
            raise Refused(self._idle(places[0]))
        choice = live or places
        span = next((place for place in choice if place not in taken), choice[0])
        taken.add(span)
        return span

    def _idle(self, span: Span) -> str:
        return next(why for idle, why in self.words.idle if _overlap(idle, span))

    def _complain(self, refused: Refused, words: str) -> None:
        places = self.words.places(words)
        why = str(refused) if str(refused) in {why for _, why in self.words.idle} else ""
        text = f"“{shown(words)}”: {refused}"
        self.found.complaints.append(Complaint(text, places[0] if places else None, why))

    # Bookkeeping

    def _add(
        self,
        kind: Kind,
        value: int | str | None,
        image: str | None,
        span: Span,
        rule: str | None = None,
        unit: str | None = None,
    ) -> None:
        source = self.words.text[slice(*span)]
        item = Item(
            kind=kind, value=value, unit=unit or UNITS.get(kind), image=image, source=source,
            span=span, rule=rule,
        )  # fmt: skip
        alike = [(i.kind, i.value, i.unit, i.image) for i in self.found.items]
        if (item.kind, item.value, item.unit, item.image) not in alike:
            self.found.items.append(item)

    def _note(self, name: str, symbol: str, span: Span) -> None:
        """The evidence in the pool's texts for the model's reading, if any."""
        words = self.words.text[slice(*span)]
        hits = self.pool.retriever.search(words.lower().split())
        hit = next((h for h in hits if symbol in (h.entry.symbol, *h.entry.provides)), None)
        self.found.evidence.append(
            Evidence(
                words=words,
                span=span,
                capability=name,
                symbol=symbol,
                score=hit.evidence if hit else 0.0,
                matched=list(hit.matched) if hit else [],
            )
        )


def _kind(claim: Claim) -> Kind:
    return "cores" if claim.kind == "core" else claim.kind


def _overlap(one: Span, other: Span) -> bool:
    return one[0] < other[1] and other[0] < one[1]


def _once(pairs: Iterable[tuple[Span, T]]) -> list[tuple[Span, T]]:
    """The first item of each place, in the order of the text."""
    first: dict[Span, T] = {}
    for span, value in pairs:
        first.setdefault(span, value)
    return sorted(first.items(), key=lambda pair: pair[0])
