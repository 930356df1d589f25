"""Attachment of quantities to VMs.

A quantity belongs to the noun that it precedes ("a 1 kHz loop", "256 MiB for Linux"), else to the
last VM named before it, of a suitable kind. A core count may be that of the machine: of two
readings, the one that uses every core is taken.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from tenonos.plan.allocate import WHOLE
from tenonos.plan.english import grammar as g
from tenonos.plan.english.elements import Cut, Element, Pronoun, Unit
from tenonos.plan.english.mark import Mark
from tenonos.plan.english.subjects import MOST, UNNAMED, Subject, Subjects, is_company
from tenonos.plan.english.text import Token

TIMING = ("period", "deadline", "jitter", "wcet", "tick", "priority", "image")
_BEFORE = frozenset("at with once is are".split())
"""Words between a verb and its rate."""
ATTACHED = (*TIMING, "ram", "cores", "cpu", "own", "rest", "vms")


@dataclass(frozen=True)
class Attachment:
    """A quantity with the images it applies to (None: the system)."""

    mark: Mark
    images: tuple[str | None, ...]
    rule: str | None = None


def attach(
    elements: Sequence[Element], subjects: Subjects, cpus: int, each: bool = False
) -> list[Attachment]:
    """Every quantity with its VM; `each`: whether a demand applies to each of several."""
    subjects.name_all()
    work = _Attacher(elements, subjects, cpus, each)
    work.count_out()
    marks = ((at, e) for at, e in enumerate(elements) if isinstance(e, Mark))
    return [*_own_first([found for at, mark in marks for found in work.one(at, mark)])]


def _own_first(attachments: Sequence[Attachment]) -> Iterator[Attachment]:
    """The quantities, with the memory of each VM not for those with an amount of their own: `Linux
    with 512 MiB, two loops with 32 MiB each`."""
    own = {
        name
        for found in attachments
        if found.mark.kind == "ram" and not found.mark.each
        for name in found.images
    }
    for found in attachments:
        others = tuple(name for name in found.images if name not in own)
        each = found.mark.each and found.mark.kind == "ram"
        yield replace(found, images=others) if each and others else found


class _Attacher:
    def __init__(
        self, elements: Sequence[Element], subjects: Subjects, cpus: int, each: bool
    ) -> None:
        self.each = each
        self.elements = elements
        self.subjects = subjects
        self.cpus = cpus
        self._timing: dict[tuple[int, str], list[Mark]] = {}
        self._parts: set[int] = set()
        """Ends of core counts that are parts of the machine's."""
        self._own: set[int] = set()
        """Subjects with their own core count."""
        self._spread: list[Mark] = []
        """Counts of VMs that apply to one subject."""
        for at, element in enumerate(elements):
            if isinstance(element, Mark) and element.kind in TIMING:
                subject = self._subject(at, timing=True)
                self._timing.setdefault((id(subject), element.kind), []).append(element)
            elif isinstance(element, Mark) and element.kind == "ram":
                subject = self._subject(at, timing=False)
                self._timing.setdefault((id(subject), element.kind), []).append(element)

    def count_out(self) -> None:
        """Count subjects by periods: `control loops at 1 kHz and 4 kHz`."""
        for subject in self.subjects.tenons:
            periods = self._timing.get((id(subject), "period"), [])
            many = subject.plural or (subject.base == UNNAMED and len(self.subjects.tenons) == 1)
            if many and subject.count == 1 and len(periods) > 1:
                subject.count = len(periods)
        for at, element in enumerate(self.elements):
            if isinstance(element, Mark) and element.kind in ("vms", "several"):
                self._spread_out(at, element)
        self.subjects.name_all()

    def _spread_out(self, at: int, mark: Mark) -> None:
        """Distribute a subject over VMs: `a control loop in two partitions`."""
        before = [s for s in self.subjects.all if s.at < at]
        if len(before) == 1 and before[0].count == 1 and before[0].kind == "tenon":
            between = self.elements[before[0].at + 1 : at]
            if not any(isinstance(element, Cut) for element in between):
                before[0].count = min(int(mark.value or 1), MOST)
                self._spread.append(mark)
                return
        # "Two VMs run a loop each", "two VMs for Linux", "two VMs that regulate".
        if self._lists(at):
            return  # "three VMs: Linux, a loop and a shell, each on its own core"
        sole = self.subjects.tenons[0] if len(self.subjects.tenons) == 1 else None
        subject = (
            self._named_after(at)
            or self._holds(at)
            or (sole if self.each or self._told_of(at) else None)
        )
        # "One loop per VM, two VMs": the number may come last.
        later = (self.each or self._told_of(at)) and subject is sole and len(self.subjects.all) == 1
        if subject and subject.count == 1 and (subject.at > at or later):
            subject.count = min(int(mark.value or 1), MOST)
            self._spread.append(mark)

    def _lists(self, at: int) -> bool:
        """Whether counted VMs are enumerated: `three VMs: Linux, a loop and a shell`."""
        marks = ("count", "own", "cores", "idiom")
        behind = (e for e in self.elements[at + 1 :] if getattr(e, "kind", None) not in marks)
        after = next(behind, None)
        return isinstance(after, Cut) and after.word == ":" and len(self.subjects.all) > 1

    def _holds(self, at: int) -> Subject | None:
        """The content of separately counted VMs: `two VMs with Linux and one VM with a loop`."""
        marks = [e for e in self.elements if isinstance(e, Mark)]
        counted = sum(m.kind == "vms" or (m.kind == "idiom" and m.value == 1) for m in marks)
        following = next(iter(self.elements[at + 1 : at + 2]), None)
        if counted < 2 or not isinstance(following, Cut) or following.word != "with":
            return None
        return self._next(at + 1, False, (None,))

    def _told_of(self, at: int) -> bool:
        """Whether the following words describe the counted VMs."""
        after = next(iter(self.elements[at + 1 : at + 2]), None)
        if isinstance(after, Mark):
            return after.kind == "gist" and len(self.subjects.all) == 1
        return isinstance(after, Cut) and after.word in g.RELATIVE

    def one(self, at: int, mark: Mark) -> list[Attachment]:
        if mark.kind not in ATTACHED:
            return []
        if mark.kind == "vms":
            real_time = mark.until and mark.value == sum(s.count for s in self.subjects.tenons)
            return [] if mark in self._spread or real_time else [Attachment(mark, (None,))]
        if mark.each and mark.kind in ("cores", "own", "ram"):
            several = self._several_before(at)
            subjects = [several] if several else self.subjects.ordered
            names = [name for subject in subjects for name in subject.names]
            self._own |= {id(subject) for subject in subjects}
            return [Attachment(mark, tuple(names))]
        if mark.kind == "cores":
            attached = self._cores(at, mark)
            if mark.until and attached.images == (None,):
                self._parts.add(mark.until)
            # "Use two of the four cores": those four are not all used.
            return [] if mark.whole and mark.last in self._parts else [attached]
        if mark.kind == "cpu" and mark.leads:
            subject = self._next(self._behind_colon(at), False, (None, "to", "for"))
        elif mark.kind == "cpu":  # "... on core 3": the subject precedes
            subject = self._named_after(at) or self._preceding(at, False)
        elif mark.kind == "own":
            subject = self._owner(at)
        else:
            subject = None
        subject = subject or self._subject(at, mark.kind in TIMING)
        if subject is None:
            return [Attachment(mark, (None,))]
        if mark.kind in TIMING or mark.kind == "ram":
            return [Attachment(mark, self._share(subject, mark))]
        if mark.kind in ("cpu", "own"):
            self._own.add(id(subject))
        cores = (mark.value, *mark.others)
        if mark.kind == "cpu" and len(cores) == len(subject.names) > 1:
            one = [replace(mark, value=core, others=()) for core in cores]
            names = [(name,) for name in subject.names]
            return [Attachment(*pair) for pair in zip(one, names, strict=True)]
        return [Attachment(mark, tuple(subject.names))]

    def _behind_colon(self, at: int) -> int:
        """The start of the text after a mark and colon: `core 3: a loop`."""
        after = self.elements[at + 1] if at + 1 < len(self.elements) else None
        return at + (isinstance(after, Cut) and after.word == ":")

    def _several_before(self, at: int) -> Subject | None:
        """The subject of `each`, if counted just before: `two loops on one core each`."""
        subject = self._preceding(at, timing=False)
        return subject if subject and subject.count > 1 else None

    def _owner(self, at: int) -> Subject | None:
        """The VM with a core of its own: the noun just before, else the real-time VM.

        Between commas it is the following noun: `and, on a core of its own, a loop`.
        """
        fenced = self.elements[max(0, at - 1)], *self.elements[at + 1 : at + 2]
        apart = len(fenced) == 2 and all(isinstance(e, Cut) and e.word == "," for e in fenced)
        if apart and at and (subject := self._next(at + 1, False, (None,))):
            return subject
        for position in range(at - 1, -1, -1):
            if isinstance(self.elements[position], Cut):
                break
            if subject := self.subjects.of(position):
                return subject
        return self._preceding(at, timing=True)

    def _share(self, subject: Subject, mark: Mark) -> tuple[str, ...]:
        """Distribute several periods or budgets over several equal VMs, in order."""
        alike = self._timing.get((id(subject), mark.kind), [])
        if len(alike) == len(subject.names) > 1 and mark in alike:
            return (subject.names[alike.index(mark)],)
        return tuple(subject.names)

    def _cores(self, at: int, mark: Mark) -> Attachment:
        if (sole := self._sole()) and int(mark.value or 0) > 1 and not mark.machine:
            self._own.add(id(sole))
            return Attachment(mark, tuple(sole.names))
        if mark.whole:
            return Attachment(mark, (None,), WHOLE if mark.machine else None)
        before = self._directly_before(at)
        after = self._named_after(at)
        subject = after or before or self._preceding(at, timing=False)
        if subject is None:
            # At the start ("on four cores, ..."): about the whole system.
            return Attachment(mark, (None,))
        if after is None and self._is_whole(at, mark, subject):
            return Attachment(mark, (None,), None)
        apart = subject.kind == "tenon" and after is None and before is None
        if apart and not self._single(mark) and not self._leaves_enough(mark):
            return Attachment(mark, (None,), None)
        self._own.add(id(subject))
        return Attachment(mark, tuple(subject.names))

    def _sole(self) -> Subject | None:
        """The real-time VM that is alone in the system."""
        named = self.subjects.all
        only = named[0] if len(named) == 1 else None
        return only if only and only.kind == "tenon" and only.count == 1 else None

    def _leaves_enough(self, mark: Mark) -> bool:
        """Whether the cores suffice for a multi-core real-time VM and all other VMs."""
        others = sum(s.count for s in self.subjects.all) - 1
        one = sum(s.count for s in self.subjects.tenons) == 1
        value = int(mark.value or 0)
        return one and 1 < value <= self.cpus - others

    def _single(self, mark: Mark) -> bool:
        """Whether a single core is a VM's own, with other VMs present."""
        return mark.value == 1 and len(self.subjects.all) > 1

    def _is_whole(self, at: int, mark: Mark, subject: Subject) -> bool:
        """Whether a count after a guest is the machine's (`beside Linux on four cores`)."""
        if subject.kind == "tenon":
            return False
        real_time = sum(s.count for s in self.subjects.tenons)
        value = int(mark.value or 0)
        if value + real_time > self.cpus:
            # It cannot be the guest's alone, unless stated explicitly.
            if not is_company(subject) and self._apart():
                return False
            return any(s.at < subject.at for s in self.subjects.tenons) or value == self.cpus
        others_own = any(id(s) in self._own for s in self.subjects.tenons)
        fills = value + real_time == self.cpus
        return is_company(subject) and bool(real_time) and not others_own and not fills

    def _apart(self) -> bool:
        """Whether a real-time VM is demanded on cores without guests."""
        owners = (
            self._owner(at)
            for at, e in enumerate(self.elements)
            if isinstance(e, Mark) and (e.kind == "own" or (e.kind == "cores" and not e.whole))
        )
        return any(owner and owner.kind == "tenon" for owner in owners)

    def _subject(self, at: int, timing: bool) -> Subject | None:
        return (
            self._named_after(at, timing)
            or self._directly_before(at, timing)
            or self._preceding(at, timing)
            or self._following(at, timing)
        )

    def _named_after(self, at: int, timing: bool = False) -> Subject | None:
        """`256 MiB for Linux`, `three cores to Linux`."""
        return self._next(at, timing, ("for", "to"))

    def _directly_before(self, at: int, timing: bool = False) -> Subject | None:
        """`a 1 kHz loop`, `two-core Linux`."""
        return self._next(at, timing, (None,))

    def _next(self, at: int, timing: bool, prepositions: Sequence[str | None]) -> Subject | None:
        for position in range(at + 1, len(self.elements)):
            element = self.elements[position]
            if isinstance(element, Cut):
                return None
            if isinstance(element, Pronoun):
                return self.subjects.of(position) if None in prepositions else None
            if not isinstance(element, Unit):
                continue
            subject = self.subjects.of(position)
            if subject is None or (timing and subject.kind != "tenon"):
                return None
            return subject if element.chunks[0].preposition in prepositions else None
        return None

    def _preceding(self, at: int, timing: bool) -> Subject | None:
        for position in range(at - 1, -1, -1):
            subject = self.subjects.of(position)
            if subject and not (timing and subject.kind != "tenon"):
                return subject
        return None

    def _following(self, at: int, timing: bool) -> Subject | None:
        for position in range(at + 1, len(self.elements)):
            subject = self.subjects.of(position)
            if subject and not (timing and subject.kind != "tenon"):
                return subject
        return next((s for s in self.subjects.tenons), None) if timing else None


def verbs_of(
    subjects: Sequence[Subject], elements: Sequence[Element], words: Sequence[Token]
) -> Iterator[tuple[int, int]]:
    """The places of otherwise unknown VMs, with the verb that their rate belongs to."""
    marks = [(i, e) for i, e in enumerate(elements) if isinstance(e, Mark) and e.kind == "period"]
    for subject in [each for each in subjects if not each.apps]:
        behind = [mark for at, mark in marks if at > subject.at] or [m for _, m in marks[-1:]]
        at = behind[0].first - 1 if behind else 0
        while at > 0 and words[at].word in _BEFORE:
            at -= 1
        if behind and at >= 0 and words[at].word in g.RATE_VERBS:
            yield subject.at, at
