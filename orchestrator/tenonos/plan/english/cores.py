"""Grammar of cores: named cores, exclusive cores, remaining cores."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from tenonos.errors import InputError
from tenonos.plan.english.mark import Mark
from tenonos.plan.english.text import Token

OWN_CORE = re.compile(
    r"\b(?:(?:on |with |has |have |gets )*(?:its|their|his) own (?:dedicated )?(?:cpu )?"
    r"(?:core|cpu|processor)s?"
    r"|(?:on )?an? (?:dedicated|isolated|private|exclusive|separate|reserved)(?: cpu)? "
    r"(?:core|cpu|processor)(?: of its own)?"
    r"|(?:on )?an? (?:physical |whole |full )?(?:core|cpu|processor)"
    r" (?:all )?(?:of its own|to itself|for itself)"
    r"|its (?:core|cpu) to itself"
    r"|one (?:per|to (?:a|each|every)|(?:on|for) (?:each|every)) (?:physical )?"
    r"(?:core|cpu|processor)"
    r"|(?:core|cpu|processor) (?:that|which) (?:it|he|she) shares with"
    r" (?:nobody|no one|none|nothing)(?: else)?)\b",
    re.IGNORECASE,
)
_UNIT = r"(?!\w|\.\d|\s*-?(?:[kmgt]i?b|[kmgt]?b|[nuµm]s|s|[kmg]?hz)\b)"
_CORE = r"(?:cores?|v?cpus?|processors?)"
NAMED_CORES = re.compile(
    rf"\b(?:(?:on )?{_CORE} ?|on )(\d+)\s*(?:-|–|to|through|\.\.)\s*(\d+){_UNIT}"
    rf"|\b(?:on )?{_CORE} ?(\d+{_UNIT}(?:\s*(?:,\s*and|,|and|&)\s*\d+{_UNIT})*)",
    re.IGNORECASE,
)
"""`core 3`, `cores 1 to 3`, `CPUs 0, 1 and 2`: cores by their numbers."""
LEADS = re.compile(
    r"\s*(?:(?:will |shall |must |should |is to |are to )?(?:run|host|get|have|hold|carry|execute"
    r"|take|do|serve|own)s?|has|carries|does|(?:is|are|goes?|belongs?|stays?|reserved|dedicated)"
    r" (?:reserved |dedicated |given |left )?(?:to|for)|[:=→])(?!\w)",
    re.IGNORECASE,
)
"""Words after cores that precede their content: `core 2 runs ...`, `core 3: ...`."""
GAPPED = re.compile(r"(?:[,;.:(]|\band)\s*(?:and )?$"), re.compile(r"\s+(?:an?|the|\d)\b|\s+[A-Z]")
"""Context of cores with an elided verb: `core 2 runs a loop, core 3 a shell`."""
REST = re.compile(
    r"\b(?:all )?(?:the )?(?:others?|remaining|rest of the|left-?over)"
    r"(?: (?:cores?|cpus?|processors?))\b"
    r"|\bthe (?:other|remaining) (?:two|three|four|\d+)(?=\W*(?:$|[.,;]))"
    r"|\belsewhere\b"
    r"|\bwhat(?:ever|soever)? (?:other )?(?:cores?|cpus?|processors?)(?: (?:that|which))?"
    r" (?:(?:is|are|stays?) )?(?:remains?|left(?: over)?|free|unused|spare|idle|over)\b"
    r"|\b(?:everything (?:else|that (?:is left|remains))|what(?:ever)? (?:is left|remains)"
    r"|the rest)\b"
    r"(?: of the (?:board|chip|machine))?",
    re.IGNORECASE,
)
ORDINALS = "first second third fourth fifth sixth seventh eighth".split()
COUNTED_CORE = re.compile(rf"\b(?:on )?the ({'|'.join(ORDINALS)}) {_CORE}\b", re.IGNORECASE)
"""`the fourth core`: the one of number three."""

_KEPT_FROM = re.compile(
    r"\b(?:off(?: of)?|(?:not|never)(?: (?:be|run|runs|use|uses|live|sit|go|put|placed|pinned))?"
    r"|n't(?: (?:run|use|live|sit|go))?|away from|avoid(?:s|ing)?)(?: on)? ?$",
    re.IGNORECASE,
)
"""Words before an excluded core: `Linux, but not on core 3`."""
_LEFT = re.compile(r"\b(?:leav|keep|spar)(?:e|es|ing|s)? ?$", re.IGNORECASE)
_FREE = re.compile(r" (?:free|empty|idle|unused|alone)\b", re.IGNORECASE)


def named(text: str) -> Iterator[tuple[int, int, list[int]]]:
    """The named cores, with places and numbers."""
    for found in (*COUNTED_CORE.finditer(text), *NAMED_CORES.finditer(text)):
        _check_given(text, found.start(), found.end())
    for found in COUNTED_CORE.finditer(text):
        yield found.start(), found.end(), [ORDINALS.index(found[1].lower())]
    for found in NAMED_CORES.finditer(text):
        if found[1]:
            last = min(int(found[2]), int(found[1]) + 64)
            numbers = list(range(int(found[1]), last + 1))
        else:
            numbers = [int(number) for number in re.findall(r"\d+", found[3])]
        if numbers:
            yield found.start(), found.end(), numbers


def _check_given(text: str, start: int, end: int) -> None:
    """Refuse an excluded core at [start, end): a plan states the cores a VM has."""
    left = _LEFT.search(text, 0, start) and _FREE.match(text, end)
    if left or _KEPT_FROM.search(text, 0, start):
        raise InputError(
            f"“{text[start:end]}” excludes a core",
            "objective",
            "name the cores to use",
        )


def leads(marks: Sequence[Mark], words: Sequence[Token], text: str) -> Iterator[Mark]:
    """The marks of named cores that precede their content."""
    led = False
    for mark in sorted(marks, key=lambda mark: mark.first):
        start, end = words[mark.first].start, words[mark.last - 1].end
        before, behind = GAPPED
        gapped = led and before.search(text, 0, start) and behind.match(text, end)
        if LEADS.match(text, end) or gapped:
            led = True
            yield mark
