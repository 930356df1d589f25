"""The pool as the planner sees it: texts, constraints, costs and tasks, loaded once."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from tenonos.cards.card import KINDS, kernel
from tenonos.cards.estimate import Estimates, of_tree
from tenonos.errors import InputError
from tenonos.generate.image import PROTECTION, TABLES_BESIDE, TABLES_OF_ITSELF
from tenonos.paths import ROOT
from tenonos.plan import learned
from tenonos.plan.encode import Encoding, encode
from tenonos.plan.retrieval.knowledge import Entry, entries
from tenonos.plan.retrieval.retrieve import Retriever
from tenonos.plan.solve import Demand, Problem, satisfiable
from tenonos.pool import library
from tenonos.pool.kconfig import Tree, load, symbol_of
from tenonos.system.limits import PAGE

PERIOD = "TENON_PERIODIC_PERIOD_NS"
"""The symbol of a task's period, in an image without a hypervisor."""
CORES = "TENON_THREAD_CORES"
"""The number of cores that run an image's threads."""
C_LIBRARY = "LIB_TENON_LIBC"
"""The base library of the C interface; only an application in C makes a program of it."""
POSIX = "api.posix"
"""The symbol of applications in C, which conflicts with one in Rust."""
INPUT = "tenon/line"
"""The library for console input; a VM with it has a serial port."""
FUSED, LIGHTRAG = "fused", "lightrag"
"""Retrieval methods: by rankings of the texts, or in a knowledge graph."""
COST = "bytes"
"""The unit of a library's cost, from its measured card."""


