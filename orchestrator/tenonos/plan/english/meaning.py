"""Meaning: lookup of phrases in the pool.

A phrase is looked up as a whole first, then by its noun phrases; the head of a noun phrase must
match, or the phrase is about something else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tenonos.plan.english import grammar as g
from tenonos.plan.english.elements import Chunk, Unit
from tenonos.plan.english.rates import is_rated, is_thing, suffers
from tenonos.plan.english.sense import Sense, SenseKind, is_part
from tenonos.plan.english.text import MANY, Token, compounds
from tenonos.plan.retrieval.knowledge import GUEST, Entry
from tenonos.plan.retrieval.retrieve import Hit, Retriever
from tenonos.pool.kconfig import capability, symbol_of

CERTAIN = 0.8
"""Threshold of evidence for a single qualifier."""

WHOLE = 0.5
"""Required similarity of a title to all phrases of a unit together."""

LONGEST = 6
"""The most words of a name."""


class Meaning:
    """The lookup of phrases through a retriever."""

    def __init__(self, retriever: Retriever, tasks: bool = False) -> None:
        self.retriever = retriever
        self.tasks = tasks
        """Whether unknown nouns with a rate are tasks."""
        self._entries = {entry.symbol: entry for entry in retriever.entries}

    def apps(self, entry: Entry) -> frozenset[str]:
        """The applications that could fill a demand for an entry, if applications fill it."""
        if entry.kind == "app":
            return frozenset((entry.symbol,))
        providers = [self._entries[name] for name in entry.providers if name in self._entries]
        if providers and all(p.kind == "app" for p in providers):
            return frozenset(p.symbol for p in providers)
        return frozenset()

    def _doers(self, entry: Entry) -> list[Entry]:
        """The applications that provide a capability."""
        found = (self._entries.get(name) for name in entry.providers)
        return [provider for provider in found if provider and provider.kind == "app"]

    def name(self, symbol: str) -> str:
        """The name of a symbol."""
        return self._entries[symbol].name if symbol in self._entries else capability(symbol)

    def only_provider(self, symbol: str, name: str) -> bool:
        """Whether a capability comes from this symbol and no other."""
        entry = self._entries.get(symbol_of(name))
        return entry is not None and entry.providers == (symbol,)

    def identity(self, entry: Entry) -> str:
        """The id of the crate behind an entry: `core/timer`, `examples/apps/motor`."""
        return f"apps/{entry.name}" if entry.kind == "app" else entry.name

    def unit(self, words: Sequence[Token], unit: Unit) -> list[Sense]:
        """The senses of a unit's chunks."""
        whole = self._whole(words, unit)
        if whole:
            return [whole]
        senses: list[Sense] = []
        for chunk in unit.chunks:
            opens = chunk is unit.chunks[0] and not chunk.preposition
            senses += self._chunk(words, chunk, unit.connector in g.CIRCUMSTANCE, opens)
        if unit.aside:
            return [self._aside(words, sense) for sense in senses]
        return [self._unknown(words, sense, senses) for sense in senses]

    def all_of(self, words: Sequence[Token], indices: Sequence[int]) -> list[Hit]:
        """All equally good meanings of words, for a prohibition."""
        hits = self._search(words, indices)
        best = [h for h in hits if (h.evidence, h.exactness) >= (CERTAIN, 0)]
        equal = [h for h in best if h.exactness == best[0].exactness]
        # A library that others depend on can only be denied by what it does.
        done = [h for h in equal if h.entry.kind != "library"]
        return done or [self._what_it_does(hit) for hit in equal]

    def _what_it_does(self, hit: Hit) -> Hit:
        """A library as the capability that no other library provides, if it is one."""
        done = [self._entries[s] for s in hit.entry.provides if s in self._entries]
        others = {p for e in done for p in e.providers if self._entries[p].kind != "app"}
        return replace(hit, entry=done[0]) if len(done) == 1 == len(others) else hit

    def says_more(self, words: Sequence[Token], sense: Sense, asked: Sequence[Entry]) -> bool:
        """Whether words describe the preceding demand, by its own texts."""
        said = [words[index].word for index in range(sense.first, sense.last)]
        return any(self.retriever.tells(entry, said) for entry in asked)

    def describes(self, words: Sequence[Token], sense: Sense, entry: Entry) -> bool:
        """Whether words say what an entry is for, as its own texts do.

        The first of them may be what to do with it (`fuse`).
        """
        inside = range(sense.first, sense.last)
        said = [words[index].word for index in inside if words[index].is_word]
        return any(self.retriever.tells(entry, part) for part in (said, said[1:]))

    def phrase(self, words: Sequence[Token], first: int, last: int) -> Sense:
        """The sense of words that grammar selected for lookup."""
        hits = self._search(words, range(first, last))
        if not hits:
            return Sense("unknown", first, last)
        return self._sense(words, first, last, hits[0], None)

    def app_of(self, words: Sequence[Token], sense: Sense) -> Sense | None:
        """The application with the same name as a capability."""
        hits = self._search(words, range(sense.first, sense.last))
        alike = [h for h in hits if h.entry.kind == "app" and h.exactness == hits[0].exactness == 1]
        return replace(sense, kind="app", hit=alike[0]) if alike else None

    def gist(
        self, words: Sequence[Token], symbol: str, first: int, last: int, new: bool = False
    ) -> Sense:
        """The sense of a gist."""
        said = tuple(words[index].word for index in range(first, last))
        hit = Hit(self._entries[symbol], 1.0, 1.0, 0.0, frozenset(), said)
        return self._sense(words, first, last, hit, Chunk(apart=True) if new else None)

    def _whole(self, words: Sequence[Token], unit: Unit) -> Sense | None:
        if len(unit.chunks) < 2 and not unit.structure:
            return None
        inside = sorted({*unit.words, *(i for i in unit.structure)})
        hits = self._search(words, inside)
        # Function words may belong to a name ("operating system"), but only to the whole of it.
        # A phrase that is a name takes precedence over a similar whole.
        exact = any(h.exactness == 1 for c in unit.chunks for h in self._search(words, c.words)[:1])
        needed = 1.0 if unit.structure or exact else WHOLE
        if not hits or hits[0].exactness < needed or hits[0].evidence < CERTAIN:
            return None
        covered = {inside[i] for i in hits[0].covered}
        if not set(unit.words) <= covered:
            return None
        counted = next((c for c in unit.chunks if c.count), unit.chunks[0])
        return self._sense(words, min(covered), max(covered) + 1, hits[0], counted)

    def _chunk(
        self, words: Sequence[Token], chunk: Chunk, circumstance: bool, opens: bool = False
    ) -> list[Sense]:
        last = chunk.words[-1] + 1
        tasks = words[last - 1].word in g.TASKS and all(
            words[index].word in g.TASKS or words[index].word in g.TASK_MEANS
            for index in chunk.words
        )
        tasks = tasks or self._names_task(words, chunk, opens)
        if tasks or (chunk.task and not self._does(words, chunk)):
            return self._task(words, chunk)
        if words[chunk.words[0]].word in MANY and len(chunk.words) > 1:
            # "Several threads" are in one image; several VMs need a number.
            rest = self._chunk(words, replace(chunk, words=chunk.words[1:]), circumstance)
            if all(sense.kind in ("capability", "ignored") for sense in rest):
                return rest
        hits = self._search(words, chunk.words)
        hits = [h for h in hits if h.exactness == 1 or not is_part(h.entry)] or hits
        if chunk.repeated and not any(h.exactness == 1 for h in hits):
            return [Sense("ignored", chunk.words[0], last, why=g.WHY_ARGUMENT)]
        if chunk.weak and hits and all(h.entry.kind == "app" and is_part(h.entry) for h in hits):
            return [self._named(words, chunk)]  # "under heavy load" is about no application
        head = len(chunk.words) - 1
        hit = next((h for h in hits if head in h.covered), None)
        if hit is None or hit.evidence < hits[0].evidence - 0.3:
            return (
                self._with_adjective(words, chunk)
                or self._kind_of(words, chunk)
                or self._participle(words, chunk, circumstance)
                or self._parts(words, chunk, circumstance)
                or [self._named(words, chunk)]
            )
        covered = [chunk.words[i] for i in sorted(hit.covered)]
        senses = [self._sense(words, covered[0], covered[-1] + 1, hit, chunk)]
        does = senses[0].kind == "capability" and not self.apps(hit.entry)
        if self.tasks and opens and does and is_rated(words, chunk.words[0], last):
            senses = [*self._task(words, chunk), *senses]  # "a 10 Hz supervisor"
        for index in (i for i in chunk.words if i not in covered):
            extra = [h for h in self._search(words, [index], CERTAIN) if not is_part(h.entry)]
            if words[index].word.endswith("'s"):  # "the button's handler": an owner
                extra = [h for h in extra if h.entry.name.startswith(GUEST)]
            inside = covered[0] < index < covered[-1]
            if extra:
                senses.insert(0, self._sense(words, index, index + 1, extra[0], None))
            elif inside:
                continue  # shown as part of the phrase around it
            else:
                why = f"only qualifies “{words[last - 1].text}”; nothing in the pool depends on it"
                senses.append(Sense("ignored", index, index + 1, why=why))
        return senses

    def _task(self, words: Sequence[Token], chunk: Chunk) -> list[Sense]:
        """Any periodic task, as the meaning of a generic noun."""
        first = chunk.words[-1]
        return [
            replace(self._sense(words, first, first + 1, hit, chunk), kind="app")
            for hit in self.retriever.search(g.TASK_MEANS)[:1]
        ]

    def _names_task(self, words: Sequence[Token], chunk: Chunk, opens: bool) -> bool:
        """Whether a phrase is a task with a name and a rate: `the logging task at 5 Hz`."""
        task = words[chunk.words[-1]].word in g.TASKS or (self.tasks and opens)
        rated = task and is_rated(words, chunk.words[0], chunk.words[-1] + 1)
        return rated and not self._search(words, chunk.words)

    def _does(self, words: Sequence[Token], chunk: Chunk) -> bool:
        """Whether an application provides the meaning of a phrase."""
        return any(bool(self.apps(hit.entry)) for hit in self._search(words, chunk.words)[:1])

    def _with_adjective(self, words: Sequence[Token], chunk: Chunk) -> list[Sense]:
        """A name that begins with an adjective without content elsewhere: `real numbers`."""
        first, last = chunk.words[0] - 1, chunk.words[-1] + 1
        if first < 0 or words[first].word not in g.ADJECTIVES:
            return []
        hits = self._search(words, [first, *chunk.words])
        return [self._sense(words, first, last, h, chunk) for h in hits[:1] if h.exactness == 1]

    def _kind_of(self, words: Sequence[Token], chunk: Chunk) -> list[Sense]:
        """A name after its object or possessor: `a valve controller`, `the customer's Linux`; none
        if these words mean more."""
        last = chunk.words[-1] + 1
        for first in range(chunk.words[0] + 1, last):
            rest = [index for index in chunk.words if index < first]
            hits = [h for h in self._search(words, range(first, last), CERTAIN) if h.exactness == 1]
            hit = next((h for h in hits if h.entry.available), None)
            if hit is None or is_part(hits[0].entry):
                continue
            said = [words[index].word for index in rest]
            if any(self.retriever.tells(app, said) for app in self._doers(hit.entry)):
                return [self._sense(words, rest[0], last, hit, chunk)]
            literal = " ".join(word.word for word in words[first:last]).removesuffix("s")
            acts = bool(self.apps(hit.entry)) and literal in hit.entry.keywords
            plain = not any(words[index].text[0].isupper() for index in rest)
            serves = plain and hit.entry.name.startswith(GUEST)  # `the cockpit Linux`
            if acts or serves or said[-1].endswith("'s"):
                before = self._objects(words, rest)
                return before and [*before, self._sense(words, first, last, hit, chunk)]
        return self._headed(words, chunk)

    def _headed(self, words: Sequence[Token], chunk: Chunk) -> list[Sense]:
        """A phrase with the last word of several names, before a rate: `gait ... at 40 Hz`."""
        last, head = chunk.words[-1] + 1, words[chunk.words[-1]].word
        if len(chunk.words) < 2 or not is_rated(words, chunk.words[0], last):
            return []
        for entry in filter(self.apps, self.retriever.headed(head)):
            before = self._objects(words, chunk.words[:-1])
            hit = Hit(entry, 1.0, 1.0, 0.0, frozenset(), (head,))
            return before and [*before, self._sense(words, last - 1, last, hit, chunk)]
        return []

    def _objects(self, words: Sequence[Token], indices: Sequence[int]) -> list[Sense]:
        """Words before a name without a demand; none if they are more than an object.

        `watchdog-supervised` has a name of its own.
        """
        starts = indices[0] == 0 or words[indices[0] - 1].word in g.SENTENCE_END
        senses = []
        for part in compounds(words, indices):
            capital = any(words[i].text[0].isupper() for i in part)
            first, last = part[0], part[-1] + 1
            done = len(part) > 1 and words[part[-1]].word.endswith("ed")
            hits = [h for h in self._search(words, part[:-1], CERTAIN) if done and h.exactness == 1]
            if hits and hits[0].entry.available:
                senses.append(self._sense(words, first, last - 2, hits[0], None))
            elif (capital and not (starts and part[0] == indices[0])) or self._holds_a_name(
                words, Sense("unknown", first, last)
            ):
                return []
            else:
                senses.append(Sense("ignored", first, last, why=g.WHY_ARGUMENT))
        return senses

    def _participle(self, words: Sequence[Token], chunk: Chunk, circumstance: bool) -> list[Sense]:
        """A noun with a participle: `a loop printing ...`; none if the noun is unknown."""
        for place, index in enumerate(chunk.words):
            if (
                place
                and not (chunk.weak and is_thing(words, index))
                and (words[index].word.endswith("ing") or suffers(words, chunk.words, index))
            ):
                noun = replace(chunk, words=chunk.words[:place])
                senses = self._chunk(words, noun, circumstance)
                if all(sense.kind not in ("unknown",) for sense in senses):
                    if not words[index].word.endswith("ing"):
                        return [*senses, Sense("ignored", index, index + 1, why=g.WHY_MORE)]
                    doing = Chunk(chunk.words[place:])
                    return [*senses, *self._chunk(words, doing, circumstance)]
        return []

    def _parts(self, words: Sequence[Token], chunk: Chunk, circumstance: bool) -> list[Sense]:
        """A phrase of several names: `tickless preemptive`; else none.

        In a circumstance (`while Linux reboots`) only names count, and those after a guest system.
        """
        senses: list[Sense] = []
        rest = list(chunk.words)
        while rest:
            size, hit = self._longest(words, rest)
            first, last = rest[0], rest[size - 1] + 1
            rest = rest[size:]
            if hit:
                senses.append(self._sense(words, first, last, hit, chunk))
            elif circumstance:
                why = g.WHY_CIRCUMSTANCE
                senses.append(Sense("ignored", first, last, why=why, chunk=chunk))
            elif senses and senses[0].kind == "guest" and not words[first].is_number:
                why = g.WHY_PURPOSE  # `Linux HMI`: what a guest system does is its own business
                senses.append(Sense("ignored", first, last, why=why, chunk=chunk))
            else:
                return []
        return senses

    def _longest(self, words: Sequence[Token], rest: Sequence[int]) -> tuple[int, Hit | None]:
        """The longest initial part of a phrase that is a whole name."""
        for size in range(min(len(rest), LONGEST), 0, -1):
            for hit in self._search(words, rest[:size], CERTAIN):
                if words[rest[size - 1]].word.endswith("'s") and not hit.entry.name.startswith(
                    GUEST
                ):
                    continue  # "the button's handler": an owner
                if len(hit.covered) == size:
                    return size, hit
        return 1, None

    def _named(self, words: Sequence[Token], chunk: Chunk) -> Sense:
        """An unknown phrase, with the capability named by its head or another word."""
        last = chunk.words[-1] + 1
        ends = range(max(1, len(chunk.words) - LONGEST), len(chunk.words))
        for asked in (*(chunk.words[at:] for at in ends), *chunk.words):
            indices = [asked] if isinstance(asked, int) else asked
            hits = self._search(words, indices, CERTAIN)
            if hits and not hits[0].entry.available:
                first = chunk.words[0] if isinstance(asked, int) else indices[0]
                return Sense("unknown", first, last, hits[0], chunk=chunk)
        return Sense("unknown", chunk.words[0], last, chunk=chunk)

    def _aside(self, words: Sequence[Token], sense: Sense) -> Sense:
        """An unknown phrase in a clause about a guest system, which is no demand."""
        if sense.kind != "unknown" or sense.hit or self._holds_a_name(words, sense):
            return sense
        return Sense("ignored", sense.first, sense.last, why=g.WHY_PURPOSE, chunk=sense.chunk)

    def _holds_a_name(self, words: Sequence[Token], sense: Sense) -> bool:
        """Whether a phrase contains a name or a number, which must not be ignored.

        An internal part of the pool (`core/list`) is not meant by an everyday word.
        """
        inside = range(sense.first, sense.last)
        return any(
            words[part[0]].is_number
            or any(not is_part(hit.entry) for hit in self._search(words, part, CERTAIN))
            for part in compounds(words, inside)
        )

    def _unknown(self, words: Sequence[Token], sense: Sense, among: Sequence[Sense]) -> Sense:
        """An unknown phrase, or one that is optional beside others of its unit."""
        chunk = sense.chunk
        if sense.kind != "unknown" or sense.hit or chunk is None:
            return sense
        if self._holds_a_name(words, sense):
            return sense
        known = [s for s in among if s.kind not in ("unknown", "ignored")]
        if chunk.weak:
            return Sense("ignored", sense.first, sense.last, why=g.WHY_PURPOSE, chunk=chunk)
        if known and chunk.preposition is None and not chunk.acronym:
            return Sense("ignored", sense.first, sense.last, why=g.WHY_ARGUMENT, chunk=chunk)
        return sense

    def _sense(
        self, words: Sequence[Token], first: int, last: int, hit: Hit, chunk: Chunk | None
    ) -> Sense:
        kind: SenseKind = "capability"
        if not hit.entry.available:
            kind = "unknown"
        elif hit.entry.name.startswith(GUEST):
            kind = "guest"
        elif self.apps(hit.entry):
            kind = "app"
        elif hit.entry.kind == "board":
            kind = "board"
        each = last < len(words) and words[last].word == "each"
        plural = each or words[last - 1].word.endswith("s")
        return Sense(kind, first, last, hit, chunk=chunk, plural=plural)

    def _search(
        self, words: Sequence[Token], indices: Sequence[int], threshold: float | None = None
    ) -> list[Hit]:
        asked = [words[index].word for index in indices]
        return self.retriever.search(asked, *(() if threshold is None else (threshold,)))
