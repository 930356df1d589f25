"""Enumerations of counted VMs or tasks.

`Three VMs: one with a shell, one with queues, and a third that ...`, `VM 1: ... VM 2: ...`, and
names for otherwise unknown VMs: `four VMs: gripper, lid, belt, stirrer`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

_NUMBER = r"(?:two|three|four|five|six|seven|eight|[2-8])"
_VMS = (
    rf"\b{_NUMBER} (?:(?!linux\b|guests?\b)[\w-]+ ){{0,3}}?"
    r"(?:vms|partitions|guests|virtual machines)\b"
)
COUNTED = re.compile(_VMS, re.IGNORECASE)
FIRST = re.compile(
    r"\bthe first (?:vm|partition|guest|virtual machine|domain)\b(?=.*\bthe (?:second|other"
    r"|third)\b)",
    re.IGNORECASE | re.DOTALL,
)
"""The first item of an enumeration without a count."""
ITEM = re.compile(
    r"(?:(?<=[,:;(.–—] )|(?<=\band )|\A(?=the first))"
    r"(?:one(?! of)|another(?: one)?|(?:a|the) (?:first|second|third|fourth|fifth|other"
    r"|last)(?: (?:one|vm|partition|guest|virtual machine|domain))?)"
    r"(?=,? (?:with|for|that|which|has|having|running|runs|gets|needs|uses|holds|hosts|contains"
    r"|is|an?"
    r"|takes|carries|houses|keeps)\b|,? Linux\b)",
    re.IGNORECASE,
)
REFERENCE = re.compile(
    r"\b(?:to|from|of|by|in|into|with|and|or|than) (?:the )?"
    r"(?:vm|partition|guest|domain|cell|zone) (?:\d|[a-h])\b(?!\s*[:=(])",
    re.IGNORECASE,
)
"""A reference to a labelled item: `a channel to VM 1`."""
_ITEM = (
    r"(?:(?:the|an?|one) )?"
    r"(?:(?!(?:and|each|every|with|both|all|for)\b)[a-z][\w-]*(?: (?=\w))?){1,2}"
)
LIST = rf"(?:{_ITEM}(?:, {_ITEM}){{0,6}},? and {_ITEM}|{_ITEM}(?:, {_ITEM}){{1,6}})"
"""Nouns with commas or `and` between them."""
NAMES = re.compile(
    rf"(?:[:(–—] ?|\b(?:for|called|named|namely) )({LIST})"
    r"(?=\s*(?:[.;)\n]|\Z|, (?:each|every|all|both|with|which|that)\b))",
    re.IGNORECASE,
)
_WORDS = "zero one two three four five six seven eight".split()

Span = tuple[int, int]


def items(text: str) -> Iterator[Span]:
    """The start of each of several counted VMs; none for a single one."""
    for counted in (*COUNTED.finditer(text), *FIRST.finditer(text)):
        at = counted.start() if FIRST.match(text, counted.start()) else counted.end()
        found = [(m.start(), m.end()) for m in ITEM.finditer(text, at)]
        if len(found) > 1:
            yield from found
        return


def names(text: str, known: Callable[[str], bool]) -> Iterator[Span]:
    """The names of counted VMs, if most are otherwise unknown."""
    for counted in COUNTED.finditer(text):
        number = number_of(counted.group().split()[0])
        for listed in NAMES.finditer(text, counted.end()):
            parts = parts_of(listed[1])
            strange = [part for part in parts if not any(map(known, part.split()))]
            if len(parts) == number and 2 * len(strange) > number:
                yield listed.start(1), listed.end(1)


def parts_of(listed: str) -> list[str]:
    """The nouns of a list."""
    return re.split(r",\s*(?:and )?|\s+and\s+", listed.strip())


EACH_OF = re.compile(
    rf"\b(?:each|every one|each one) of (?:the |our |its |their |these |those )?"
    rf"(?:[\w-]+ ){{0,2}}?(?:[\w-]+['’]s )?(?P<number>{_NUMBER}) "
    r"(?P<noun>(?!(?:[mµun]?s|\w+onds|minutes|hours)\b)[\w-]+s)\b",
    re.IGNORECASE,
)
"""A thing for each of several items: `each of the two joints has ...`."""
EACH_ONE = re.compile(
    rf"(?:\bgiv(?:e|es|ing) (?P<given>{LIST}) (?P<one>an?|one)"
    rf"|(?P<list>{LIST}) (?:(?:both|all|each|will|must|should|shall) )*"
    r"(?:gets?|has|have|needs?|wants?|receives?|runs? in|(?:is|are) given) "
    r"(?P<a>an?|one|their own))"
    r"(?= [^,;:.]{1,60}?\b(?:each|apiece|of (?:its|their) own)\b)",
    re.IGNORECASE,
)
"""Several items with one thing each: `pump and valve get a VM each`."""


def each_of(text: str, known: Callable[[str], bool]) -> Iterator[tuple[int, int, int]]:
    """Distributive statements about otherwise unknown items, with their number."""
    for found in EACH_OF.finditer(text):
        if not known(found["noun"]) or found["noun"].lower() in ("cores", "cpus", "processors"):
            yield found.start(), found.end(), number_of(found["number"])


def number_of(said: str) -> int:
    """The number of a word or digit."""
    return int(said) if said.isdecimal() else _WORDS.index(said.lower())


def each_one(text: str, known: Callable[[str], bool]) -> Iterator[tuple[Span, Span, int]]:
    """Several named items with one thing each, if most are otherwise unknown: the items, the
    article of the thing, and their number."""
    for found in EACH_ONE.finditer(text):
        whose, one = ("given", "one") if found["given"] else ("list", "a")
        parts = parts_of(found[whose])
        strange = [part for part in parts if not any(map(known, part.split()))]
        if 2 * len(strange) > len(parts):
            yield found.span(whose), found.span(one), len(parts)
