"""Texts by which the reader knows capabilities: name, help and keywords."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable

from tenonos.plan.retrieval.knowledge import Entry

LONGEST = 48
"""Words of a text that are read."""


def text_of(name: str, text: str, keywords: Iterable[str] = ()) -> str:
    """The text of a capability, at most `LONGEST` words of it."""
    plain = re.sub(r"\s+", " ", text).strip().rstrip(".")
    whole = f"{name.replace('.', ' ')}: {plain}. {', '.join(keywords)}"
    return " ".join(whole.split()[:LONGEST])


def texts_of(entries: Iterable[Entry]) -> dict[str, str]:
    """The texts of the pool's capabilities, by name."""
    return {
        entry.name: text_of(entry.name, entry.text, entry.keywords)
        for entry in entries
        if entry.kind == "capability"
    }


def digest(text: str) -> str:
    """The key of a text's embedding."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]
