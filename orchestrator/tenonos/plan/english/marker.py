"""Marker: parts of an objective that are understood by grammar alone.

Quantities with what they measure, utilities, bounds on jitter, negation, mentions and instructions.
The unmarked words are phrases to be looked up in the pool.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from tenonos.plan.english import grammar as g
from tenonos.plan.english import negations
from tenonos.plan.english.asides import asides
from tenonos.plan.english.cores import OWN_CORE, REST, leads, named
from tenonos.plan.english.corrections import corrected
from tenonos.plan.english.enumerations import REFERENCE, each_of, each_one, items, names
from tenonos.plan.english.gist import Gists
from tenonos.plan.english.idioms import DOUBLY, FIRM, IDIOM, OTHER_UNITS, WHY_OTHER
from tenonos.plan.english.mark import Mark, MarkKind
from tenonos.plan.english.quantities import CORES, listed_at, quantity_at, signed
from tenonos.plan.english.roles import is_purpose, roles
from tenonos.plan.english.text import Token, number_at
from tenonos.plan.english.ticks import is_tick
from tenonos.plan.english.utilities import UTILITIES

_COUNTED = ("only", "just", "exactly", "single")
"""Words before which `one` is a number."""


class Marker:
    """One pass over an objective."""

    def __init__(
        self,
        text: str,
        words: Sequence[Token],
        boards: Sequence[str] = (),
        gists: Gists | None = None,
        known: Callable[[str], bool] = lambda word: True,
    ) -> None:
        self.text = text
        self.known = known
        """Whether a word is known in the pool."""
        self.words = words
        self.boards = boards
        self.gists = gists
        self.marks: list[Mark] = []
        self._taken = [False] * len(words)

    def run(self) -> list[Mark]:
        """All marks, in the order of the text."""
        for start, end, why in asides(self.text, self.words):
            self._mark("ignored", start, end, why)
        self._take("idiom", FIRM)
        for found in DOUBLY.finditer(self.text):
            self._mark("idiom", *found.span(1), None)
            self._mark("idiom", *found.span(2), None)
        self._take("ignored", OTHER_UNITS, WHY_OTHER)
        for start, end in names(self.text, self.known):
            self._mark("idiom", start, end, None)
        for number, (start, end) in enumerate(items(self.text)):
            self._mark("label", start, end, f"item {number}")
        self._take("idiom", REFERENCE)
        self._each_one()
        self._take("apart", g.APART)
        self._take("together", g.TOGETHER)
        self._say_together()
        self._take("label", g.LABEL)
        self._take("count", g.COUPLE, 2)
        for role in roles(self.words, self._taken, self.known):
            self._add(Mark("idiom", role.first, role.last))
            self._add(
                Mark("count" if role.value > 1 else "label", role.at, role.at + 2, role.value)
            )
        self._take("idiom", IDIOM)
        self._take("unwanted", negations.UNWANTED)
        for kind, pattern, value in self._phrases():
            self._take(kind, pattern, value)
        self._named_cores()
        self._quantities()
        self._take("not", negations.NEGATION)
        return sorted(corrected(self.marks, self.words, self.text), key=lambda mark: mark.first)

    def _each_one(self) -> None:
        """Marks for several items with one thing each, and for the things."""
        for start, end, number in each_of(self.text, self.known):
            self._mark("several", start, end, number)
        for (start, end), one, number in each_one(self.text, self.known):
            self._mark("idiom", start, end, None)
            first = next(i for i, w in enumerate(self.words) if w.start >= one[0])
            noun = first + 1 + (self._word(first) == "their")
            while self._word(noun) in g.ADJECTIVES | g.OURS | {"-", "time"}:
                noun += 1
            vms = self._word(noun) in g.GUESTS
            last = self.words[noun if vms else first].end
            self._mark("vms" if vms else "count", one[0], last, number)

    def _say_together(self) -> None:
        """A mark for each gist at its first words; its other words are consumed."""
        for gist in self.gists.found(self.words, self._taken) if self.gists else ():
            first = gist.words[0]
            last = next(i for i in range(first, gist.last + 1) if i not in gist.words)
            symbol, end = gist.entry.symbol, gist.words[-1] + 1
            self._add(Mark("gist", first, last, symbol, until=end, denied=gist.denied))
            for index in (i for i in gist.words if i >= last):
                self._add(Mark("said", index, index + 1))

    def _phrases(self) -> Iterator[tuple[MarkKind, re.Pattern[str], str | int | None]]:
        for board in self.boards:
            name = re.escape(board).replace(r"\-", "[- ]")
            yield "board", re.compile(rf"\b(?:on )?(?:the )?{name}\b", re.I), board
        for utility, pattern in UTILITIES:
            yield "utility", pattern, utility
        yield "jitter", g.JITTER, None
        yield "deadline", g.REAL_TIME, None
        yield "bare", g.BARE, None
        yield "phrase", g.SHARING, None
        yield "own", OWN_CORE, 1
        yield "alone", g.ALONE, None
        yield "rest", REST, None

    def _take(
        self, kind: MarkKind, pattern: re.Pattern[str], value: str | int | None = None
    ) -> None:
        for found in pattern.finditer(self.text):
            self._mark(kind, found.start(), found.end(), value)

    def _mark(
        self,
        kind: MarkKind,
        start: int,
        end: int,
        value: str | int | None,
        others: tuple[int, ...] = (),
    ) -> None:
        inside = [i for i, w in enumerate(self.words) if w.start >= start and w.end <= end]
        if kind == "rest" and inside and inside[0] and number_at(self.words, inside[0] - 1):
            return  # "the three remaining cores" are counted
        if inside and not any(self._taken[i] for i in inside):
            self._add(Mark(kind, inside[0], inside[-1] + 1, value, others))

    def _add(self, mark: Mark) -> None:
        before = mark.first - 1
        while any(m.kind == "idiom" and m.last == before + 1 for m in self.marks):
            before = next(m.first for m in self.marks if m.last == before + 1) - 1
        if "each" in (self._word(mark.last), self._word(before)):
            mark = replace(mark, each=True)
        self.marks.append(mark)
        for index in range(mark.first, mark.last):
            self._taken[index] = True

    # Quantities

    def _named_cores(self) -> None:
        for start, end, numbers in named(self.text):
            self._mark("cpu", start, end, numbers[0], tuple(numbers[1:]))
        for mark in leads([m for m in self.marks if m.kind == "cpu"], self.words, self.text):
            self.marks[self.marks.index(mark)] = replace(mark, leads=True)

    def _quantities(self) -> None:
        index = 0
        while index < len(self.words):
            if not self._taken[index] and self._listed(index):
                continue
            found = None if self._taken[index] else quantity_at(self.words, index)
            if found is None or any(self._taken[found.first : found.last]):
                index += 1
                continue
            mark = self._meaning(found.dimension, found.value, found.first, found.last)
            if mark and not any(self._taken[mark.first : mark.last]):
                self._add(mark)
            index = max(found.last, mark.last if mark else 0)

    def _listed(self, index: int) -> bool:
        """Marks for quantities that share their unit, if such a list begins here."""
        found = [] if self._word(index - 1) == "on" else listed_at(self.words, index)
        for quantity in found:
            mark = self._meaning(quantity.dimension, quantity.value, quantity.first, quantity.last)
            if mark and not any(self._taken[mark.first : mark.last]):
                self._add(replace(mark, until=found[-1].last))
        return bool(found) and self._taken[index]

    def _meaning(self, dimension: str, value: int, first: int, last: int) -> Mark | None:
        symbol, start = self._symbol(first)
        if dimension in ("rate", "time") and is_tick(self.words, first, last):
            return Mark("tick", first, last, value)
        if dimension == "count":
            return self._count(value, first, last)
        if signed(self.words, first):
            return None
        if dimension == "rate":
            start = start if symbol == "period" else first
            return Mark("period", start, last, value)
        at_most = bool(
            g.AT_MOST.search(self.text[: self.words[first].start])
            or g.NO_MORE.match(self.text, self.words[last - 1].end)
        )
        if dimension == "time" and symbol:
            return Mark(symbol, start, last, value, at_most=at_most)
        if dimension == "time":
            kind = self._time(first, last, at_most)
            return Mark(kind, first, last, value, at_most=at_most) if kind else None
        # A bound without a noun is on the image: memory is an amount, image size a limit.
        near = self._nearest(first, last, (("image", g.IMAGE_WORDS), ("ram", g.RAM_WORDS)))
        kind: MarkKind = near or ("image" if at_most else "ram")  # type: ignore[assignment]
        return Mark(kind, first, last, value, at_most=at_most)

    def _symbol(self, first: int) -> tuple[MarkKind | None, int]:
        """The kind of a quantity by a preceding letter, and its place: `C = 1 ms`."""
        at = first - 1
        while self._word(at) in g.SIGNS:
            at -= 1
        if at == first - 1 or self._word(at) not in g.SYMBOLS or self._taken[at]:
            return None, first
        return g.SYMBOLS[self._word(at)], at  # type: ignore[return-value]

    def _time(self, first: int, last: int, at_most: bool) -> MarkKind | None:
        """The kind of a time; None for one that is no demand (boot time)."""
        near = self._nearest(first, last, g.TIME_KINDS)
        before = self._word(first - 1)
        if before == "each" or (before in g.INDEFINITE and self._is_attribute(last)):
            near = near if near in ("jitter", "deadline") and before != "each" else "period"
        if before.startswith("last") and g.PERIOD.search(self._word(first - 2)):
            return "period"  # "its cycle lasts 800 us"
        if near == "period" and (self._word(last) in g.DISTRIBUTING or self._part_of_each(last)):
            return "wcet"  # "100 us per cycle", "100 us of each period"
        if near:
            return None if near == "boot" else near  # type: ignore[return-value]
        if before in ("within", "under", "by", "after"):
            return "deadline"
        known = any(mark.kind == "period" for mark in self.marks)
        return "wcet" if known and at_most else "period"  # "every 2 ms a step of at most 0.3 ms"

    def _is_attribute(self, last: int) -> bool:
        """Whether a noun with that time follows: `we need a 2 ms loop`."""
        word = self._word(last)
        led = word in g.SPLITTERS | g.WEAK | g.STRONG | g.VERBS | {"of", "per"}
        measured = any(pattern.search(word) for _, pattern in g.TIME_KINDS)
        return word.isalpha() and not led and not measured

    def _part_of_each(self, last: int) -> bool:
        """Whether `of each cycle`, `out of every period` follows."""
        at = last + (self._word(last) == "out")
        each = self._word(at) in ("of", "in") and self._word(at + 1) in ("each", "every")
        return each and bool(g.PERIOD.search(self._word(at + 2)))

    def _nearest(
        self, first: int, last: int, kinds: Sequence[tuple[str, re.Pattern[str]]]
    ) -> str | None:
        """The kind of the nearest keyword, in the same clause and up to the next quantity."""
        best: tuple[int, str] | None = None
        directions = ((1, last), (-1, first - 1))
        # "a budget of 200 us per period": what stands before "of" is what is measured.
        if self._word(first - 1) in ("of", "is", "=", ":"):
            directions = directions[::-1]
        for step, start in directions:
            for distance in range(6):
                index = start + step * distance
                word = self._word(index)
                if not word or word in ".;(" or self._is_other_quantity(index):
                    break
                if word in (",", "and") or (word == "±" and step > 0):
                    break
                kind = next((k for k, pattern in kinds if pattern.search(word)), None)
                if kind and step > 0 and self._measures_another(index):
                    break  # "5 ms with a budget of 1 ms"
                if kind and (best is None or distance < best[0]):
                    best = distance, kind
        return best[1] if best else None

    def _measures_another(self, index: int) -> bool:
        """Whether the quantity of a noun follows it."""
        linked = self._word(index + 1) in ("of", "is", "=", ":")
        return linked and index + 2 < len(self.words) and self.words[index + 2].is_number

    def _is_other_quantity(self, index: int) -> bool:
        return self.words[index].is_number or any(
            mark.first <= index < mark.last and mark.kind in ("period", "ram", "image", "cores")
            for mark in self.marks
        )

    def _count(self, value: int, first: int, last: int) -> Mark | None:
        before, index = self._word(first - 1), last
        if self._word(last - 1) in CORES:  # quad-core
            machine = self._word(last) in g.MACHINE
            return Mark("cores", first, last, value, whole=machine, machine=machine)
        if before_of := self._part_of(last):
            return Mark("cores", first, last, value, until=before_of)
        whose = self._word(first - 2) in g.ADJECTIVES | {"-"}
        if before == "priority" and self.words[first].word == "one" and whose:
            return None  # "the low-priority one": a pronoun
        if before == "priority" or (before == "of" and self._word(first - 2) == "priority"):
            return Mark("priority", first - 1 - (before == "of"), last, value)
        if self._own_cores(last):  # "two cores of its own and Linux three of its own"
            return Mark("cores", first, last, value, until=last + 3)
        if self._counts_cores(before, last):  # Linux on three
            return Mark("cores", first, last, value)
        on_the = before == "the" and self._word(first - 2) == "on"
        if on_the and self._word(last) in g.OTHERS and self._ends(last + 1):
            return Mark("cores", first, last + 1, value)  # Linux on the three others
        hyphened = [self._word(at) for at in (last, last + 1, last + 2)] == ["real", "-", "time"]
        if hyphened or self._word(last) == "rt":
            last_adjective = last + (3 if hyphened else 1)
            if self._word(last_adjective) in g.GUESTS:
                if value > 1 or before in _COUNTED:
                    return Mark("vms", first, last, value, until=last_adjective + 1)
                return Mark("idiom", first, last_adjective + 1, value)
        for _ in range(3):
            word = self._word(index)
            if word in CORES and self._word(index + 1) not in CORES:
                return self._cores(value, first, index + 1)
            between = word in ("-", "of", "the", "those", "remaining")
            if not between and word not in g.ADJECTIVES | CORES:
                break
            index += 1
        if self._word(last + 1) in CORES and self._counts(first, last):  # three Linux cores
            return Mark("cores", first, last, value, until=last + 2)
        if (noun := self._participle_end(last)) and self._word(noun) in g.GUESTS and value > 1:
            return Mark("vms", first, last, value, until=noun + 1)
        purpose = is_purpose(self.words[last : last + 2], self.known)
        if value > 1 and before != "the" and purpose:  # "two pump VMs"
            return Mark("vms", first, last + 2, value)
        noun = last + (self._word(last) == "virtual")
        while self._word(noun) in g.ADJECTIVES | g.OURS:
            noun += 1
        if self._word(noun) in g.GUESTS:
            # "One VM with ..., one VM with ...": references, not counts.
            counted = value > 1 or before in _COUNTED
            ours = any(self._word(at) in g.OURS for at in range(last, noun))
            until = noun + 1 if ours else None  # "two Tenon VMs ... and a Linux"
            return Mark("vms" if counted else "idiom", first, noun + 1, value, until=until)
        if self._word(last) == "with" and any(m.kind == "vms" for m in self.marks):
            return Mark("count", first, last, value)  # of three VMs, "two with control loops"
        if self._picks(last):  # of three VMs, "two of them control loops"
            return Mark("count", first, last + 2, value)
        if self._word(last) in ("of", "times", "%") or not self._counts(first, last):
            return None
        if value == 1 and self._word(last) in g.AFTER_PRONOUN | g.VERBS | g.STRONG | g.WEAK:
            return None  # "and one every 2 ms": a pronoun
        if value == 1 and before in g.ADJECTIVES and number_at(self.words, last):
            return None  # "the outer one 400 Hz"
        return Mark("count", first, last, value)

    def _participle_end(self, at: int) -> int:
        """The end of a participle that begins here: `cache-coloured`; else 0."""
        if self._word(at + 1) == "-":
            at += 2
        done = self._word(at).endswith("ed") and self._word(at) not in g.ADJECTIVES
        return at + 1 if done else 0

    def _picks(self, last: int) -> bool:
        """Whether `of them` and a noun or verb follow: a part of those counted before."""
        of_them = self._word(last) == "of" and self._word(last + 1) in g.REFERRING
        ends = {"", "every", "each", *g.STRONG, *g.SPLITTERS}
        return of_them and self._word(last + 2) not in ends

    def _own_cores(self, last: int) -> bool:
        """Whether a number counts cores as one did before: `... and Linux three of its own`."""
        said = [self._word(at) for at in range(last, last + 3)]
        own = said[:1] == ["of"] and said[1] in g.POSSESSIVE | {"its"} and said[2] == "own"
        return own and any(mark.kind == "cores" for mark in self.marks)

    def _counts_cores(self, before: str, last: int) -> bool:
        """Whether a number without a noun counts cores: `two cores for Linux, a loop with one`."""
        known = any(mark.kind == "cores" for mark in self.marks)
        if known and self._word(last) == "for" and (before == "and" or before in g.SIGNS | {","}):
            return True  # "four cores: three for Linux and one for a loop"
        return self._ends(last) and (before == "on" or (before == "with" and known))

    def _cores(self, value: int, first: int, last: int) -> Mark:
        before = self._word(first - 1)
        before = self._word(first - 2) if before in ("the", "its", "all") else before
        machine = self._word(last) in g.MACHINE
        whole = before in ("of", "all") or machine
        return Mark("cores", first, last, value, whole=whole, machine=machine)

    def _part_of(self, last: int) -> int | None:
        """The end of `of the four cores`, if that follows."""
        index = last + 1 if self._word(last) == "out" else last
        if self._word(index) != "of":
            return None
        index += 2 if self._word(index + 1) in ("the", "its") else 1
        if index >= len(self.words):
            return None
        whole = quantity_at(self.words, index)
        cores = whole and self._word(whole.last) in CORES
        return whole.last + 1 if cores and whole else None

    def _ends(self, index: int) -> bool:
        word = self._word(index)
        return not word or word in g.SPLITTERS

    def _counts(self, first: int, last: int) -> bool:
        """Whether a number counts the noun after it, rather than naming a model (`Pi 4`)."""
        following = self.words[last] if last < len(self.words) else None
        return following is not None and not self._ends(last)

    def _word(self, index: int) -> str:
        return self.words[index].word if 0 <= index < len(self.words) else ""
