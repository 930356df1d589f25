"""The pool as the planner sees it: texts, constraints, costs and tasks, loaded once."""

from __future__ import annotations

from collections.abc import Sequence
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

COST = "source lines"
"""What a library costs until it has a measured card."""


class Pool:
    """Everything the planner knows; each part is made when first asked for."""

    def __init__(self, root: Path = ROOT, extra: Sequence[Path] = ()) -> None:
        self.root = root
        self.extra = tuple(extra)

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

    @cached_property
    def encoding(self) -> Encoding:
        """The constraints as clauses."""
        self.tree.kconf.unset_values()
        return encode(self.tree.kconf)

    @cached_property
    def libraries(self) -> dict[str, library.Library]:
        """The crates by symbol."""
        return library.index(self.root).by_symbol

    @cached_property
    def costs(self) -> dict[str, int]:
        """What each library costs: its source lines, a stand-in for measured bytes."""
        from tenonos.build.sloc import count

        chosen = (e for e in self.entries.values() if e.kind in ("library", "app"))
        return {
            e.symbol: 1
            + (count(self.libraries[e.symbol].path) if e.symbol in self.libraries else 0)
            for e in chosen
        }

    @cached_property
    def apps(self) -> list[str]:
        """The symbols of the applications."""
        return sorted(e.symbol for e in self.entries.values() if e.kind == "app")

    def own_capability(self, app: str) -> str:
        """What an application is asked for by: its own capability, or its name."""
        entry = self.entries[app]
        return next((self.entries[c].name for c in entry.provides), f"apps/{entry.name}")

    def tasks(self, app: str) -> dict[str, int]:
        """The periodic tasks of an application, with the period each has by default."""
        crate = self.libraries.get(app)
        return dict(crate.tasks) if crate else {}

    def symbol(self, name: str) -> str:
        """The symbol a demand names: a capability's, a library's or an application's."""
        entry = self.by_name.get(name)
        return entry.symbol if entry else symbol_of(name)

    def fits(self, image: str, symbol: str) -> bool:
        """Whether an image of a kind (`mortise`, `tenon`) can have a symbol."""
        demands = [Demand((f"IMAGE_{image.upper()}",)), Demand((symbol,))]
        return satisfiable(Problem(self.encoding, demands))

    def check(self) -> None:
        """The pool's own mistakes, before they look like the user's."""
        if not self.entries:
            raise InputError("the pool is empty", where=str(self.root))
