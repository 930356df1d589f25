"""Stack bounds of threads and interrupt handlers, from the call graph of an image.

A thread needs the stack of its deepest call path, its closure, and the frame of an interrupt with
preemption. Paths that end in a panic do not count: execution ends there. Calls through pointers,
recursion and stacks of computed size cannot be bounded and are reported.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from tenonos.analysis.a64 import Flow, Stack, effect
from tenonos.analysis.demangle import demangled
from tenonos.analysis.graph import Function, Graph
from tenonos.analysis.source_locations import SourceLocations, visible
from tenonos.analysis.waiting import HANDLERS

THREADS, TIMERS, EXPIRIES = ".tenon.threads", ".tenon.timers", ".tenon.expiries"
_OWN = {"tenon_application": "main", "::boot::idle": "idle"}
"""The kernel's own threads of each image, by the function they run."""
_KERNEL = tuple(
    f"pool/tenon/{crate}/" for crate in ("machine", "timer", "kernel", "time", "wait", "thread")
)
"""The crates of the kernel."""
_CLOSURE = re.compile(r"([\w:{}#]+)::\{closure_env(#\d+)\}")
"""A closure in the name of a function that is generic over it."""
_STARTS = ("tenon_main", "tenon_secondary")
_VECTOR = re.compile(r"tenon_interrupt(?:\.\w+)*")
_SELECT_EL1 = 0xD50041BF  # MSR SPSel, #1


@dataclass(frozen=True)
class Need:
    """Bytes needed at least, and the reasons why that is no bound."""

    size: int = 0
    pointers: frozenset[int] = frozenset()
    """Addresses of calls with unknown targets."""
    recursive: frozenset[str] = frozenset()
    computed: frozenset[str] = frozenset()

    @property
    def bounded(self) -> bool:
        """Whether the number of bytes is a bound."""
        return not (self.pointers or self.recursive or self.computed)

    def __add__(self, size: int) -> Need:
        return Need(self.size + size, self.pointers, self.recursive, self.computed)

    def __or__(self, other: Need) -> Need:
        return Need(
            max(self.size, other.size),
            self.pointers | other.pointers,
            self.recursive | other.recursive,
            self.computed | other.computed,
        )


@dataclass(frozen=True)
class ThreadStack:
    """The stack of the threads that one call site spawns."""

    site: int
    entry: int
    need: Need
    size: int


