"""Plan of a trained reading: each claim that the pool can meet becomes a demand.

The reader proposes, and names, numbers and places are checked here: a capability is one of the
pool, a number is that of the grammar, and words stand in the objective. What is likely and not
certain becomes an assumption; what is no demand is ignored, with the reason.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tenonos.plan import exact, phrase
from tenonos.plan.contradictions import contradictory
from tenonos.plan.english.subjects import MOST, UNNAMED
from tenonos.plan.english.utilities import POWER
from tenonos.plan.models import (
    BYTES,
    CHANNEL,
    CORES,
    CPU,
    LINUX,
    NANOSECONDS,
    NATIVE,
    NO_DEMAND,
    TIMING,
    Assumption,
    Evidence,
    Guest,
    Ignored,
    Item,
    Missing,
    Plan,
    Talk,
    vms,
)
from tenonos.plan.native_tasks import does, nearest, of
from tenonos.plan.pool import Pool
from tenonos.plan.reader.reading import (
    Amount,
    Claim,
    Reading,
    Span,
    Statement,
    Task,
    Vm,
    overlap,
    span_of,
)

PLANNER = "offline"
SURE = 0.8
"""Claims of less confidence are shown as assumptions: of those above it 93 % are right."""
LEAST = 0.65
"""Capabilities of less confidence are no demands, unless exact words support them: with it more
objectives of authors that were held out are read rightly than with a higher one."""
HELD = 0.5
"""Claims of less confidence are no demands."""
LIKELY = 0.1
"""The least confidence in a capability that the rules read too."""
KINDS = ("tenon", "linux", "native")
"""The kinds of guests in the order of a plan."""
TICKLESS = "time.tickless"
OTHER = "guest.other"
PROCESS = "abi.linux"
AFFIRMED = "affirmed-when-asked"

WHY_MENTIONED = "names it, and does not demand it"
WHY_BACKGROUND = "background; nothing to compose"
WHY_OTHER = "another system"
WHY_TOLD = "addressed to the tool, which obeys no text"
WHY_APPLICATION = "your application; nothing that the pool could refuse"
_WHY = {"background": WHY_BACKGROUND, "other-system": WHY_OTHER, "instruction": WHY_TOLD}
_IN_PLAN = {
    "period": NANOSECONDS,
    "deadline": NANOSECONDS,
    "jitter": NANOSECONDS,
    "wcet": NANOSECONDS,
    "tick": NANOSECONDS,
    "ram": BYTES,
    "image": BYTES,
}
_NOT_COMPOSED = "no part of a composition; state it in system.toml"
_OF_THREADS = frozenset(
    ["sched.smp", "sched.timeslice", "sync.mutex", "sync.queue", "sync.semaphore"]
)
"""Capabilities that act between the threads of one VM."""


@dataclass
class Claims:
    """The plan of one reading in progress."""

    reading: Reading
    pool: Pool
    agreed: frozenset[str] = frozenset()
    """Capabilities that the rules read too: a claim of one is held with less confidence."""
    lacking: Mapping[str, str] = field(default_factory=dict)
    """The texts of capabilities that the pool may lack."""
    linuxes: int = 0
    """The number of Linux VMs by the rules, which count them more surely; 0 if they found none."""
    answers: Mapping[str, bool] = field(default_factory=dict)
    """The user's answers to questions about capabilities."""
    items: list[Item] = field(default_factory=list)
    """The demands; at first those that the rules read by set phrases."""
    guests: list[Guest] = field(default_factory=list)
    missing: list[Missing] = field(default_factory=list)
    ignored: list[Ignored] = field(default_factory=list)
    assumptions: list[Assumption] = field(default_factory=list)
    evidence: list[Evidence] = field(default_factory=list)
    of_vm: dict[int, list[str]] = field(default_factory=dict)
    """The guests of each VM of the reading."""
    of_task: dict[int, list[str]] = field(default_factory=dict)

    def plan(self) -> Plan:
        """The plan; nothing that was claimed is dropped silently."""
        self._guests()
        self._tasks()
        for amount in self.reading.quantities:
            self._amount(amount)
        self._count_tasks()
        for said in self.reading.capabilities:
            if said.polarity != "alternative":
                self._statement(said)
        for said in self.reading.likely:
            if said.polarity == "demanded" and self._is_named(said):
                self._demand(said)
        self._alternatives()
        self._spans()
        self._power()
        self._application_alone()
        self._applications()
        if not self.guests and not any(i.kind == "capability" for i in self.items):
            self.missing = self.missing or [Missing(source=self.reading.text.strip())]
        order = len(self.reading.text)
        self.guests.sort(key=lambda guest: KINDS.index(guest.kind))
        return Plan(
            objective=self.reading.text,
            planner=PLANNER,
            guests=self.guests,
            items=sorted(self.items, key=lambda item: item.span or (order, 0)),
            missing=list(dict.fromkeys(self.missing)),
            ignored=list(dict.fromkeys(self.ignored)),
            assumptions=self.assumptions,
            evidence=self.evidence,
            contradictory=[*contradictory(self.reading, self.items)],
        )

    # VMs and tasks

    def _guests(self) -> None:
        """The VMs and native tasks; a Linux that is named again is the same one."""
        first: int | None = None
        names = {said.name for said in self.reading.capabilities}
        native = any(
            s.name == NATIVE and s.polarity == "demanded" for s in self.reading.capabilities
        )
        for index, vm in enumerate(self.reading.vms):
            if vm.kind == "linux" and first is not None and self._is_again(vm, first):
                self.of_vm[index] = self.of_vm[first]
            elif vm.kind == "linux":
                count = vm.count
                if self.linuxes:
                    alone = sum(other.kind == "linux" for other in self.reading.vms) == 1
                    left = self.linuxes - self._linux_count()
                    count = left if alone else max(min(vm.count, left), 1)
                first = index if first is None else first
                self.of_vm[index] = self._new("linux", count, vm)
            elif vm.kind in ("tenon", "processes"):
                self.of_vm[index] = self._new("tenon", vm.count, vm)
                if vm.kind == "processes" and names.isdisjoint((PROCESS, "process")):
                    self._capability(PROCESS, vm, self.of_vm[index])
            elif vm.kind == "native" and (native or vm.confidence >= SURE):
                self.of_vm[index] = self._new("native", vm.count, vm)
            elif vm.kind == "other" and vm.confidence >= SURE and OTHER not in names:
                self.missing.append(Missing(capability=OTHER, source=vm.span))
        for said in self.reading.capabilities:
            demanded = said.name == LINUX and said.polarity == "demanded"
            if demanded and not self._linux_count() and self._is_held(said):
                self._new("linux", max(1, self.linuxes), said)

    def _is_again(self, vm: Vm, first: int) -> bool:
        if self._linux_count() == self.linuxes:
            return True
        words = set(re.findall(r"\w+", vm.span.lower()))
        before = set(re.findall(r"\w+", self.reading.vms[first].span.lower()))
        again = vm.count == 1 and not phrase.ANOTHER.search(vm.span)
        return again and words <= phrase.PLAIN | before

    def _new(self, kind: str, count: int, claim: Claim | None) -> list[str]:
        """New guests, numbered if there are several of a kind."""
        made = []
        base = UNNAMED if kind == "tenon" else kind
        for _ in range(min(count, MOST)):
            number = 1 + sum(guest.kind == kind for guest in self.guests)
            name = base if number == 1 else f"{base}-{number}"
            self.guests.append(Guest(name=name, kind=kind))  # type: ignore[arg-type]
            made.append(name)
        if kind != "tenon" and claim:
            for name in made:
                self._add("capability", LINUX if kind == "linux" else NATIVE, claim, image=name)
        return made

    def _linux_count(self) -> int:
        return sum(guest.kind == "linux" for guest in self.guests)

    def _is_held(self, said: Statement) -> bool:
        """Whether a statement is a demand: probable, or likely and supported by exact words."""
        return said.confidence >= LEAST or (said.confidence >= HELD and self._is_named(said))

    def _is_named(self, said: Statement) -> bool:
        """Whether exact words support a statement that is less probable than none."""
        if said.name in self.lacking:
            return exact.stands(said.name, self.lacking[said.name], self.reading.text)
        return said.name in self.agreed and said.confidence >= LIKELY

    @property
    def _tenons(self) -> list[str]:
        return [guest.name for guest in self.guests if guest.kind == "tenon"]

    @property
    def _timed(self) -> list[str]:
        """The VMs and native tasks with timing of their own."""
        return [guest.name for guest in self.guests if guest.kind != "linux"]

    def _tasks(self) -> None:
        """Each task in its VM; without one, in the only real-time VM, or a new one."""
        if not self._tenons and self._are_threads():
            self._new("tenon", 1, None)
        stated = self._tenons
        natives = {} if stated else nearest(self.reading, self.of_vm)
        for index, task in enumerate(self.reading.tasks):
            own = self.of_vm.get(task.vm) if task.vm is not None else None
            if own and own[0] in self._timed:
                self.of_task[index] = own
            elif index in natives:
                self.of_task[index] = natives[index]
            elif len(stated) == 1:
                self.of_task[index] = stated
            elif stated and (near := self._nearest(task, stated)):
                self.of_task[index] = [near]
            elif self._is_timed(index):
                self.of_task[index] = self._new("tenon", task.count, task)
        sure = [at for at, task in enumerate(self.reading.tasks) if task.confidence >= SURE]
        if sure and not self._timed:
            own = self._new("tenon", 1, None)
            self.of_task |= dict.fromkeys(sure, own)

    def _are_threads(self) -> bool:
        """Whether the tasks are threads of one VM: they share what only threads share, or are more
        than a system has VMs for."""
        count = sum(task.count for task in self.reading.tasks)
        shared = any(
            said.name in _OF_THREADS and said.polarity == "demanded" and self._is_held(said)
            for said in self.reading.capabilities
        )
        return count > 4 or (count > 1 and shared)

    def _is_timed(self, index: int) -> bool:
        """Whether a task has a number or a capability that makes it one of a real-time VM."""
        task = self.reading.tasks[index]
        timed = any(
            owner.task == index and amount.role in TIMING
            for amount in self.reading.quantities
            for owner in amount.owner
        )
        return timed or any(
            said.polarity == "demanded"
            and self.pool.done_by(said.name)
            and said.name != LINUX
            and overlap(span_of(said), span_of(task))
            for said in self.reading.capabilities
        )

    def _count_tasks(self) -> None:
        """A VM with several periods has as many tasks."""
        for at, guest in enumerate(self.guests):
            periods = {i.value for i in self.items if (i.kind, i.image) == ("period", guest.name)}
            if len(periods) > 1 and guest.kind == "tenon":
                self.guests[at] = guest.model_copy(update={"tasks": len(periods)})

    def _nearest(
        self, claim: Claim, names: Sequence[str], related: Sequence[str] = ()
    ) -> str | None:
        """The VM of the nearest words of a VM or task: those of the same sentence first, of these
        the ones that the reader relates."""
        best: tuple[tuple[bool, bool, bool, int, int], str] | None = None
        spoken: list[tuple[Vm | Task, list[str]]] = [
            *((self.reading.vms[at], own) for at, own in self.of_vm.items()),
            *((self.reading.tasks[at], own) for at, own in self.of_task.items()),
        ]
        for other, own in spoken:
            if not own or own[0] not in names:
                continue
            text = self.reading.text[slice(*sorted((claim.at, other.at)))]
            apart, clause = (bool(end.search(text)) for end in (phrase.SENTENCE, phrase.CLAUSE))
            key = (apart, own[0] not in related, clause, abs(claim.at - other.at), other.at)
            best = min(best or (key, own[0]), (key, own[0]))
        return best and best[1]

    # Quantities

    def _amount(self, amount: Amount) -> None:
        if amount.confidence < HELD:
            self._ignore(amount, "a number without a clear role")
            return
        owners = self._owners(amount)
        values = amount.value if isinstance(amount.value, tuple) else (amount.value,)
        if amount.role == "cpu":
            near = self._nearest(amount, [g.name for g in self.guests], owners[:1])
            for value in values if near else ():
                self._add("cores", value, amount, image=near, unit=CPU)
            if not near:
                self._ignore(amount, "the number of a core without a VM")
        elif amount.role in _IN_PLAN or (amount.role == "priority" and self._tenons):
            self._measured(amount, owners)
        elif amount.role == "cores":
            named: list[str | None] = [*owners] if len(owners) == 1 else [None]
            self._add("cores", values[0], amount, image=named[0], unit=CORES)
        elif amount.role == "vms":
            if values[0] == len(vms(self.guests)):
                self._add("vms", values[0], amount)
            elif not self.guests:
                self._new("tenon", values[0], amount)
            else:
                self._assume(amount, f"{len(self.guests)} VMs", f"{values[0]} VMs", 0.5)
        else:
            self._ignore(amount, f"{amount.role}: {_NOT_COMPOSED}")
            return
        if amount.confidence < SURE:
            self._assume(amount, amount.role, "another role of the number")

    def _owners(self, amount: Amount) -> list[str]:
        found: list[str] = []
        for owner in amount.owner:
            own = self.of_task.get(owner.task) if owner.task is not None else None
            found += own or (self.of_vm.get(owner.vm) if owner.vm is not None else None) or []
        return list(dict.fromkeys(found))

    def _measured(self, amount: Amount, owners: list[str]) -> None:
        """A time or a size, of a VM."""
        kind = amount.role
        timed = kind in (*TIMING, "tick", "image")
        if timed:
            owners = [name for name in owners if name in self._timed]
        if kind == "tick":
            owners = owners or self._tenons
        if not owners:
            names = self._timed if timed else [guest.name for guest in vms(self.guests)]
            near = names[0] if len(names) == 1 else self._nearest(amount, names)
            owners = [near] if near else names[:1]
        if not owners and timed:
            owners = self._new("tenon", 1, None)
        if kind == "ram" and self._has_other_ram(owners, amount):
            owners = self._without_ram(amount)
            if not owners:
                return
        upper = kind in ("ram", "image") and phrase.is_bound(self.reading.text, *span_of(amount))
        bound = "at-most" if upper else None
        for name in owners or [None]:  # type: ignore[list-item]
            self._add(kind, amount.value, amount, image=name, unit=_IN_PLAN.get(kind), rule=bound)

    def _has_other_ram(self, owners: Sequence[str], amount: Amount) -> bool:
        """Whether other words state another amount of memory of these VMs."""
        rams = ((i.image, i.value) for i in self.items if i.kind == "ram")
        return any(vm in owners and value != amount.value for vm, value in rams)

    def _without_ram(self, amount: Amount) -> list[str]:
        """The VM of an amount of memory that the reader gives to one with another: the nearest
        without. If all have one, the amount is no memory of a VM."""
        having = {i.image for i in self.items if i.kind == "ram"}
        free = [guest.name for guest in vms(self.guests) if guest.name not in having]
        near = self._nearest(amount, free)
        if near is None:
            self._assume(amount, NO_DEMAND, "memory of a VM", HELD)
            return []
        self._assume(amount, f"memory of {near}", "memory of another VM", HELD)
        return [near]

    # Capabilities

    def _statement(self, said: Statement) -> None:
        if said.polarity == "mentioned":
            if said.name != LINUX or not any(g.kind == "linux" for g in self.guests):
                self._ignore(said, WHY_MENTIONED)
            return
        if said.name in self.answers and said.polarity == "demanded":
            if self.answers[said.name]:
                self._demand(said)
            else:
                self._ignore(said, "denied when asked")
            return
        if not self._is_held(said):
            other = f"{said.name} forbidden" if said.polarity == "forbidden" else said.name
            self._assume(said, NO_DEMAND, other, 1 - said.confidence)
            return
        entry = self.pool.by_name.get(said.name)
        if said.polarity == "forbidden":
            if entry is None or not entry.available:
                self._ignore(said, "nothing in the pool does that, so it is left out in any case")
            else:
                self._add("forbid", said.name, said)
                if said.confidence < SURE:
                    self._assume(said, f"{said.name} forbidden", NO_DEMAND)
            return
        self._demand(said)

    def _demand(self, said: Statement) -> None:
        entry = self.pool.by_name.get(said.name)
        if entry is None or not entry.available:
            self.missing.append(Missing(capability=said.name, source=said.span))
            return
        answered = self.answers.get(said.name, False)
        if said.name != LINUX:
            self._capability(said.name, said, self._home(said), AFFIRMED if answered else None)
        if said.confidence < SURE and not answered:
            self._assume(said, said.name, NO_DEMAND)

    def _home(self, said: Statement) -> list[str]:
        """The VMs that a capability is demanded of; none where the placement decides."""
        if said.name == NATIVE and (natives := [g.name for g in of(self.guests)]):
            return natives
        inside = [
            name
            for at, own in self.of_task.items()
            if overlap(span_of(said), span_of(self.reading.tasks[at]))
            for name in own
        ]
        inside += [
            name
            for at, own in self.of_vm.items()
            if overlap(span_of(said), span_of(self.reading.vms[at]))
            for name in own
            if name in self._timed
        ]
        if inside:
            return list(dict.fromkeys(inside))
        tenons = self._timed if does(self.pool, [said.name]) else self._tenons
        near = tenons[0] if len(tenons) == 1 else self._nearest(said, tenons)
        return [near] if near else []

    def _capability(
        self, name: str, said: Claim, homes: Sequence[str], rule: str | None = None
    ) -> None:
        for home in homes or [None]:  # type: ignore[list-item]
            if not any(
                (i.kind, i.value, i.image) == ("capability", name, home) for i in self.items
            ):
                self._add("capability", name, said, image=home, rule=rule)
            if name == CHANNEL and home:
                self._talk(said, home)
        entry = self.pool.by_name[name]
        self.evidence.append(
            Evidence(
                words=said.span,
                span=span_of(said),
                capability=name,
                symbol=entry.symbol,
                score=said.confidence,
            )
        )

    def _talk(self, said: Claim, home: str) -> None:
        for at, guest in enumerate(self.guests):
            if guest.name == home:
                talk = Talk(direction="both", source=said.span, span=span_of(said))
                self.guests[at] = guest.model_copy(update={"talks": (*guest.talks, talk)})

    def _alternatives(self) -> None:
        """Of alternatives, the most probable one that the pool has."""
        said = [s for s in self.reading.capabilities if s.polarity == "alternative"]
        fit = [s for s in said if (e := self.pool.by_name.get(s.name)) and e.available]
        if not fit:
            lacking = [s for s in said if s.confidence >= SURE][:1]
            self.missing += [Missing(capability=s.name, source=s.span) for s in lacking]
            return
        best = max(fit, key=lambda s: s.confidence)
        others = ", ".join(s.name for s in said if s.name != best.name)
        self._statement(best.model_copy(update={"polarity": "demanded"}))
        if best.name == LINUX and not any(g.kind == "linux" for g in self.guests):
            self._new("linux", 1, best)
        if others:
            self._assume(best, best.name, others)

    # Other pieces

    def _spans(self) -> None:
        for span in self.reading.spans:
            if span.confidence < HELD:
                continue
            if span.kind == "utility" and span.value in ("footprint", "latency", "balance"):
                if not any(i.kind == "utility" for i in self.items):
                    self._add("utility", span.value, span)
            elif span.kind == "utility" and span.value != "power":
                self._ignore(span, f"{span.value} is no criterion yet: balance")
            elif span.kind == "application":
                if not self._tenons:
                    self._ignore(span, WHY_APPLICATION)
            elif span.kind == "conflict":
                sure = round(1 - span.confidence, 3)
                self._assume(span, "no contradiction", "a part of a contradiction", sure)
            elif why := _WHY.get(span.kind):
                self._ignore(span, why)

    def _power(self) -> None:
        """A criterion of power: a kernel without a tick, which wakes for nothing."""
        found = POWER.search(self.reading.text)
        said = next((s for s in self.reading.spans if s.value == "power"), None)
        if found and said is None:
            said = Span(kind="utility", span=found[0], at=found.start(), confidence=SURE)
        decided = any(i.value in ("time.tick", TICKLESS) for i in self.items)
        if (
            said is None
            or decided
            or any(overlap(span_of(s), span_of(said)) for s in self._asides())
        ):
            return
        homes: list[str | None] = [*self._tenons] or [None]
        for home in homes:
            self._add("capability", TICKLESS, said, image=home)
        self._assume(said, TICKLESS, "a criterion of power", HELD)

    def _asides(self) -> list[Span]:
        return [span for span in self.reading.spans if span.kind in _WHY]

    def _application_alone(self) -> None:
        """Where only criteria are said beside the user's application, it has a VM."""
        criteria = [i for i in self.items if i.kind == "utility" or i.value == TICKLESS]
        if self.guests or self.missing or not criteria or len(criteria) < len(self.items):
            return
        taken = [i.span for i in criteria if i.span]
        rest = self.reading.text
        for first, last in sorted(taken, reverse=True):
            rest = rest[:first] + " " * (last - first) + rest[last:]
        words = [m for m in phrase.NOUN.finditer(rest) if m[0].lower() not in phrase.LINKS]
        if not words:
            return
        first, last = words[0].start(), words[-1].end()
        said = Claim(span=self.reading.text[first:last], at=first, confidence=HELD)
        (name,) = self._new("tenon", 1, None)
        self.items = [
            i.model_copy(update={"image": name}) if i.kind == "capability" else i
            for i in self.items
        ]
        self._add("application", phrase.slug(said.span), said, image=name)
        if timed := phrase.REAL_TIME.search(self.reading.text):
            bound = Claim(span=timed[0], at=timed.start(), confidence=HELD)
            self._add("deadline", None, bound, image=name, unit=NANOSECONDS)
        self._assume(said, "your application in a real-time VM", NO_DEMAND)

    def _applications(self) -> None:
        """Words of the user's application, as that of the VM nearest to them."""
        for span in self.reading.spans:
            name = self._nearest(span, self._timed) if span.confidence >= SURE else None
            if span.kind == "application" and name and (value := phrase.slug(span.span)):
                self._add("application", value, span, image=name)

    # Bookkeeping

    def _add(
        self,
        kind: str,
        value: int | str | tuple[int, ...] | None,
        said: Claim,
        image: str | None = None,
        unit: str | None = None,
        rule: str | None = None,
    ) -> None:
        span = span_of(said)
        item = Item.model_validate(
            {
                "kind": kind,
                "value": value,
                "unit": unit,
                "image": image,
                "source": self.reading.text[slice(*span)],
                "span": span,
                "rule": rule,
            }
        )
        alike = ((i.kind, i.value, i.unit, i.image) for i in self.items)
        if (item.kind, item.value, item.unit, item.image) not in alike:
            self.items.append(item)

    def _ignore(self, said: Claim, why: str) -> None:
        self.ignored.append(Ignored(source=said.span, why=why))

    def _assume(
        self, said: Claim, taken_as: str, instead_of: str, confidence: float | None = None
    ) -> None:
        self.assumptions.append(
            Assumption(
                source=said.span,
                span=span_of(said),
                taken_as=taken_as,
                instead_of=instead_of,
                confidence=round(said.confidence if confidence is None else confidence, 3),
            )
        )
