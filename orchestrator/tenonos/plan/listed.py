"""Lists: what tells several that were counted from each other, one by one.

`Three VMs: one with a shell, one with queues, and a third that ...`, `VM 1: ... VM 2: ...`, and
names for VMs of which nothing else is known: `four VMs: gripper, lid, belt, stirrer`.
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
ITEM = re.compile(
    r"(?:(?<=[,:;(.–—] )|(?<=\band ))"
    r"(?:one(?! of)|another(?: one)?|(?:a|the) (?:first|second|third|fourth|fifth|other"
    r"|last)(?: one)?)"
    r"(?=,? (?:with|for|that|which|has|having|running|runs|gets|needs|uses|holds|hosts)\b)",
    re.IGNORECASE,
)
REFERENCE = re.compile(
    r"\b(?:to|from|of|by|in|into|with|and|or|than) (?:the )?"
    r"(?:vm|partition|guest|domain|cell|zone) (?:\d|[a-h])\b(?!\s*[:=(])",
    re.IGNORECASE,
)
"""One that has a label, spoken of again: `a channel to VM 1`."""
NAMES = re.compile(
    r"[:(–—] ?((?:[a-z]+(?: [a-z]+)?, ){1,6}(?:and )?[a-z]+(?: [a-z]+)?"
    r"| ?[a-z]+ and [a-z]+)(?=[.;)\n]|\Z)",
    re.IGNORECASE,
)
_WORDS = "zero one two three four five six seven eight".split()

Span = tuple[int, int]


def items(text: str) -> Iterator[Span]:
    """Where each of several VMs that were counted begins; nothing of a single one."""
    for counted in COUNTED.finditer(text):
        found = [(m.start(), m.end()) for m in ITEM.finditer(text, counted.end())]
        if len(found) > 1:
            yield from found
        return


def names(text: str, known: Callable[[str], bool]) -> Iterator[Span]:
    """The names of as many VMs as were counted before, if most of them mean nothing else."""
    for counted in COUNTED.finditer(text):
        said = counted.group().split()[0].lower()
        number = int(said) if said.isdecimal() else _WORDS.index(said)
        for listed in NAMES.finditer(text, counted.end()):
            parts = re.split(r",\s*(?:and )?|\s+and\s+", listed[1].strip())
            strange = [part for part in parts if not any(map(known, part.split()))]
            if len(parts) == number and 2 * len(strange) > number:
                yield listed.start(1), listed.end(1)