class Stacks:
    """The stacks of an image."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self._locations = SourceLocations(graph.elf)
        self._known: dict[int, Need] = {}
        table: Any = graph.elf.get_section_by_name(".symtab")
        symbols = {symbol.name: symbol["st_value"] for symbol in table.iter_symbols()}
        self._tables = {n: at for n, at in symbols.items() if _VECTOR.fullmatch(n)}
        self._open: set[int] = set()
        timers = [graph.at(site) for (site,) in graph.words(TIMERS, 1)]
        self._timers = [function for function in timers if function is not None]
        self._expiries = {f.start for (s,) in graph.words(EXPIRIES, 1) if (f := graph.at(s))}

    def threads(self) -> list[ThreadStack]:
        """The call sites that spawn threads."""
        above = self.interruption()
        return [
            ThreadStack(site, entry, (self._at(entry) | Need()) + (taken + above.size), size)
            for site, entry, size, taken in self.graph.words(THREADS, 4)
        ]

    def handlers(self) -> Need:
        """The need of a core's interrupt stack: for one handler and the registers saved by the
        vector, or for the boot of the image."""
        roots = [self.graph.at(site) for (site,) in self.graph.words(HANDLERS, 1)]
        worst = self._any(root for root in roots if root is not None)
        begins = (f for f in self.graph.functions.values() if f.name in _STARTS)
        return worst + max((kept for _, kept in self._vectors()), default=0) | self._any(begins)

    def interruption(self) -> Need:
        """The need that an interrupt adds to the stack of the interrupted thread, preemption
        included."""
        found = self._any(f for f in self.graph.functions.values() if "reschedule" in f.name)
        return found + max((frame for frame, _ in self._vectors()), default=0)

    def of(self, function: Function) -> Need:
        """The need of a function with all its callees."""
        if function.start in self._known:
            return self._known[function.start]
        if function.start in self._open:
            return Need(recursive=frozenset([function.name]))
        self._open.add(function.start)
        need = Need(function.depth)
        if not function.bounded:
            need |= Need(computed=frozenset([function.name]))
        for call in function.calls:
            if call.target is None and function.start in self._expiries:
                need |= self._any(self._timers) + call.depth
            elif call.target is None:
                need |= Need(call.depth, pointers=frozenset([call.site]))
            else:
                need |= self._call(call.target, call.depth)
        self._open.discard(function.start)
        self._known[function.start] = need
        return need

    def _call(self, target: int, depth: int) -> Need:
        called = self.graph.at(target)
        if called is None or called.start in self.graph.panicking:
            return Need(depth)
        return self.of(called) + depth

    @property
    def nested(self) -> bool:
        """Whether handlers can be preempted by others."""
        return any(".nested" in symbol for symbol in self._tables)

    def name(self, thread: ThreadStack) -> str:
        """The name of the function that such threads run."""
        function = self.graph.at(thread.entry)
        places = self._locations.at(thread.entry)
        closures = _CLOSURE.findall(places[0].function) if places else []
        for path, number in reversed(closures):
            if not path.startswith("tenon_"):
                return f"{path}::{{closure{number}}}"
        inside = self._locations.inside(thread.entry)
        for call in function.calls if function else ():
            called = self.graph.at(call.target or 0)
            inside |= {called.name} if called else set()
        for mark, name in _OWN.items():
            if any(each.endswith(mark) for each in inside):
                return name
        spawner = visible(self._locations.at(thread.site))
        return f"spawned by {spawner[-1].name}" if spawner else f"{thread.entry:#x}"

    def where(self, thread: ThreadStack) -> str | None:
        """`file:line` of the call that spawns such threads; none for the kernel's own, or if the
        caller is unknown."""
        return self._outside(thread.site) or self._caller(thread.site)

    def _outside(self, address: int) -> str | None:
        """The innermost source location of an address outside the kernel."""
        places = reversed(visible(self._locations.at(address)))
        return next((p.where for p in places if not p.file.startswith(_KERNEL)), None)

    def _caller(self, address: int) -> str | None:
        """The caller of the function that contains an address: spawning may not be inlined."""
        function = self.graph.at(address)
        if function is None:
            return None
        for caller in self.graph.functions.values():
            self.graph.walk(caller)
            for call in caller.calls:
                if call.target == function.start and (place := self._outside(call.site)):
                    return place
        return None

    def short(self) -> Iterator[str]:
        """A line for each thread that may need more stack than it has."""
        for thread in self.threads():
            if thread.need.size > thread.size:
                where = self.where(thread)
                yield (
                    f"{f'{where}: ' if where else ''}the thread {self.name(thread)} may need "
                    f"{thread.need.size} bytes of stack and has {thread.size}; give it more"
                )

    def why(self, need: Need) -> list[str]:
        """The reasons why a need is no bound, in words."""
        callers = {f.name for at in need.pointers if (f := self.graph.at(at))}
        pointers = [f"calls through pointers in {demangled(name)}" for name in sorted(callers)]
        recursive = [f"recursion in {demangled(name)}" for name in sorted(need.recursive)]
        computed = [f"a computed stack in {demangled(name)}" for name in sorted(need.computed)]
        return [*recursive, *computed, *pointers]

    def _at(self, address: int) -> Need:
        function = self.graph.at(address)
        return Need() if function is None else self.of(function)

    def _any(self, functions: Iterable[Function]) -> Need:
        need = Need()
        for function in functions:
            need |= self.of(function)
        return need

    def _vectors(self) -> list[tuple[int, int]]:
        """For each vector table, the bytes that an interrupt saves on the thread's stack, and those
        on the interrupt stack while the handler runs."""
        return [self._saved(start) for start in self._tables.values()]

    def _saved(self, at: int) -> tuple[int, int]:
        saved = [0, 0]
        stack = 0
        while (word := self.graph.word(at)) is not None:
            step = effect(word, at)
            if word == _SELECT_EL1:
                stack = 1
            if step.stack is Stack.MOVE:
                saved[stack] -= step.amount
            if step.flow in (Flow.CALL_REGISTER, Flow.RETURN, Flow.TRAP):
                break
            at = step.target if step.flow is Flow.JUMP else at + 4
        return saved[0], saved[1]
