"""Knowledge base of retrieval: the texts of the pool.

One entry per Kconfig symbol that can be demanded: capabilities, libraries, applications and boards.
All meaning comes from these texts; a library dropped into the pool is found by its own words,
without registration elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Literal

import kconfiglib as kc

from tenonos.plan.retrieval.coined import coined, spellings
from tenonos.pool.kconfig import capability
from tenonos.system import board

EntryKind = Literal["capability", "library", "app", "board", "option"]
PREFIXES: dict[str, EntryKind] = {
    "CAP_": "capability",
    "LIB_": "library",
    "APP_": "app",
    "BOARD_": "board",
}
GUEST = "guest."
"""Prefix of the capabilities of guest systems."""
_FLAGS = re.IGNORECASE | re.DOTALL | re.MULTILINE
_KEYWORDS = re.compile(r"^keywords?:\s*(.*)\Z", _FLAGS)
_PHRASES = re.compile(r"^phrases?:\s*(.*?)(?:\n\s*\n|\Z)", _FLAGS)
_ABSENCE = re.compile(r"(?:no|without)\s+", re.IGNORECASE)


@dataclass(frozen=True)
class Entry:
    """A Kconfig symbol with its words."""

    symbol: str
    kind: EntryKind
    name: str
    """Its name: `net.ip`, `core/timer`, `motor`."""
    prompt: str
    text: str
    keywords: tuple[str, ...]
    phrases: tuple[str, ...] = ()
    """Groups of words with the same joint meaning; see `gist`."""
    absences: tuple[str, ...] = ()
    """Terms excluded by this entry: for the keyword "no tick", "tick"."""
    provides: tuple[str, ...] = ()
    """The symbols of the capabilities it selects."""
    providers: tuple[str, ...] = field(default=(), compare=False)
    """For a capability: the symbols that select it."""
    by_itself: bool = False
    """For a library: whether it is found by its own words alone. No other part of the pool requires
    it, and it provides no capability with words of its own."""

    @property
    def available(self) -> bool:
        """Whether something in the pool can satisfy a demand for it."""
        return self.kind != "capability" or bool(self.providers)


def entries(tree: kc.Kconfig) -> dict[str, Entry]:
    """Every entry of a Kconfig tree, by symbol; of boards only emulated ones."""
    metal = {board.load(name).symbol for name in set(board.names()) - set(board.played())}
    selected_by: dict[str, list[str]] = {}
    for symbol in tree.unique_defined_syms:
        for target in targets(symbol):
            selected_by.setdefault(target, []).append(symbol.name)
    found = {
        symbol.name: _entry(symbol, tuple(selected_by.get(symbol.name, ())))
        for symbol in tree.unique_defined_syms
        if kind_of(symbol.name) != "option" and symbol.name not in metal
    }
    asked = _asked_for(tree)
    for entry in found.values():
        if entry.kind == "library" and not entry.provides and entry.symbol not in asked:
            others = (e for e in found.values() if e is not entry and e.available)
            found[entry.symbol] = _by_itself(entry, others)
    return found


def _asked_for(tree: kc.Kconfig) -> frozenset[str]:
    """The symbols that another one selects, implies or, if it can be demanded, depends on."""
    asked = set()
    for symbol in tree.unique_defined_syms:
        asked.update(target.name for target, *_ in (*symbol.selects, *symbol.implies))
        if kind_of(symbol.name) != "option":
            asked.update(item.name for item in kc.expr_items(symbol.direct_dep))
    return frozenset(asked)


def _by_itself(entry: Entry, others: Iterable[Entry]) -> Entry:
    """A library that is found by its own words alone; without keywords, by coined names."""
    known = spellings(" ".join(map(_words, others)))
    names = entry.keywords or coined(entry.text, known)
    return replace(entry, by_itself=True, keywords=names)


def _words(entry: Entry) -> str:
    return " ".join((entry.name, entry.prompt, entry.text, *entry.keywords, *entry.phrases))


def kind_of(symbol: str) -> EntryKind:
    """The kind of a symbol, by its prefix."""
    return next((kind for prefix, kind in PREFIXES.items() if symbol.startswith(prefix)), "option")


def targets(symbol: kc.Symbol) -> Iterator[str]:
    """The symbols that one symbol selects."""
    for target, _condition, *_ in symbol.selects:
        yield target.name


def help_of(symbol: kc.Symbol) -> str:
    """The help texts of a symbol, in the order of the tree."""
    return "\n\n".join(node.help for node in symbol.nodes if node.help)


def split_phrases(text: str) -> tuple[str, tuple[str, ...]]:
    """A help text without its `Phrases:` paragraph, and the phrases."""
    found = _PHRASES.search(text)
    if not found:
        return text, ()
    return text[: found.start()] + text[found.end() :], _listed(found.group(1))


def split_keywords(text: str) -> tuple[str, tuple[str, ...]]:
    """A help text without its `Keywords:` paragraph, and the keywords."""
    found = _KEYWORDS.search(text)
    if not found:
        return text.strip(), ()
    return text[: found.start()].strip(), _listed(found.group(1))


def _listed(text: str) -> tuple[str, ...]:
    words = " ".join(text.split()).rstrip(".")
    return tuple(word.strip() for word in words.split(",") if word.strip())


def _entry(symbol: kc.Symbol, providers: tuple[str, ...]) -> Entry:
    kind = kind_of(symbol.name)
    prompt = next((node.prompt[0] for node in symbol.nodes if node.prompt), "")
    rest, phrases = split_phrases(help_of(symbol))
    text, keywords = split_keywords(rest)
    return Entry(
        symbol=symbol.name,
        kind=kind,
        name=_name(symbol, kind),
        prompt=prompt,
        text=text,
        keywords=tuple(word for word in keywords if not _ABSENCE.match(word)),
        phrases=phrases,
        absences=tuple(_ABSENCE.sub("", word) for word in keywords if _ABSENCE.match(word)),
        provides=tuple(t for t in targets(symbol) if kind_of(t) == "capability"),
        providers=providers if kind == "capability" else (),
    )


def _name(symbol: kc.Symbol, kind: EntryKind) -> str:
    if kind == "capability":
        return capability(symbol.name)
    # The folder is the name: pool/core/timer is core/timer, examples/apps/motor is motor.
    parts = symbol.nodes[0].filename.split("/")[:-1]
    stated = symbol.name.partition("_")[2].lower()
    depth = 2 if kind == "library" else 1
    found = "/".join(parts[-depth:])
    return found if re.sub(r"[/-]", "_", found) == stated else stated.replace("_", "-")
