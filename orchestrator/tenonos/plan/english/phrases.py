"""Segmentation of unmarked words into phrases.

A unit is the text between two connectors ("a control loop for a motor"); its chunks are the noun
phrases in it, each with its preposition.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tenonos.plan.english import grammar as g
from tenonos.plan.english import negations
from tenonos.plan.english.elements import Chunk, Cut, Element, Pronoun, Unit
from tenonos.plan.english.idioms import WHY_OTHER
from tenonos.plan.english.mark import Mark
from tenonos.plan.english.rates import does_by_itself
from tenonos.plan.english.text import Token, stem

CARRIED = frozenset("period ram cores utility jitter deadline image wcet".split())
"""Kinds of marks between an article or number and its noun."""


class Segmenter:
    """The segmenter, from marks and words to elements in the order of the text."""

    def __init__(self, words: Sequence[Token], marks: Sequence[Mark], tasks: bool = False) -> None:
        self.words = words
        self.tasks = tasks
        """Whether generic nouns for tasks are separate nouns."""
        self.starts = {mark.first: mark for mark in marks}
        self.elements: list[Element] = []
        self._chunks: list[Chunk] = []
        self._structure: list[int] = []
        self._connector: str | None = None
        self._negator: tuple[int, int] | None = None
        self._denied = False
        """Whether the last denial was of a gist."""
        self._pending = Chunk()
        self._count: Mark | None = None
        self._labels: set[str] = set()
        self._labelled = False
        """Whether the next noun has a new label."""
        self._vms = False
        """Whether a VM was already named as such."""
        self.stray: list[Mark] = []
        """Numbers without a named noun."""

    def run(self) -> list[Element]:
        """The elements."""
        index = 0
        while index < len(self.words):
            mark = self.starts.get(index)
            if mark:
                self._on_mark(mark)
                index = mark.last
            else:
                self._on_word(index)
                index += 1
        self._flush()
        return self.elements

    def _on_mark(self, mark: Mark) -> None:
        if mark.kind == "not":
            self._flush()
            self._negator = (mark.first, mark.last)
            return
        if mark.kind == "count":
            self._close_chunk()
            self._lose_count()
            self._pending.count, self._count = int(mark.value or 1), mark
            self.elements.append(mark)
            return
        if mark.kind == "unwanted":
            self._deny(mark)
            return
        if mark.kind == "label":
            self._on_label(mark, str(mark.value or self.words[mark.last - 1].word))
            return
        if mark.kind == "idiom" and self.words[mark.first].word == "as":  # as well as
            self._split(mark.first, "and")
            return
        if mark.kind == "gist" and self._negator and not self._chunks:
            mark, self._denied = replace(mark, denied=True), True
        if mark.kind in ("gist", "said"):
            self._connector, self._count = None, None
        if mark.kind == "gist" and self._labelled:
            mark, self._labelled = replace(mark, new=True), False
        if mark.leads:
            self._on_label(mark, " ".join(str(core) for core in (mark.value, *mark.others)))
        carried, count = self._pending, self._count
        self._count = None if mark.kind in CARRIED else count
        self._flush()
        if mark.kind in ("period", "cores", "cpu", "ram"):
            self._negator = None
        # "two 1 kHz loops", "a 1 kHz loop": words before the quantity belong to the noun.
        if mark.kind in CARRIED:
            self._pending.count, self._count = carried.count, count
            self._pending.article = carried.article
        elif mark.kind == "ignored" and not carried.words:
            self._pending.preposition = carried.preposition  # "for a stop-and-go engine"
            self._pending.article = carried.article if mark.value == WHY_OTHER else None
        if mark.kind in ("period", "wcet"):
            self._rate_verb(mark)
        if mark.kind != "tick" or not self._negator:  # "without a 1 ms tick"
            self.elements.append(mark)

    def _on_label(self, mark: Mark, name: str) -> None:
        """Handle a label: items with different labels are in different VMs."""
        new = bool(self._labels) and name not in self._labels
        self._labels.add(name)
        if self._pending.words:
            self._pending.apart = self._pending.apart or new  # "control loop B: ..."
        else:
            self._labelled = new
        self._flush()

    def _lose_count(self) -> None:
        """Record a number without a noun; `one` may stand alone."""
        if self._count and self._count.value != 1:
            self.stray.append(self._count)
        self._count = None

    def _deny(self, mark: Mark) -> None:
        """Apply a following negation to the last phrase."""
        kinds = [e.kind if isinstance(e, Mark) else "" for e in self.elements]
        while kinds and kinds[-1] == "said":
            kinds.pop()
        if self._chunks or self._pending.words:
            self._negator = (mark.first, mark.last)
        elif kinds and kinds[-1] == "gist":
            gist = self.elements[len(kinds) - 1]
            self.elements[len(kinds) - 1] = replace(gist, denied=True)  # type: ignore[type-var]
        self._flush()
        self._negator = None
        if self.words[mark.first].word in ("are", "aren't"):
            self._deny_list(mark)

    def _deny_list(self, mark: Mark) -> None:
        """Apply a following negation to a coordinated list: `tracing and a shell are not
        needed`."""
        for at in range(len(self.elements) - 1, 1, -2):
            cut, unit = self.elements[at - 1], self.elements[at - 2]
            joined = isinstance(cut, Cut) and cut.word in ("and", "or", ",", "with")
            if not joined or not isinstance(unit, Unit) or unit.negator:
                return
            if any(word.word in g.VERBS for word in self.words[unit.last : cut.at]):
                return  # "semaphores are needed, mutexes are not"
            unit.negator = (mark.first, mark.last)

    def _rate_verb(self, mark: Mark) -> None:
        """Drop a verb such as `ticks` before `1000 times a second`, or take it as a task if
        alone."""
        last = self.elements[-1] if self.elements else None
        if not isinstance(last, Unit) or last.negator:
            return
        if does_by_itself(mark, self.elements, self.words, self.starts):
            last.chunks[0].task = True
            return
        chunk = last.chunks[-1]
        head = self.words[chunk.words[-1]].word
        noun = mark.kind == "period" and last.last == mark.first and head in g.RATE_NOUNS
        if noun and chunk.article and len(chunk.words) > 1:
            chunk.repeated = True
            return
        while chunk.words and (
            self.words[chunk.words[-1]].word in g.RATE_VERBS or self._acts(last, mark)
        ):
            chunk.words.pop()
        last.chunks = [c for c in last.chunks if c.words]
        if not last.chunks:
            self.elements.pop()

    def _acts(self, unit: Unit, mark: Mark) -> bool:
        """Whether a clause is only a verb with a rate: `a loop that acts every second`."""
        alone = len(unit.words) == 1 and unit.connector in ("that", "which")
        verb = self.words[unit.words[-1]].word if alone else ""
        return verb.endswith("s") and unit.last == mark.first

    def _on_word(self, index: int) -> None:
        word = self.words[index].word.removesuffix("'s")
        if self._acronym(index):
            self._pending.words.append(index)
            self._pending.acronym = True
        elif word in ("to", "with") and self._just_joined():
            return  # next to, together with
        elif word == "with" and self._stands_for_vms(index):
            return  # of three VMs, "two with control loops"
        elif word in g.SPLITTERS:
            self._split(index, word)
        elif word in negations.OUT and self._negator:
            self._flush()  # "leave the shell out": no more is denied
            self._negator = None
        elif word in g.REPEATED and self._pending.words:
            self._pending.count = g.REPEATED[word]
        elif word in g.ANOTHER | g.OTHERS and (placed := self._places(index)):
            placed.apart = True  # "... and a loop in another": a VM of its own
        elif word in g.ANOTHER | g.OTHERS and self._places_one(index):
            self._pending = Chunk()  # "... and one at 10 Hz in another": it is new already
        elif word in g.WEAK or word in g.STRONG:
            self._close_chunk()
            self._lose_count()
            self._pending = Chunk(preposition=word)
        elif word in g.DEFINITE or word in g.INDEFINITE:
            self._close_chunk()
            self._pending.article = "definite" if word in g.DEFINITE else "indefinite"
        elif word in g.ANOTHER:
            inside = (
                self._pending.preposition == "in" and not self._pending.words
            )  # "... in a third"
            self._close_chunk()
            picks = index > 0 and self.words[index - 1].word == "the"  # the second of several
            again = picks and self._counted_before(index + 1)
            self._pending.article = "definite" if again else "another"
            if self._does_more(index):
                self._pending = Chunk()
                self.elements.append(Pronoun(index, new=True))
            elif self._bare_pronoun(index) and not inside:
                self.elements.append(Pronoun(index, new=not picks, adds=picks))
        elif word == "one" and self._pending.article == "indefinite" and not self._pending.words:
            self.elements.append(Pronoun(index, new=True, adds=True))
        elif self._takes_back(index):
            return
        elif word in g.PRONOUNS:
            if word == "one" and self._bare_pronoun(index):
                self._flush()  # "besides a loop there is one at ..."
            if not self._chunks and not self._pending.words and self._bare_pronoun(index):
                self.elements.append(Pronoun(index, new=False, adds=self._adds(index)))
        elif self._is_noun(index):
            self._pending.words.append(index)
        elif word in g.VERBS or word in g.ADVERBS:
            self._close_chunk()
            if word in ("only", "just", "instead", "rather") and not self._chunks:
                self._negator = None
        elif word in g.STRUCTURE and not (self.tasks and word in g.TASKS):
            if word in g.GUESTS and self._pending == Chunk(article="indefinite"):
                self._labelled, self._vms = self._vms, True  # "a VM for ..., a VM for ..."
            elif word in g.GUESTS and self._pending == Chunk(article="another"):
                self._labelled = self._vms = True  # "another VM with ..."
            self._structure.append(index)
        elif word in g.ADJECTIVES or word == "-" or not any(c.isalnum() for c in word):
            return
        else:
            self._pending.words.append(index)

    def _takes_back(self, index: int) -> bool:
        """Whether the last noun of the sentence is denied: `a shell? do not build one in`."""
        word, verb = self.words[index].word, self.words[index - 1].word if index else ""
        put = verb in g.PUTTING or index == (self._negator or (0, 0))[1]
        empty = not self._chunks and not self._pending.words and self._bare_pronoun(index)
        if not (self._negator and word in ("one", "it", "them", "any") and put and empty):
            return False
        for element in reversed(self.elements):
            if isinstance(element, Cut) and element.word in g.SENTENCE_END:
                break
            named = isinstance(element, Unit) and not element.chunks[0].preposition
            if named and (word != "one" or element.chunks[0].article == "indefinite"):
                element.negator, self._negator = element.negator or self._negator, None
                break
        return self._negator is None

    def _counted_before(self, noun: int) -> bool:
        """Whether a noun refers to counted ones: `two Linux guests; the second Linux`."""
        named = {stem(w.word) for w in self.words[: noun - 1]}
        several = any(
            isinstance(e, Mark) and e.kind == "count" and e.value != 1 for e in self.elements
        )
        return several and noun < len(self.words) and stem(self.words[noun].word) in named

    def _does_more(self, index: int) -> bool:
        """Whether an additional VM is described by its action: `another VM looks after the
        batteries`."""
        after = [w.word for w in self.words[index + 1 : index + 3]]
        if len(after) < 2:
            return False
        vm, verb = after
        led = verb in g.SPLITTERS | g.WEAK | g.STRONG or not verb.isalpha()
        return vm in g.GUESTS and not led and self.words[index].word != "further"

    def _just_joined(self) -> bool:
        empty = not self._chunks and not self._pending.words
        return empty and self._connector in g.COMPANION

    def _places(self, index: int) -> Chunk | None:
        """The phrase that is placed in a pronoun's VM: `Linux in the other`, `a loop in a second
        VM`."""
        if self._pending.preposition not in ("in", "inside") or self._pending.words:
            return None
        following = self.words[index + 1].word if index + 1 < len(self.words) else ""
        if not self._bare_pronoun(index) and following not in g.GUESTS:
            return None
        said = [e for e in self.elements if not (isinstance(e, Mark) and e.kind in CARRIED)]
        if self._chunks and self._connector != "with":
            return self._chunks[0]
        last = said[-2:-1] if self._chunks else said[-1:]  # "a loop with a shell in the other"
        there = last[0].chunks if last and isinstance(last[0], Unit) else self._chunks
        return there[0] if there else None

    def _places_one(self, index: int) -> bool:
        """Whether a pronoun is only the place of the preceding one: `one at 10 Hz in another`."""
        inside = self._pending == Chunk(preposition="in") and not self._chunks
        said = [e for e in self.elements if not (isinstance(e, Mark) and e.kind in CARRIED)]
        one = said[-1] if said else None
        return inside and isinstance(one, Pronoun) and one.new and self._bare_pronoun(index)

    def _stands_for_vms(self, index: int) -> bool:
        """Whether a preceding number refers to VMs counted earlier."""
        counted = any(isinstance(e, Mark) and e.kind == "vms" for e in self.elements)
        return counted and self._count is not None and self._count.last == index

    def _acronym(self, index: int) -> bool:
        """Whether a capitalised common word is an acronym: CAN, IT."""
        text = self.words[index].text
        shouted = all(w.text.isupper() for w in self.words if w.is_word)
        name = len(text) > 1 and text.isalpha() and text.isupper() and not shouted
        return name and text.lower() not in g.STRUCTURE

    def _adds(self, index: int) -> bool:
        """Whether a pronoun can denote another one like the last, which has the same attribute."""
        word = self.words[index].word
        return word == "one" or (word == "other" and self._pending.article == "definite")

    def _is_noun(self, index: int) -> bool:
        """Whether a word after an article is a noun, not a verb: `toggle a pin every ...`."""
        before = self.words[index - 1].word if index else ""
        article = before in g.INDEFINITE | {"the"} and not self._pending.words
        return article and self.words[index].word in g.VERBS and self._bare_pronoun(index)

    def _bare_pronoun(self, index: int) -> bool:
        """Whether no noun follows: `another at 4 kHz`."""
        following = self.words[index + 1].word if index + 1 < len(self.words) else "."
        return (
            following in g.SPLITTERS
            or following in g.WEAK
            or following in g.STRONG
            or following in g.VERBS
            or following in ("every", "each", "one")
            or index + 1 in self.starts
        )

    def _split(self, index: int, word: str) -> None:
        """Handle a connector: end the unit; a negation continues over `or`, `nor` and lists."""
        had_words = bool(self._chunks or self._pending.words or self._denied)
        negator, self._denied = self._negator, False
        self._flush()
        goes_on = (
            word in ("or", "nor")
            or (word == "," and self._is_list(index))
            or (word == "and" and self._bare_noun(index + 1))
            or (word in (",", "and") and self._lists(negator))
        )
        joins = not had_words and word in g.JOINING | {":"}  # "not beside", "don't want: ..."
        self._negator = (
            negator if joins or (goes_on and (had_words or word in (",", "nor"))) else None
        )
        self._connector = word if word != "," or not self._connector else self._connector
        self.elements.append(Cut(index, word))
        if word in g.SENTENCE_END:
            self._connector = None

    def _lists(self, negator: tuple[int, int] | None) -> bool:
        """Whether a negation has scope over a list: `leave out the shell and the network`."""
        if negator is None:
            return False
        opens = negator[1] < len(self.words) and self.words[negator[1]].word == ":"
        return opens or bool(negations.LISTING.match(self.words[negator[0]].word))

    def _is_list(self, index: int) -> bool:
        """Whether a comma is part of a list with `or`: `no shell, storage or network`."""
        for at in range(index + 1, len(self.words)):
            word = self.words[at].word
            if word in ("or", "nor"):
                return True
            if word == "and":
                return self._bare_noun(index + 1) and self._bare_noun(at + 1)
            if at in self.starts or (word in g.SPLITTERS and word != ","):
                return False
        return False

    def _bare_noun(self, index: int) -> bool:
        """Whether a noun without article follows: `no network and storage`."""
        if index >= len(self.words) or index in self.starts:
            return False
        word = self.words[index].word
        return word not in (g.INDEFINITE | g.DEFINITE | g.VERBS | g.SPLITTERS | g.WEAK | g.STRONG)

    def _close_chunk(self) -> None:
        if self._pending.words:
            self._count = None
            if not self._pending.weak:
                self._pending.apart = self._pending.apart or self._labelled
                self._labelled = False
            self._chunks.append(self._pending)
            self._pending = Chunk()

    def _flush(self) -> None:
        self._close_chunk()
        if self._chunks:
            self.elements.append(
                Unit(self._chunks, self._connector, self._negator, self._structure)
            )
            self._connector = None
        self._lose_count()
        self._chunks, self._structure, self._pending = [], [], Chunk()
