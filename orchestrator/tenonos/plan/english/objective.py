"""Reader of one objective, from text to plan.

Every word ends up in exactly one place: a demand that refers to it, `missing`, `ignored` with a
reason, or the grammar of its sentence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tenonos.plan.english import grammar as g
from tenonos.plan.english.attach import Attachment, attach, verbs_of
from tenonos.plan.english.denials import denials
from tenonos.plan.english.elements import Pronoun, Unit
from tenonos.plan.english.mark import Mark
from tenonos.plan.english.marker import Marker
from tenonos.plan.english.meaning import Meaning
from tenonos.plan.english.phrases import Segmenter
from tenonos.plan.english.plan_items import Notebook
from tenonos.plan.english.rates import does_more
from tenonos.plan.english.relations import (
    Mention,
    Relations,
    distributes,
    made,
    names_its_own,
    put_apart,
    told_of_guest,
)
from tenonos.plan.english.sense import Sense, same_sentence
from tenonos.plan.english.subjects import MOST, Subject, Subjects
from tenonos.plan.english.text import tokens
from tenonos.plan.english.unmatched import (
    Open,
    carriers,
    counts_real_time,
    leftover,
    stray,
    within_gist,
    without_tasks,
)
from tenonos.plan.models import (
    CHANNEL,
    TEMPLATE,
    UNITS,
    Guest,
    Ignored,
    Kind,
    Missing,
    Plan,
    Talk,
)
from tenonos.plan.retrieval.knowledge import GUEST
from tenonos.plan.retrieval.retrieve import Hit, Retriever

PLANNER = "offline"


class Reader(Notebook):
    """A reader of one objective."""

    def __init__(
        self,
        text: str,
        retriever: Retriever,
        cpus: int,
        boards: Sequence[str] = (),
        tasks: bool = False,
    ) -> None:
        super().__init__(text, tokens(text))
        self.meaning = Meaning(retriever, tasks)
        self.cpus = cpus
        marks = Marker(text, self.words, boards, retriever.gists, retriever.knows).run()
        if tasks:  # "two periodic tasks": a noun with its number
            marks = without_tasks(marks, self.words)
        segmenter = Segmenter(self.words, marks, tasks)
        self.elements = segmenter.run()
        self.periods = periods = sum(mark.kind == "period" for mark in marks)
        self.subjects = Subjects(self.meaning, self.elements, periods)
        uncounted = stray(segmenter.stray, self.words, self.elements, periods)
        self.missing: list[Missing] = [Missing(source=self._shown(m)) for m in uncounted]
        self.ignored: list[Ignored] = []
        self._demands: list[tuple[Sense, Subject | None]] = []
        self._made: list[tuple[int, Sense]] = []
        self._places: list[tuple[int, Sense]] = []
        self._mentions: list[Mention] = []
        self._talks: dict[str, list[Talk]] = {}
        self._alone: Mark | None = None
        self._open: list[Open] = []

    def read(self) -> Plan:
        """The plan."""
        for position, element in enumerate(self.elements):
            if isinstance(element, Mark):
                self._on_mark(position, element)
            elif isinstance(element, Pronoun):
                self._on_pronoun(position, element)
            elif isinstance(element, Unit):
                self._on_unit(position, element)
        if not self.subjects.tenons:
            self._take_for_app()
        self._make()
        self._understand_together()
        self._nothing_left_out()
        for at, verb in verbs_of(self.subjects.tenons, self.elements, self.words):
            sense = self.meaning.phrase(self.words, verb, verb + 1)
            if sense.kind == "app":  # "the weight is sampled at 50 Hz"
                self._on_sense(at, sense, None)
        self._keep_together()
        self._call_real_time()
        attachments = attach(self.elements, self.subjects, self.cpus, distributes(self.words))
        self._fill(attachments)
        self._prohibit_company()
        self._name_the_unnamed()
        return Plan(
            objective=self.text,
            planner=PLANNER,
            guests=[
                Guest(name=name, kind=subject.kind, talks=tuple(self._talks.get(name, ())))
                for subject in self.subjects.ordered
                for name in subject.names
            ],
            items=self.items,
            missing=self.missing,
            ignored=sorted(self.ignored, key=lambda i: self.text.find(i.source or "")),
            evidence=self.evidence,
        )

    # Elements

    def _on_mark(self, position: int, mark: Mark) -> None:
        if mark.kind == "ignored":
            self.ignored.append(Ignored(source=self._shown(mark), why=str(mark.value)))
        elif mark.kind in ("utility", "board"):
            self._add(mark.kind, mark.value or "", mark)  # type: ignore[arg-type]
        elif mark.kind == "bare":
            self._prohibit([self.meaning.retriever.search([g.BARE_MEANS])[:1]], mark)
        elif mark.kind == "apart":
            shared = g.SHARING.search(self._shown(mark))
            words = [token.word for token in tokens(shared.group() if shared else g.SHARED)]
            self._prohibit([self.meaning.retriever.search(words)[:1]], mark)
        elif mark.kind == "alone":
            self._alone = mark
        elif mark.kind == "phrase":
            self._on_sense(position, self.meaning.phrase(self.words, mark.first, mark.last), None)
        elif mark.kind == "gist":
            self._on_gist(position, mark)

    def _on_pronoun(self, position: int, pronoun: Pronoun) -> None:
        """Repeat the demands of the preceding VM for `another`."""
        if pronoun.new and self._places and self.periods > 1 and not self.subjects.tenons:
            first = self.subjects.unnamed(self._places[0][0])  # "one periodic task and another"
            self._demands = [(sense, subject or first) for sense, subject in self._demands]
        like = self.subjects.tenons[-1] if self.subjects.tenons else None
        own = pronoun.new and names_its_own(position, self.elements, self.words, self.meaning)
        new = None if own else self.subjects.pronoun(position, pronoun)
        if new:
            self._demands += [(sense, new) for sense, subject in self._demands if subject is like]

    def _on_unit(self, position: int, unit: Unit) -> None:
        if unit.negator:
            self._on_prohibition(position, unit)
            return
        last = self.subjects.of_last_unit(position)
        unit.aside = unit.connector in g.RELATIVE and last is not None and last.kind != "tenon"
        acts = False
        senses = self.meaning.unit(self.words, unit)
        runs = [sense for sense in senses if sense.kind in ("app", "guest")]
        named = any(not self.subjects.serves_those_named(sense) for sense in runs)
        if self.meaning.tasks and not named and does_more(position, self.elements, self.words):
            self.subjects.unnamed(position)
        for sense in senses:
            if acts and sense.kind == "app" and sense.chunk and not sense.chunk.preposition:
                source = self._between(sense.first, sense.last)
                self.ignored.append(Ignored(source=source, why=g.WHY_ARGUMENT))
            elif not within_gist(sense, self.elements):
                self._on_sense(position, sense, unit)
                # "a partition that samples a sensor": action, then object.
                acts = unit.connector in ("that", "which") and sense.kind == "app"

    def _on_sense(self, position: int, sense: Sense, unit: Unit | None) -> None:
        source = self._between(sense.first, sense.last)
        apart = put_apart(sense, position, self._places, self._demands, self.subjects)
        if sense.kind == "ignored":
            self.ignored.append(Ignored(source=source, why=sense.why))
        elif sense.kind == "unknown":
            if unit and self.subjects.explains(sense, self.words):
                return
            if unit and not sense.hit and told_of_guest(position, self.elements, self.subjects):
                self.ignored.append(Ignored(source=source, why=g.WHY_PURPOSE))
                return
            asked = [demand.entry for demand, _ in self._demands[-1:]]
            if unit and not sense.hit and self.meaning.says_more(self.words, sense, asked):
                self.ignored.append(Ignored(source=source, why=g.WHY_MORE))
                return
            missing = Missing(source=source, capability=(sense.hit and sense.entry.name) or None)
            self.missing.append(missing)
            if unit:
                self._open.append((missing, sense, unit))
        elif unit and self._gives_reason(sense, unit):
            self.ignored.append(Ignored(source=source, why=g.WHY_CIRCUMSTANCE))
        elif sense.kind == "guest":
            subject = self.subjects.guest(
                position, sense, unit, sense.entry.name.removeprefix(GUEST)
            )
            self._mentions.append(Mention(sense.first, sense.last, subject))
            self._demands.append((sense, subject))
        elif sense.kind == "board":
            self._add("board", sense.entry.name, sense)
            self._note(sense.first, sense.last, sense.entry.name, sense.hit)
        elif sense.kind == "app" and self.subjects.serves_those_named(sense):
            self.ignored.append(Ignored(source=source, why=g.WHY_PURPOSE))
        elif sense.kind == "app":
            subject = self.subjects.app(position, sense, unit)
            self._mentions.append(Mention(sense.first, sense.last, subject))
            self._demands.append((sense, subject))
        elif sense.entry.name == TEMPLATE:
            self._made.append((position, sense))
        else:
            self._places.append((position, sense))
            self._demands.append((sense, apart or self.subjects.nearest_tenon(position)))

    def _gives_reason(self, sense: Sense, unit: Unit) -> bool:
        """Whether words are the reason of a prohibition: `no shell, since it is not ...`."""
        forbidden = {item.value for item in self.items if item.kind == "forbid"}
        return unit.connector in g.REASONS and bool(sense.hit) and sense.entry.name in forbidden

    def _on_gist(self, position: int, mark: Mark) -> None:
        """Handle a gist: a demand, or its denial."""
        last = mark.until or mark.last
        sense = self.meaning.gist(self.words, str(mark.value), mark.first, last, mark.new)
        if not mark.denied:
            self._on_sense(position, sense, None)
        elif sense.hit:
            self._prohibit([[sense.hit]], Mark("not", mark.first, last))

    def _understand_together(self) -> None:
        """Drop missing words that are understood in context."""
        asked = [sense for sense, _ in self._demands]
        for missing, sense, unit in self._open:
            near = (s.entry for s in asked if same_sentence(self.words, s, sense))
            own = [entry for entry in near if entry.by_itself]
            if any(self.meaning.describes(self.words, sense, entry) for entry in own):
                why: str | None = g.WHY_MORE
            else:
                known = bool(asked) or self.periods > 0
                why = leftover(sense, unit, self.words, self.elements, known, bool(own))
            if why:
                self.missing.remove(missing)
                self.ignored.append(Ignored(source=missing.source, why=why))

    def _on_prohibition(self, position: int, unit: Unit) -> None:
        negator = unit.negator or (unit.first, unit.first)
        said = [self.words[index].word for index in unit.words]
        if lacking := self.meaning.retriever.called_by_lack(said):
            hit = Hit(lacking, 1.0, 1.0, 0.0, frozenset(), tuple(lacking.absences))
            kind = "capability" if lacking.available else "unknown"
            self._on_sense(0, Sense(kind, negator[0], unit.last, hit), None)
            return
        for denial in denials(unit, self.words, self.meaning):
            mark = Mark("not", denial.first, denial.last)
            if denial.presupposed:
                self._on_sense(
                    position, self.meaning.phrase(self.words, mark.first, mark.last), unit
                )
            elif denial.hits:
                self._prohibit([denial.hits], mark)
            else:
                self.ignored.append(Ignored(source=self._shown(mark), why=g.WHY_ABSENT))

    def _prohibit(self, found: Sequence[Sequence[Hit]], mark: Mark) -> None:
        for hits in found:
            for hit in hits:
                self._add("forbid", hit.entry.name, mark)
                self._note(mark.first, mark.last, hit.entry.name, hit)

    def _prohibit_company(self) -> None:
        """Exclude guest systems for `alone`, unless a guest is alone."""
        if self._alone is None or any(s.kind != "tenon" for s in self.subjects.ordered):
            if self._alone:
                self.ignored.append(
                    Ignored(source=self._shown(self._alone), why="repeats what is asked for")
                )
            return
        for entry in self.meaning.retriever.entries:
            if entry.name.startswith(GUEST):
                self._add("forbid", entry.name, self._alone, rule="alone-forbids-guests")

    # Demands of the subjects

    def _take_for_app(self) -> None:
        """Take a capability's name as an application, if there is no other: `a filter for the
        signal`."""
        for position, sense in self._places:
            if app := self.meaning.app_of(self.words, sense):
                self._on_sense(position, app, None)
                return

    def _make(self) -> None:
        """Mark VMs to be created on demand: the stated ones, or else any."""
        self.relations = Relations(self.words, self._mentions)
        for position, sense in self._made:
            of_any = self.relations.is_of_any(sense)
            subject = None if of_any else made(position, self.elements, self.subjects)
            if subject is None:
                self._add("capability", TEMPLATE, sense)
                self._note(sense.first, sense.last, TEMPLATE, sense.hit)
            else:
                self._demands.append((sense, subject))

    def _fill(self, attachments: Sequence[Attachment]) -> None:
        self.subjects.name_all()
        for sense, subject in self._demands:
            subject = subject or self.subjects.default()
            value = self._value(sense)
            if value == CHANNEL and subject:
                self._talk(sense, subject)
            for name in subject.names if subject else [None]:
                if not self._known("capability", value, name):
                    self._add("capability", value, sense, name)
            self._note(sense.first, sense.last, self._value(sense), sense.hit)
        names = [name for subject in self.subjects.ordered for name in subject.names]
        for attached in attachments:
            mark = attached.mark
            kind: Kind = "cores" if mark.kind in ("cpu", "rest", "own") else mark.kind  # type: ignore[assignment]
            unit = "cpu" if mark.kind == "cpu" else UNITS.get(kind)
            rule = attached.rule or ("at-most" if mark.at_most else None)
            sole = names if len(names) == 1 and kind in ("ram", "image", "tick") else [None]
            for name in sole if attached.images == (None,) else attached.images:
                for value in (mark.value, *mark.others):
                    self._add(kind, value, mark, name, unit, rule)
        self.items.sort(key=lambda item: item.span or (len(self.text), 0))

    def _talk(self, sense: Sense, subject: Subject) -> None:
        """Record direction and peer of an exchange."""
        direction, peer = self.relations.talk(sense, subject)
        words = self._between(sense.first, sense.last)
        span = (self.words[sense.first].start, self.words[sense.last - 1].end)
        talk = Talk(direction=direction, peer=peer and peer.names[0], source=words, span=span)
        for name in subject.names:
            self._talks.setdefault(name, []).append(talk)

    def _value(self, sense: Sense) -> str:
        entry = sense.entry
        if entry.kind == "capability":
            return entry.name
        provided = [self.meaning.name(symbol) for symbol in entry.provides]
        if len(provided) == 1 and self.meaning.only_provider(entry.symbol, provided[0]):
            return provided[0]
        return self.meaning.identity(entry)

    def _name_the_unnamed(self) -> None:
        """Refuse an objective without anything to run."""
        if self.missing or self.subjects.ordered:
            return
        purposes = [i for i in self.ignored if i.why in (g.WHY_PURPOSE, g.WHY_ARGUMENT)]
        self.ignored = [i for i in self.ignored if i not in purposes]
        self.missing = [Missing(source=i.source) for i in purposes] or [
            Missing(source=self.text.strip())
        ]

    def _nothing_left_out(self) -> None:
        """A period needs a task: for a bare "task", any one.

        A task without a period is not understood.
        """
        if self.missing or self.subjects.tenons:
            return
        known = any(sense.kind == "capability" for sense, _ in self._demands)
        marks = [e for e in self.elements if isinstance(e, Mark)]
        if counted := next((m for m in marks if counts_real_time(m, self.words)), None):
            self.subjects.unnamed(len(self.elements)).count = min(int(counted.value or 1), MOST)
            return
        periods = [mark for mark in marks if mark.kind == "period"]
        timed = periods or any(mark.kind in ("deadline", "jitter") for mark in marks)
        bare = carriers(self.words, marks)
        said = bare or any(i.why != g.WHY_CIRCUMSTANCE for i in self.ignored)
        if (periods and said) or (timed and known):
            self.subjects.unnamed(len(self.elements))
        elif not known:
            named = [self._shown(mark) for mark in periods] or bare
            self.missing += [Missing(source=source) for source in named]

    def _call_real_time(self) -> None:
        """Take `a real-time VM with a shell` as a Tenon VM without a periodic task."""
        ours = (sense.entry.name for sense, _ in self._demands if sense.kind != "guest")
        if self.periods or all(name.startswith("virt.") for name in ours):
            return
        for at, mark in enumerate(self.elements):
            if not isinstance(mark, Mark) or (mark.kind, mark.value) != ("deadline", None):
                continue
            if any(word.word in g.GUESTS for word in self.words[mark.last : mark.last + 1]):
                self.elements[at] = replace(mark, kind="idiom")

    def _keep_together(self) -> None:
        """Merge real-time VMs that are demanded to be the same VM."""
        guests = sum(s.count for s in self.subjects.all if s.kind != "tenon")
        for mark in self.elements:
            if isinstance(mark, Mark) and mark.kind == "together":
                self._add("vms", guests + 1, mark, unit=UNITS.get("vms"))
