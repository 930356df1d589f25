"""Leftovers: classification of words that were not understood, as demand or as no demand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tenonos.plan.english import grammar as g
from tenonos.plan.english.elements import Cut, Element, Unit
from tenonos.plan.english.gist import sentences
from tenonos.plan.english.mark import Mark
from tenonos.plan.english.sense import Sense
from tenonos.plan.english.text import Token
from tenonos.plan.models import Missing

MOST_OF_A_TITLE = 4
"""Words."""

Open = tuple[Missing, Sense, Unit]
"""Words that were not understood, with their place."""


def leftover(
    sense: Sense,
    unit: Unit,
    words: Sequence[Token],
    elements: Sequence[Element],
    known: bool,
    used: bool,
) -> str | None:
    """The reason why an unknown phrase is no demand; none if it is one.

    In a sentence with a gist, common words need not be known; neither need the object of a library
    that is `used` there, nor a title before a colon, if anything else is `known`.
    """
    if known and not sense.hit and _is_numbered_place(words, sense):
        return g.WHY_PURPOSE
    if known and not sense.hit and {w.word for w in words[sense.first : sense.last]} <= g.EVERYDAY:
        return g.WHY_MORE  # "step by step"
    if known and not sense.hit and sense.first and words[sense.first - 1].word in g.SIDES:
        return g.WHY_PURPOSE  # "the left wheel and the right wheel"
    if known and not sense.hit and _tells_which(sense, unit, words, elements):
        return g.WHY_ARGUMENT
    if known and not sense.hit and _is_stated(sense, words, elements):
        return g.WHY_CIRCUMSTANCE
    if known and not sense.hit and _is_presupposed(sense, unit, words):
        return g.WHY_ARGUMENT
    if known and not sense.hit and _opens_all(sense, unit, words, elements):
        return g.WHY_PURPOSE
    if known and not sense.hit and _is_adverb(sense, words):
        return g.WHY_MORE
    if sense.hit or _is_name(words, sense, unit):
        return None
    if any(first <= sense.first < last for first, last in _gists(words, elements)):
        return g.WHY_MORE
    if used:
        return g.WHY_ARGUMENT
    beside = (
        _is_title(elements, unit, words)
        or _is_beneficiary(sense, words)
        or _is_place(sense, unit, words, elements)
    )
    if known and beside:
        return g.WHY_PURPOSE
    return g.WHY_ARGUMENT if known and not _is_asked_for(sense, unit, words) else None


def stray(
    marks: Sequence[Mark], words: Sequence[Token], elements: Sequence[Element], periods: int
) -> Iterator[Mark]:
    """The numbers that do not count VMs.

    Tasks are counted if each has a period; in a sentence with a gist they are those of one VM.
    """
    gists = list(_gists(words, elements))
    for mark in marks:
        counted = next((w.word for w in words[mark.last :] if w.word not in g.ADJECTIVES), "")
        inside = periods == 0 and any(first <= mark.first < last for first, last in gists)
        tasks = counted in g.TASKS or bool(g.PERIOD.search(counted))  # "two periods: ..."
        if not tasks or (mark.value != periods and not inside):
            yield mark


def carriers(words: Sequence[Token], marks: Sequence[Mark]) -> list[str]:
    """Generic nouns for tasks outside of marks, and counted VMs."""
    vms = [" ".join(w.text for w in words[m.first : m.last]) for m in marks if m.kind == "vms"]
    marked = {index for mark in marks for index in range(mark.first, mark.last)}
    found = (word for index, word in enumerate(words) if index not in marked)
    return [*vms, *(word.text for word in found if word.word in g.CARRIERS)]


def within_gist(sense: Sense, elements: Sequence[Element]) -> bool:
    """Whether words without a name of their own are within a gist."""
    named = sense.hit is not None and sense.hit.exactness == 1
    return (
        sense.kind in ("capability", "unknown")
        and not named
        and any(
            isinstance(e, Mark)
            and e.kind == "gist"
            and e.first < sense.first
            and sense.last <= (e.until or e.last)
            for e in elements
        )
    )


def counts_real_time(mark: Mark, words: Sequence[Token]) -> bool:
    """Whether a count is of real-time VMs: `two real-time VMs`."""
    said = {word.word for word in words[mark.first : mark.until or mark.last]}
    return mark.kind == "vms" and not said.isdisjoint(g.OURS | {"real", "rt"})


def without_tasks(marks: Sequence[Mark], words: Sequence[Token]) -> list[Mark]:
    """The marks without those for generic periodic tasks: `cyclic ... task`."""
    said = [mark for mark in marks if mark.kind == "said"]
    left = list(marks)
    for mark in marks:
        until = mark.until or mark.last
        rest = [other for other in said if mark.last <= other.first < until]
        taken = {words[at].word for m in (mark, *rest) for at in range(m.first, m.last)}
        tasks = bool(taken & g.TASKS) and taken <= g.TASKS | set(g.TASK_MEANS) | g.CYCLIC
        if tasks and mark.kind == "gist":
            left = [other for other in left if other is not mark and other not in rest]
    return left


def _gists(words: Sequence[Token], elements: Sequence[Element]) -> Iterator[tuple[int, int]]:
    """The sentences with a gist."""
    gists = [e.first for e in elements if isinstance(e, Mark) and e.kind == "gist"]
    asides = [e for e in elements if isinstance(e, Mark) and e.kind == "ignored"]
    taken = [any(a.first <= at < a.last for a in asides) for at in range(len(words))]
    for first, last in sentences(words, taken):
        if any(first <= at < last for at in gists):
            yield first, last


def _is_title(elements: Sequence[Element], unit: Unit, words: Sequence[Token]) -> bool:
    """Whether a phrase opens its sentence and a colon ends it: `A mobile robot: ...`."""
    at = elements.index(unit)
    before = [e for e in elements[:at] if not isinstance(e, Mark) or e.kind != "count"]
    opens = not before or (isinstance(before[-1], Cut) and before[-1].word in g.SENTENCE_END)
    after = next(iter(elements[at + 1 :]), None)
    colon = isinstance(after, Cut) and after.word == ":"
    continued = not before and isinstance(after, Cut) and _goes_on(after, words)
    holds = _holds_vms(elements[at + 1 : at + 3]) or (not before and _has(unit, after, words))
    return opens and len(unit.chunks) == 1 and (colon or continued or holds)


def _goes_on(cut: Cut, words: Sequence[Token]) -> bool:
    """Whether the next sentence is about the same: `A pump. It needs ...`."""
    return cut.word == "." and cut.at + 1 < len(words) and words[cut.at + 1].word == "it"


def _holds_vms(following: Sequence[Element]) -> bool:
    """Whether the following words count VMs: `a cell with three VMs`."""
    cut, mark = (*following, None, None)[:2]
    joined = isinstance(cut, Cut) and cut.word == "with"
    return joined and isinstance(mark, Mark) and mark.kind == "vms"


def _has(unit: Unit, cut: Element | None, words: Sequence[Token]) -> bool:
    """Whether the opening phrase is described by its parts: `greenhouse with two control loops`."""
    joined = isinstance(cut, Cut) and cut.word == "with"
    return joined and not _has_a_name(words[unit.first : unit.last], True)


def _is_place(
    sense: Sense, unit: Unit, words: Sequence[Token], elements: Sequence[Element]
) -> bool:
    """Whether words are the place of counted VMs: `three guests on the boat`."""
    before = elements[elements.index(unit) - 1] if elements.index(unit) else None
    counted = isinstance(before, Mark) and before.kind == "vms" and unit.chunks[0] is sense.chunk
    return counted and sense.chunk is not None and sense.chunk.article == "definite"


def _tells_which(
    sense: Sense, unit: Unit, words: Sequence[Token], elements: Sequence[Element]
) -> bool:
    """Whether words distinguish one of several counted items by its rate.

    `Two loops: position at 250 Hz, torque at 4 kHz`.
    """
    at = elements.index(unit)
    periods = [i for i, e in enumerate(elements) if isinstance(e, Mark) and e.kind == "period"]
    marks = (e for e in elements[:at] if isinstance(e, Mark) and e.kind == "count")
    counted = any(mark.value == len(periods) for mark in marks)
    counted = counted or any(isinstance(e, Cut) and e.word == ":" for e in elements[:at])
    plain = not any(word.text[0].isupper() for word in words[sense.first : sense.last])
    if len(periods) > 1 and plain and _is_told_when(at, elements, periods):
        return True
    return at + 1 in periods and len(periods) > 1 and len(unit.chunks) == 1 and plain and counted


def _is_presupposed(sense: Sense, unit: Unit, words: Sequence[Token]) -> bool:
    """Whether words refer to existing things: `the gearbox temperature`, `a pump's valve`.

    A definite noun is no demand, nor is an action on it: `drives the cutter`. As a means it is one:
    `over the radio`.
    """
    chunk = sense.chunk
    if chunk is None or chunk.acronym:
        return False
    program = chunk.article == "definite" and bool(g.CARRIERS & _nouns(unit, words))
    led = unit.connector if chunk.preposition is None else chunk.preposition
    if not program and led in g.MEANS:
        return False
    inside = words[sense.first : sense.last]
    if _has_a_name(inside, sense.first == 0 or words[sense.first - 1].word in g.OPENERS):
        return False
    after = words[sense.last].word if sense.last < len(words) else ""
    if len(inside) == 1 and inside[0].word.endswith("ed") and after in g.STRONG | g.WEAK:
        return True  # "supplied from the mains": how something is
    denied = sense.first > 0 and words[sense.first - 1].word == "no"  # "no pump without a loop"
    before = words[sense.first - 1].word if sense.first else ""
    if len(inside) == 1 and before in ("it", "them") and after in g.SENTENCE_END | {"", ","}:
        return True  # "keeps it warm": how it is then
    owned = any(w.word.endswith(("'s", "s'")) for w in inside)
    return denied or owned or chunk.article == "definite" or _does_to_it(sense, words)


def _is_adverb(sense: Sense, words: Sequence[Token]) -> bool:
    """Whether a word is an adverb, by its ending: `technically`."""
    word = words[sense.first].word
    one = sense.last - sense.first == 1 and word == words[sense.first].text
    return one and len(word) > 6 and word.endswith("ly") and not word.endswith(g.NOUNS_IN_LY)


def _is_stated(sense: Sense, words: Sequence[Token], elements: Sequence[Element]) -> bool:
    """Whether a sentence only states a property: `Cryostats are slow`, `... is plenty`.

    The subject of a bare copula, if alone in its sentence, or a final predicate.
    """
    inside = words[sense.first : sense.last]
    before = words[sense.first - 1].word if sense.first else "."
    after = words[sense.last].word if sense.last < len(words) else "."
    if len(inside) == 1 and inside[0].text.islower() and before in g.COPULAS:
        return after in g.SENTENCE_END | {",", "but"}
    if before not in g.SENTENCE_END or after not in g.COPULAS or _has_a_name(inside, True):
        return False
    rest = []
    for word in words[sense.last + 1 :]:
        if word.word in g.SENTENCE_END:
            break
        rest.append(word.word)
    if g.NECESSARY & set(rest):
        return False  # "Bluetooth is important"
    return all(word in g.ADJECTIVES | g.ADVERBS | {"and", "too", "but", "or", ","} for word in rest)


def _nouns(unit: Unit, words: Sequence[Token]) -> set[str]:
    """The nouns of a phrase: `the planning software`."""
    return {words[at].word for at in unit.structure}


def _does_to_it(sense: Sense, words: Sequence[Token]) -> bool:
    """Whether a word is a verb with a definite object or pronoun: `checks the oil`."""
    if sense.last - sense.first != 1 or sense.chunk is None or sense.chunk.preposition:
        return False
    at = sense.last
    while at < len(words) and words[at].word in g.ADVERBS | g.WEAK | {"after"}:
        at += 1
    after = words[at].word if at < len(words) else ""
    finite = words[sense.first].word.endswith(("s", "ed")) or sense.chunk.article is None
    opens = sense.first == 0 or words[sense.first - 1].word in g.OPENERS
    return finite and not opens and after in g.DEFINITE | (g.PRONOUNS - {"one"})


def _opens_all(
    sense: Sense, unit: Unit, words: Sequence[Token], elements: Sequence[Element]
) -> bool:
    """Whether the first sentence is a single noun, as a title: `Fermenter.`"""
    inside = words[sense.first : sense.last]
    said = elements[: elements.index(unit)]
    alone = all(
        e.kind == "ignored"
        if isinstance(e, Mark)
        else isinstance(e, Cut) and e.word in g.SENTENCE_END
        for e in said
    )
    alone = alone and unit.chunks[0] is sense.chunk
    after = words[sense.last].word if sense.last < len(words) else ""
    ends = after in g.TITLE_END and len(inside) <= MOST_OF_A_TITLE
    heads = len(inside) > 1 and inside[0].text[1:].islower() and inside[-1].is_word
    return alone and ends and (heads or not _has_a_name(inside, True))


def _has_a_name(inside: Sequence[Token], opens: bool) -> bool:
    """Whether words contain a number, or capitals not due to the start of a sentence."""
    rest = inside[1:] if opens else inside
    shouted = opens and len(inside[0].text) > 1 and inside[0].text[1:] != inside[0].text[1:].lower()
    return shouted or any(w.is_number or w.text != w.text.lower() for w in (*rest,))


def _is_told_when(at: int, elements: Sequence[Element], periods: Sequence[int]) -> bool:
    """Whether a phrase is the description after a rate and a colon: `every 2 ms: read gyros`."""
    cut = elements[at - 1] if at > 1 else None
    after = elements[at + 1] if at + 1 < len(elements) else None
    ends = after is None or (isinstance(after, Cut) and after.word in g.SENTENCE_END | {","})
    return isinstance(cut, Cut) and cut.word == ":" and at - 2 in periods and ends


def _is_numbered_place(words: Sequence[Token], sense: Sense) -> bool:
    """Whether words are a numbered place: `in hall 3`, `at gate 12`."""
    chunk, inside = sense.chunk, words[sense.first : sense.last]
    placed = chunk is not None and chunk.preposition in ("in", "at")
    noun = words[sense.last - 2] if sense.last > 1 else None
    named = len(inside) <= 2 and inside[-1].is_number and noun is not None
    return placed and named and noun is not None and noun.text.islower()


def _is_beneficiary(sense: Sense, words: Sequence[Token]) -> bool:
    """Whether words are a beneficiary: `on our robot`, `our boat needs`, `give our ...`."""
    chunk, first = sense.chunk, sense.first
    if words[first - 1].word == "per" and first:
        return True  # "one loop per propeller"
    if _wants(sense, words):
        return True
    while first and words[first - 1].word in g.ADJECTIVES:
        first -= 1
    owned = first > 0 and words[first - 1].word in g.POSSESSIVE
    if chunk is None or not owned:
        return False
    after = words[sense.last].word if sense.last < len(words) else ""
    before = words[first - 2].word if first > 1 else ""
    placed = chunk.preposition is not None and chunk.preposition not in g.MEANS
    return placed or after in g.NEEDING or before in g.GIVING


def _wants(sense: Sense, words: Sequence[Token]) -> bool:
    """Whether words are the subject of a demand: `A bottling line wants ...`."""
    first = sense.first
    while first and words[first - 1].word in g.ADJECTIVES | g.INDEFINITE | {"every", "each"}:
        first -= 1
    opens = first == 0 or words[first - 1].word in g.SENTENCE_END
    after = words[sense.last].word if sense.last < len(words) else ""
    plain = not _has_a_name(words[sense.first : sense.last], first == sense.first)
    return opens and plain and after in g.NEEDING - {"should", "must", "shall"}


def _is_asked_for(sense: Sense, unit: Unit, words: Sequence[Token]) -> bool:
    """Whether common words are in the position of a demand.

    That is as a means, with an article in a list, at the start of a sentence, or as an action:
    `that plays music`.
    """
    chunk = sense.chunk
    named = any(word.text[1:] != word.text[1:].lower() for word in words[sense.first : sense.last])
    if chunk is None or named:
        return True
    if chunk.preposition is not None:
        goes = chunk.preposition in ("to", "onto") and chunk.article is None  # "log to flash"
        return goes or chunk.preposition in g.MEANS
    before = words[sense.first - 1].word if sense.first else ""
    if before in (g.NEEDING | g.GIVING) - {"should", "shall", "must"}:
        return True  # "we need speech recognition"
    opens = sense.first == 0 or words[sense.first - 1].word in g.SENTENCE_END
    does = unit.connector in ("that", "which") and chunk.article is None
    return unit.connector in g.MEANS or chunk.article == "indefinite" or opens or does


def _is_name(words: Sequence[Token], sense: Sense, unit: Unit) -> bool:
    """Whether words are a name: capitals, a number, or a means."""
    chunk = sense.chunk
    means = unit.connector in g.MEANS or (chunk and chunk.preposition in g.MEANS)
    object_of = sense.first and words[sense.first - 1].word in g.PRONOUNS  # "and start it afresh"
    first = chunk is unit.chunks[0] and not chunk.preposition and not object_of
    inside = words[sense.first : sense.last]
    acts = any(word.word in ("it", "them") for word in inside)  # "and throw it away"
    listed = unit.connector == "and" and first and not acts
    starts = sense.first == 0 or words[sense.first - 1].word in g.SENTENCE_END
    capital = any(w.text[0].isupper() for w in inside[1 if starts else 0 :])
    return bool(means) or listed or capital or any(w.is_number for w in inside)