class Pool:
    """The knowledge of the planner; each part is loaded on first use."""

    def __init__(
        self, root: Path = ROOT, extra: Sequence[Path] = (), retrieval: str = FUSED
    ) -> None:
        self.root = root
        self.retrieval = retrieval
        self.extra = tuple(extra)
        self._encoded: dict[int, Encoding] = {}
        self._bytes: dict[str, dict[str, int]] = {}
        self._linked: dict[str, frozenset[str]] = {}
        self._implied: dict[tuple[str, str], bool] = {}

    @cached_property
    def tree(self) -> Tree:
        """The Kconfig tree."""
        return load(self.extra, self.root)

    @cached_property
    def entries(self) -> dict[str, Entry]:
        """The entries that can be demanded, by symbol."""
        found = entries(self.tree.kconf)
        # An application with arbitrary tasks is a substitute, never meant by a task's name, and a
        # native task is no application of a VM.
        others = {symbol for symbol in found if self.has_any_task(symbol) or self.is_native(symbol)}
        return {
            symbol: replace(entry, providers=tuple(p for p in entry.providers if p not in others))
            for symbol, entry in found.items()
        }

    @cached_property
    def by_name(self) -> dict[str, Entry]:
        """The entries that can be demanded, by name."""
        named = {entry.name: entry for entry in self.entries.values()}
        return named | {f"apps/{e.name}": e for e in self.entries.values() if e.kind == "app"}

    @cached_property
    def retriever(self) -> Retriever:
        """The index of the texts."""
        if self.retrieval == FUSED:
            return Retriever(self.entries.values())
        from tenonos.plan.retrieval.graph import lib_graph
        from tenonos.plan.retrieval.lightrag import GraphRetriever

        return GraphRetriever(self.entries.values(), lib_graph(self.tree.kconf))

    @property
    def encoding(self) -> Encoding:
        """The constraints as clauses, of an image with one core."""
        return self.encoded(1)

    def encoded(self, cores: int) -> Encoding:
        """The constraints of an image with threads on `cores` cores, learned ones included."""
        if cores not in self._encoded:
            self.tree.kconf.unset_values()
            numbers = {CORES: cores} if CORES in self.tree.symbols else {}
            found = encode(self.tree.kconf, numbers)
            clauses = (one.clause(found.literals) for one in self.learned)
            found.clauses += [clause for clause in clauses if clause is not None]
            self._encoded[cores] = found
        return self._encoded[cores]

    @cached_property
    def learned(self) -> list[learned.Dependency]:
        """Learned dependencies, unknown to Kconfig."""
        return learned.load(self.root)

    @cached_property
    def index(self) -> library.Index:
        """The crates with their dependencies."""
        return library.index(self.root)

    @property
    def libraries(self) -> dict[str, library.Library]:
        """The crates by symbol."""
        return self.index.by_symbol

    @cached_property
    def estimates(self) -> Estimates:
        """The measured cards of the libraries."""
        return of_tree(self.root)

    @cached_property
    def costs(self) -> dict[str, int]:
        """The cost of each library: bytes in the kind of image where it adds most."""
        kinds = [self.bytes_in(kind) for kind in KINDS]
        return {symbol: max(costs[symbol] for costs in kinds) for symbol in kinds[0]}

    def bytes_in(self, kind: str) -> dict[str, int]:
        """The bytes that each library adds to an image of a kind, at least one."""
        if kind not in self._bytes:
            self._bytes[kind] = self._sizes(kind)
        return self._bytes[kind]

    def _sizes(self, kind: str) -> dict[str, int]:
        chosen = (e.symbol for e in self.entries.values() if e.kind in ("library", "app"))
        crates = self.libraries
        size = self.estimates.size
        return {
            symbol: max(1, size(kind, crates[symbol].id).loaded) if symbol in crates else 1
            for symbol in chosen
        }

    def weights(self, kind: str, utility: str) -> dict[str, int]:
        """The weights to minimise in an image of a kind, by symbol, for a utility."""
        crates = self.libraries
        if utility == "memory":
            of = self.estimates.size
            whole = {s: max(1, of(kind, crates[s].id).total) for s in crates}
            return {symbol: whole.get(symbol, 1) for symbol in self.bytes_in(kind)}
        sizes = self.bytes_in(kind)
        taken = {s: self.estimates.instructions(crates[s].id) if s in crates else 0 for s in sizes}
        rate = {
            "footprint": 0,
            # Each instruction weighs as much as all bytes together.
            "latency": sum(sizes.values()),
            # All instructions together weigh as much as all bytes.
            "balance": sum(sizes.values()) // max(1, sum(taken.values())),
        }[utility]
        return {symbol: size + rate * taken[symbol] for symbol, size in sizes.items()}

    def loaded(self, kind: str, symbols: Iterable[str]) -> int:
        """The estimated size of an image's file in bytes."""
        costs = self.bytes_in(kind)
        own = self.estimates.size(kind, kernel(kind)).loaded
        return own + sum(costs[symbol] for symbol in symbols if symbol in costs)

    def occupied(self, kind: str, symbols: Iterable[str], values: Mapping[str, bool]) -> int:
        """Its estimated use of memory: whole pages, and translation tables."""
        size = self.estimates.size(kind, kernel(kind))
        for symbol in symbols:
            if symbol in self.libraries:
                size += self.estimates.size(kind, self.libraries[symbol].id)
        sections = (size.text, size.rodata, size.data, size.bss)
        pages = sum(-(-section // PAGE) for section in sections)
        tables = TABLES_BESIDE + TABLES_OF_ITSELF if values.get(PROTECTION) else 0
        return (pages + tables) * PAGE

    def measured(self, kind: str, symbols: Iterable[str]) -> bool:
        """Whether the estimate uses measured cards only."""
        chosen = [self.libraries[s].id for s in symbols if s in self.libraries]
        return all(self.estimates.measured(kind, name) for name in chosen)

    def deepest(self, symbols: Iterable[str]) -> int:
        """The deepest measured stack of a function of these, with its callees."""
        ids = (self.libraries[s].id for s in symbols if s in self.libraries)
        cards = (self.estimates.cards[name] for name in ids if name in self.estimates.cards)
        return max((part.stack or 0 for card in cards for part in card.parts.values()), default=0)

    def deepest_of_program(self, symbols: Iterable[str]) -> int:
        """The deepest measured stack of the applications among these."""
        return self.deepest(s for s in symbols if s.startswith("APP_"))

    @cached_property
    def apps(self) -> list[str]:
        """The symbols of the applications of a kernel, without native tasks."""
        apps = [entry.symbol for entry in self.entries.values() if entry.kind == "app"]
        return sorted(app for app in apps if not self.is_native(app))

    @cached_property
    def natives(self) -> list[str]:
        """The symbols of the native tasks, programs within the hypervisor."""
        return sorted(symbol for symbol in self.entries if self.is_native(symbol))

    def is_native(self, app: str) -> bool:
        """Whether a symbol is that of a native task."""
        crate = self.libraries.get(app)
        return crate is not None and crate.rights is not None

    def in_c(self, app: str) -> bool:
        """Whether an application is written in C."""
        crate = self.libraries.get(app)
        return crate is not None and library.is_c(crate.path)

    def speaks_of_c(self, asked: Collection[str]) -> bool:
        """Whether demands are about C: its library or interface, or a task of a C program."""
        of_c = [app for app in self.apps if self.in_c(app)]
        done = {symbol for app in of_c for symbol in (app, *self.entries[app].provides)}
        return not {C_LIBRARY, self.symbol(POSIX), *done}.isdisjoint(asked)

    def linked(self, app: str) -> frozenset[str]:
        """The symbols of the libraries that an application's image can link: those that it needs,
        their options, and those that register in the place of one of these."""
        if app not in self._linked:
            self._linked[app] = self._links(app)
        return self._linked[app]

    def _links(self, app: str) -> frozenset[str]:
        needed = self._needed([self.libraries[app]] if app in self.libraries else [])
        options = [option for lib in needed for option in self.index.pool_options(lib)]
        whole = self._needed([*needed, *options])
        crates = {lib.package.replace("-", "_") for lib in whole}
        over = [
            lib
            for lib in self.index.libraries
            if any(r.over and r.over.partition("::")[0] in crates for r in lib.registers)
        ]
        return frozenset(lib.symbol for lib in self._needed([*whole, *over])) - {app}

    def _needed(self, crates: Iterable[library.Library]) -> list[library.Library]:
        """Crates with all their dependencies."""
        found = {crate.package: crate for crate in crates}
        open_ones = list(found.values())
        while open_ones:
            needed = self.index.pool_dependencies(open_ones.pop())
            open_ones += [crate for crate in needed if crate.package not in found]
            found |= {crate.package: crate for crate in needed}
        return list(found.values())

    def uses(self, apps: Sequence[str], name: str) -> bool:
        """Whether one of `apps` uses a capability that only crates provide."""
        entry = self.by_name.get(name)
        crates = set(entry.providers if entry else ())
        if not crates or not crates <= set(self.libraries) or crates <= set(self.apps):
            return True
        return any(crates & {app, *self.linked(app)} for app in apps)

    def done_by(self, name: str) -> list[str]:
        """The applications that provide a capability, or have that name."""
        entry = self.by_name.get(name)
        return [a for a in self.apps if entry and a in (entry.symbol, *entry.providers)]

    def own_capability(self, app: str) -> str:
        """The demand for an application: its own capability, or its name."""
        entry = self.entries[app]
        return next((self.entries[c].name for c in entry.provides), f"apps/{entry.name}")

    def listens(self, app: str) -> bool:
        """Whether an application reads console input."""
        entry = self.by_name.get(INPUT)
        selected = {target.name for target, *_ in self.tree.symbols[app].selects}
        return entry is not None and entry.symbol in selected | self.linked(app)

    def is_whole(self, app: str, asked: Collection[str]) -> bool:
        """Whether an application uses all demanded libraries, and works alone or is demanded
                itself.

        One that needs another VM or console input would wait forever without.
        """
        entries = [self.entries[symbol] for symbol in asked if symbol in self.entries]
        if not all(each.name == POSIX or self.uses([app], each.name) for each in entries):
            return False
        # A task done only by applications is done by no other one.
        done = [each for each in entries if each.providers and {*each.providers} <= {*self.apps}]
        if any(each.symbol not in self.entries[app].provides for each in done):
            return False
        provided = set(self.entries[app].provides) & set(asked)
        if self.listens(app) and not provided and app not in asked:
            return False
        entry = self.by_name.get("ipc.channel")
        own = any(self.entries[name].providers == (app,) for name in provided)
        if own or app in asked or entry is None or entry.symbol in asked:
            return True
        selected = {target.name for target, *_ in self.tree.symbols[app].selects}
        return selected.isdisjoint(entry.providers)

    def tasks(self, app: str) -> dict[str, int]:
        """The periodic tasks of an application, with their default periods."""
        crate = self.libraries.get(app)
        return dict(crate.tasks) if crate else {}

    def has_any_task(self, app: str) -> bool:
        """Whether an application runs any number of tasks named by its system."""
        crate = self.libraries.get(app)
        return crate is not None and crate.any_task

    def has_tasks(self, app: str, periodic: bool, count: int, named: bool) -> bool:
        """Whether an application has the tasks of a VM, `count` of them if periodic."""
        if self.has_any_task(app):
            return count > 1 or named
        return count == 1 and (bool(self.tasks(app)) or not periodic)

    def symbol(self, name: str) -> str:
        """The symbol named by a demand: of a capability, a library or an application."""
        entry = self.by_name.get(name)
        return entry.symbol if entry else symbol_of(name)

    def fits(self, image: str, symbol: str) -> bool:
        """Whether an image of a kind (`mortise`, `tenon`) can have a symbol, for any number of
        cores."""
        demands = [Demand((f"IMAGE_{image.upper()}",)), Demand((symbol,))]
        return any(satisfiable(Problem(self.encoded(cores), demands)) for cores in (1, 2))

    def implies(self, name: str, other: str) -> bool:
        """Whether a Tenon image can have a capability, and none without another one."""
        key = self.symbol(name), self.symbol(other)
        if key not in self._implied:
            demands = [Demand(("IMAGE_TENON",)), Demand(key[:1])]
            without = [*demands, Demand(key[1:], False)]
            self._implied[key] = satisfiable(Problem(self.encoding, demands)) and not satisfiable(
                Problem(self.encoding, without)
            )
        return self._implied[key]

    def check(self) -> None:
        """Check the pool itself, so that its errors are not reported as the user's."""
        if not self.entries:
            raise InputError("the pool is empty", where=str(self.root))


def pool_by(retrieval: str) -> Pool:
    """The pool of this tree, with that retrieval method."""
    if retrieval not in (FUSED, LIGHTRAG):
        mend = f"known are {FUSED}, {LIGHTRAG}"
        raise InputError(f'unknown retrieval "{retrieval}"', "--retrieval", mend)
    if retrieval == LIGHTRAG:
        from tenonos.setup import lightrag

        lightrag.provide()
    return Pool(retrieval=retrieval)
