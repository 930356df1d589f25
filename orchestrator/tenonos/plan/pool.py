"""The pool as the planner sees it: texts, constraints, costs and tasks, loaded once."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cached_property
from pathlib import Path

from tenonos.errors import InputError
from tenonos.paths import ROOT
from tenonos.plan.encode import Encoding, encode
from tenonos.plan.knowledge import Entry, entries
from tenonos.plan.retrieve import Retriever
from tenonos.plan.solve import Demand, Problem, satisfiable
from tenonos.pool import library
from tenonos.pool.kconfig import Tree, load, symbol_of

CORES = "TENON_THREAD_CORES"
"""The number of cores that run an image's threads."""
C_LIBRARY = "LIB_TENON_LIBC"
"""What all of the interface for C stands on; made a program of by an application in C alone."""
COST = "source lines"
"""What a library costs until it has a measured card."""


class Pool:
    """Everything the planner knows; each part is made when first asked for."""

    def __init__(self, root: Path = ROOT, extra: Sequence[Path] = ()) -> None:
        self.root = root
        self.extra = tuple(extra)
        self._encoded: dict[int, Encoding] = {}

    @cached_property
    def tree(self) -> Tree:
        """The Kconfig tree."""
        return load(self.extra, self.root)

    @cached_property
    def entries(self) -> dict[str, Entry]:
        """What can be demanded, by symbol."""
        return entries(self.tree.kconf)

    @cached_property
    def by_name(self) -> dict[str, Entry]:
        """What can be demanded, by the name people use."""
        named = {entry.name: entry for entry in self.entries.values()}
        return named | {f"apps/{e.name}": e for e in self.entries.values() if e.kind == "app"}

    @cached_property
    def retriever(self) -> Retriever:
        """The index of the texts."""
        return Retriever(self.entries.values())

    @property
    def encoding(self) -> Encoding:
        """The constraints as clauses, of an image with one core."""
        return self.encoded(1)

    def encoded(self, cores: int) -> Encoding:
        """The constraints of an image whose threads have so many cores."""
        if cores not in self._encoded:
            self.tree.kconf.unset_values()
            numbers = {CORES: cores} if CORES in self.tree.symbols else {}
            self._encoded[cores] = encode(self.tree.kconf, numbers)
        return self._encoded[cores]

    @cached_property
    def libraries(self) -> dict[str, library.Library]:
        """The crates by symbol."""
        return library.index(self.root).by_symbol

    @cached_property
    def costs(self) -> dict[str, int]:
        """What each library costs: its source lines, a stand-in for measured bytes."""
        chosen = (e.symbol for e in self.entries.values() if e.kind in ("library", "app"))
        crates = self.libraries
        return {s: 1 + (_lines(crates[s]) if s in crates else 0) for s in chosen}

    @cached_property
    def apps(self) -> list[str]:
        """The symbols of the applications."""
        return sorted(e.symbol for e in self.entries.values() if e.kind == "app")

    def in_c(self, app: str) -> bool:
        """Whether an application is written in C."""
        crate = self.libraries.get(app)
        return crate is not None and library.is_c(crate.path)

    def linked(self, app: str) -> frozenset[str]:
        """The symbols of the libraries whose code an application's image can have."""
        index = library.index(self.root)
        found: set[str] = set()
        open_ones = [self.libraries[app]] if app in self.libraries else []
        while open_ones:
            new = [
                lib for lib in index.pool_dependencies(open_ones.pop()) if lib.symbol not in found
            ]
            found.update(lib.symbol for lib in new)
            open_ones += new
        return frozenset(found)

    def uses(self, apps: Sequence[str], name: str) -> bool:
        """Whether one of some applications has use for a capability that only crates provide."""
        entry = self.by_name.get(name)
        crates = set(entry.providers if entry else ())
        if not crates or not crates <= set(self.libraries) or crates & set(self.apps):
            return True
        return any(crates & self.linked(app) for app in apps)

    def own_capability(self, app: str) -> str:
        """What an application is asked for by: its own capability, or its name."""
        entry = self.entries[app]
        return next((self.entries[c].name for c in entry.provides), f"apps/{entry.name}")

    def is_whole(self, app: str, asked: Collection[str]) -> bool:
        """Whether an application does something alone, or what it needs another VM for is asked."""
        entry = self.by_name.get("ipc.channel")
        if entry is None or not {app, entry.symbol, *self.entries[app].provides}.isdisjoint(asked):
            return True
        selected = {target.name for target, *_ in self.tree.symbols[app].selects}
        return selected.isdisjoint(entry.providers)

    def tasks(self, app: str) -> dict[str, int]:
        """The periodic tasks of an application, with the period each has by default."""
        crate = self.libraries.get(app)
        return dict(crate.tasks) if crate else {}

    def symbol(self, name: str) -> str:
        """The symbol a demand names: a capability's, a library's or an application's."""
        entry = self.by_name.get(name)
        return entry.symbol if entry else symbol_of(name)

    def fits(self, image: str, symbol: str) -> bool:
        """Whether an image of a kind (`mortise`, `tenon`) can have a symbol, on any cores."""
        demands = [Demand((f"IMAGE_{image.upper()}",)), Demand((symbol,))]
        return any(satisfiable(Problem(self.encoded(cores), demands)) for cores in (1, 2))

    def check(self) -> None:
        """The pool's own mistakes, before they look like the user's."""
        if not self.entries:
            raise InputError("the pool is empty", where=str(self.root))


def _lines(crate: library.Library) -> int:
    """Source lines of a crate, or of a program in C."""
    from tenonos.build.sloc import count, lines

    return count(crate.path) + sum(lines((crate.path / f).read_text()) for f in crate.sources)
