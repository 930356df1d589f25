"""Words in an objective that a claim of the reader leaves to rules."""

from __future__ import annotations

import re

ANOTHER = re.compile(r"\b(?:second|another|other|further|additional|both|two)\b", re.IGNORECASE)
"""Words that say that a VM is not one that was named before."""
PLAIN = frozenset(["linux", "the", "a", "an", "side", "guest", "vm", "world", "kernel", "our"])
"""Words of a Linux VM that do not distinguish it from another."""
NOUN = re.compile(r"[^\W\d][\w-]*")
LINKS = frozenset(
    "a an the and or for with under of in on to at by as is it its be optimise optimize please "
    "minimise minimize keep make want need i we use".split()
)
"""Words that name no application."""
REAL_TIME = re.compile(r"\breal[- ]?time\b", re.IGNORECASE)
SENTENCE = re.compile(r"[.;!?\n。；]\s")
"""The end of a sentence."""
CLAUSE = re.compile(r"[,;:.!?]\s|[;\n()]")
_UPPER = re.compile(
    r"(?:most|under|below|than|within|≤|<|up to|max\w*|exceed\w*|fit\w* in\w*)\s*\W*$"
)
_OR_LESS = re.compile(r"\s*(?:max|at most|or less)")


def is_bound(text: str, first: int, last: int) -> bool:
    """Whether the words beside an amount, from `first` to `last`, make it an upper bound."""
    before, after = text[max(0, first - 24) : first].lower(), text[last : last + 12].lower()
    return bool(_UPPER.search(before) or _OR_LESS.match(after))


def slug(words: str) -> str:
    """Words as a name."""
    return re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-")[:31].rstrip("-")
