"""The suites: which image is started, which paths are measured in it, what rows come of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from tenonos import build, system
from tenonos.bench.machine import Trace
from tenonos.bench.machine import run as start
from tenonos.bench.row import Kinds, Row, most_common
from tenonos.build.elf import sections
from tenonos.errors import InputError, WorkError
from tenonos.run.plugin import Passage

SUITES = ("sched", "irq", "timer", "boot", "size")

ROUTES = {
    "boundary": ("bench::boundary", "bench::boundary"),
    "entry": ("tenon_interrupt", "tenon_thread::kernel::timer_interrupt"),
    "exit": ("tenon_interrupt_served", "tenon_interrupt_end"),
    "masked": ("tenon_interrupt", "tenon_interrupt_end"),
    "wake": ("tenon_interrupt", "bench::interrupts::woken"),
}
"""Paths by the symbols at their ends; what ends with an exception return does not count that."""

PHASES = {
    "irq plain": (("entry", "entry", 0), ("exit", "exit", 1)),
    "irq wake": (("wake", "wake", 0),),
    "timer masked_max": (("masked_max", "masked", 1),),
}
"""What a phase of `apps/bench` measures: the row's name, its route, the returns to add."""

NAMES = list(ROUTES)
READS = len(ROUTES)
"""The route from one read of the cycle counter to the next."""

_RUN = re.compile(r"(\d+) x (\d+)")


def choose(names: Sequence[str]) -> frozenset[str]:
    """The suites of those names, all without names."""
    unknown = next((name for name in names if name not in SUITES), None)
    if unknown is not None:
        raise InputError(f'no suite "{unknown}"', mend=f"known are {', '.join(SUITES)}")
    return frozenset(names or SUITES)


def run(wanted: frozenset[str]) -> list[Row]:
    """The rows of these suites."""
    rows: list[Row] = []
    if wanted & {"sched", "irq", "timer"}:
        built = build.build(system.load("bench-bare"))
        routes = list(ROUTES.values())
        rows += rows_of(start(built, "bench", "end of bench", routes))
    if wanted & {"boot", "size"}:
        rows += _hello()
    order = {name: index for index, name in enumerate(SUITES)}
    kept = [row for row in rows if row.suite in wanted]
    return sorted(kept, key=lambda row: order[row.suite])


def rows_of(trace: Trace) -> Iterator[Row]:
    """The rows that the lines announce, each with its part of the passages."""
    parts = _parts(trace.passages)
    overhead = 0
    lines = iter(trace.lines)
    ahead = next(lines, None)
    while ahead is not None:
        kind, _, rest = ahead.partition(" ")
        ahead = next(lines, None)
        if kind == "overhead":
            overhead = int(rest)
        elif kind in ("phase", "measured"):
            part = next(parts, None)
            if part is None:
                raise WorkError(f"the run ended within `{rest}`")
            if kind == "phase":
                yield from _phase(rest, part)
                continue
            values: list[int] = []
            while ahead is not None and (match := _RUN.fullmatch(ahead)):
                values += [int(match[1])] * int(match[2])
                ahead = next(lines, None)
            yield _measured(rest, values, overhead, part)


def _parts(passages: Iterable[Passage]) -> Iterator[list[Passage]]:
    """The passages up to each boundary."""
    part: list[Passage] = []
    for passage in passages:
        if passage.path == NAMES.index("boundary"):
            yield part
            part = []
        else:
            part.append(passage)


def _phase(text: str, part: list[Passage]) -> Iterator[Row]:
    suite, phase, params = _name(text)
    for name, route, returns in PHASES[f"{suite} {phase}"]:
        taken = [passage for passage in part if passage.path == NAMES.index(route)]
        if not taken:
            raise WorkError(f"nothing was measured for {suite} {name}")
        fp = {"fp": False} if suite == "irq" else {}
        values = [passage.instructions + returns for passage in taken]
        yield Row.of((suite, name), params | fp, values, kinds=most_common(_kinds(taken)))


def _measured(text: str, values: list[int], overhead: int, part: list[Passage]) -> Row:
    suite, name, params = _name(text)
    params.pop("samples", None)
    if not values:
        raise WorkError(f"nothing was measured for {suite} {name}")
    row = Row.of((suite, name), params, values)
    typical = [p for p in part if p.path == READS and p.instructions == row.median + overhead]
    return Row.of((suite, name), params, values, kinds=most_common(_kinds(typical)))


def _kinds(passages: Sequence[Passage]) -> list[Kinds]:
    return [Kinds(p.barriers, p.sysreg_writes, p.mmio) for p in passages]


def _name(text: str) -> tuple[str, str, dict[str, Any]]:
    suite, name, *params = text.split(" ")
    return suite, name, {key: _value(value) for key, value in (p.split("=") for p in params)}


def _value(text: str) -> int | bool | str:
    if text in ("true", "false"):
        return text == "true"
    return int(text) if text.isdecimal() else text


def _hello() -> Iterator[Row]:
    """The smallest application: how soon it begins, how large it is."""
    built = build.build(system.load("hello"))
    trace = start(built, "hello", "hello from Tenon", [("image_start", "hello::main")])
    taken = trace.passages[0]
    yield Row.of(
        ("boot", "tenon_reset_to_main"),
        {},
        [taken.instructions],
        kinds=_kinds([taken])[0],
        system="hello",
    )
    for part, size in sections(built.elves["hello"].read_bytes()).items():
        yield Row.of(("size", "tenon_hello"), {"part": part}, [size], unit="bytes", system="hello")
