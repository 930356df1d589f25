"""The call graph of a linked image, read from its instructions.

A function is a symbol with a size. Its instructions are walked along every branch with the depth of
the stack, so that each call is known with the stack in use at that point. Calls through registers
have no known target; jumps through registers are the jump tables of `match`, which stay in their
function.
"""

from __future__ import annotations

import struct
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from io import BytesIO
from typing import Any

from elftools.elf.elffile import ELFFile

from tenonos.analysis.a64 import Effect, Flow, Stack, effect

PANIC = "rust_begin_unwind"
"""The function in which every panic ends."""

_CORE = ("4core", "_ZN4core", "5alloc")


@dataclass(frozen=True, slots=True)
class Call:
    """A call or a jump to another function; without a target it goes through a register."""

    site: int
    target: int | None
    depth: int
    """Bytes of the caller's own stack in use at the call."""


@dataclass
class Function:
    """A function: its code, the most stack it uses itself, and its calls."""

    name: str
    start: int
    end: int
    depth: int = 0
    bounded: bool = True
    """Whether `depth` is a bound: false if SP is computed."""
    returns: bool = False
    loops: bool = False
    known: bool | None = False
    """Whether it has been walked; none during the walk."""
    calls: list[Call] = field(default_factory=list)
    ends: set[int] = field(default_factory=set)
    """The called functions that do not return."""


class Graph:
    """The functions of an image by address, and the sites recorded in its sections."""

    def __init__(self, content: bytes) -> None:
        self.elf = ELFFile(BytesIO(content))
        self._code = [
            (section["sh_addr"], section.data())
            for section in self.elf.iter_sections()
            if section["sh_flags"] & 4  # SHF_EXECINSTR
        ]
        self.functions = {function.start: function for function in self._symbols()}
        self._starts = sorted(self.functions)
        for function in self.functions.values():
            self.walk(function)
        self.panicking = self._panicking()

    def at(self, address: int) -> Function | None:
        """The function an address is in."""
        index = bisect_right(self._starts, address) - 1
        if index < 0:
            return None
        function = self.functions[self._starts[index]]
        return function if address < function.end else None

    def walk(self, function: Function) -> None:
        """Walk a function's code, once; past a call only if the called function returns."""
        if function.known is False:
            function.known = None
            _Walk(self, function).run()
            function.known = True

    def words(self, section: str, count: int) -> list[tuple[int, ...]]:
        """The records of `count` words in a section of the image; empty without that section."""
        found = self.elf.get_section_by_name(section)
        data = b"" if found is None else found.data()
        records = struct.iter_unpack(f"<{count}Q", data[: len(data) // (8 * count) * 8 * count])
        return sorted({record for record in records if record[0]})

    def word(self, address: int) -> int | None:
        """The instruction at an address."""
        for base, data in self._code:
            if base <= address <= base + len(data) - 4:
                return struct.unpack_from("<I", data, address - base)[0]
        return None

    def _symbols(self) -> Iterator[Function]:
        table: Any = self.elf.get_section_by_name(".symtab")
        for symbol in table.iter_symbols():
            if symbol["st_info"]["type"] == "STT_FUNC" and symbol["st_size"]:
                start = symbol["st_value"]
                yield Function(symbol.name, start, start + symbol["st_size"])

    def _panicking(self) -> set[int]:
        """The functions that only panic: execution of the image ends there.

        These are the panic handler, and functions in which every path ends in such a function. A
        loop is no end, except in Rust's own library, which formats the message.
        """
        found = {at for at, function in self.functions.items() if PANIC in function.name}
        size = 0
        while size != len(found):
            size = len(found)
            for at, function in self.functions.items():
                endless = function.loops and not any(mark in function.name for mark in _CORE)
                if function.ends and not function.returns and not endless:
                    found |= {at} if function.ends <= found else set()
        return found


@dataclass(frozen=True, slots=True)
class _State:
    """The stack at an instruction: its depth, and that of the frame pointer; none if unknown."""

    depth: int | None
    frame: int | None


class _Walk:
    """A walk over the code of one function."""

    def __init__(self, graph: Graph, function: Function) -> None:
        self.graph, self.function = graph, function
        self.seen: set[int] = set()
        self.pending: list[tuple[int, _State]] = [(function.start, _State(0, None))]
        self.tables: list[_State] = []

    def run(self) -> None:
        """Walk all reachable code of the function, then code reached only by its jump tables."""
        self._drain()
        while self.tables:
            state = self.tables[0]
            rest = (
                at
                for at in range(self.function.start, self.function.end, 4)
                if at not in self.seen and self.graph.word(at) not in (None, 0)
            )
            at = next(rest, None)
            if at is None:
                return
            self.pending.append((at, state))
            self._drain()

    def _drain(self) -> None:
        while self.pending:
            at, state = self.pending.pop()
            while self.function.start <= at < self.function.end and at not in self.seen:
                word = self.graph.word(at)
                if word is None:
                    break
                self.seen.add(at)
                step = effect(word, at)
                state = self._stack(step, state)
                if not self._flow(step, at, state):
                    break
                at += 4

    def _stack(self, step: Effect, state: _State) -> _State:
        depth, frame = state.depth, state.frame
        match step.stack:
            case None:
                return state
            case Stack.MOVE if depth is not None:
                depth -= step.amount
            case Stack.FRAME if depth is not None:
                frame = depth - step.amount
            case Stack.RESTORE if frame is not None:
                depth = frame - step.amount
            case Stack.LOAD if step.amount < 8:
                # From an argument register: a switch to another stack.
                depth = None
            case Stack.UNKNOWN | Stack.LOAD | Stack.RESTORE:
                self.function.bounded = False
            case _:
                pass
        self.function.depth = max(self.function.depth, depth or 0)
        return _State(depth, frame)

    def _flow(self, step: Effect, at: int, state: _State) -> bool:
        """Follow an instruction; whether execution continues with the next one."""
        match step.flow:
            case Flow.NEXT:
                return True
            case Flow.BRANCH:
                self._go(at, step.target, state)
                return True
            case Flow.JUMP:
                self._go(at, step.target, state)
            case Flow.CALL:
                return self._call(at, step.target, state)
            case Flow.CALL_REGISTER:
                return self._call(at, None, state)
            case Flow.JUMP_REGISTER:
                self.tables.append(state)
            case Flow.RETURN | Flow.TRAP:
                self.function.returns |= step.flow is Flow.RETURN
        return False

    def _go(self, at: int, target: int, state: _State) -> None:
        """Follow a branch; one that leaves the function is a tail call."""
        if self.function.start <= target < self.function.end:
            self.function.loops |= target <= at
            self.pending.append((target, state))
        else:
            self.function.returns |= self._call(at, target, state)

    def _call(self, at: int, target: int | None, state: _State) -> bool:
        """Record a call; whether it returns."""
        self.function.calls.append(Call(at, target, state.depth or 0))
        called = None if target is None else self.graph.at(target)
        if called is None:
            return True
        self.graph.walk(called)
        returns = called.returns or called.known is None
        self.function.ends |= set() if returns else {called.start}
        return returns
