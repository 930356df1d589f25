"""Rows from the output of a measuring program and the plugin's records.

A sample is measured twice: by the core's cycle counter, which the program prints, and by the
plugin, which counts between marks. Without Mortise both must agree. Under Mortise only the plugin
includes exits, so its numbers are used.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from typing import Any

from tenonos.errors import WorkError
from tenonos.run.plugin import Passage
from tools.bench.machine import Trace
from tools.bench.row import Kinds, Number, Row, most_common

ROUTES = {
    "boundary": ("bench::boundary", "bench::boundary"),
    "entry": ("tenon_interrupt*", "tenon_kernel::kernel::entry::timer_interrupt"),
    "exit": ("tenon_interrupt_served*", "tenon_interrupt_end*"),
    "masked": ("tenon_interrupt*", "tenon_interrupt_end*"),
    "wake": ("tenon_interrupt*", "bench::interrupts::woken"),
}
"""Paths by the symbols at their ends; a final exception return is not counted."""

PHASES = {
    "irq plain": (("entry", "entry", 0), ("exit", "exit", 1)),
    "irq wake": (("wake", "wake", 0),),
    "timer masked_max": (("masked_max", "masked", 1),),
    "timer warm": (),
    "timer periodic_load": (("periodic_load", "masked", 1),),
}
"""The phases of `bench/apps/bench`: name of the row, route, returns to add."""

SUMMED = frozenset({"periodic_load"})
"""Phases with one figure for all passages."""

OPERATIONS = {("thread-metric", "preemptive"): 5}
"""Operations per sample, if not one."""

NAMES = list(ROUTES)
MARKED = len(ROUTES)
"""The index of the path between marks."""

_RUN = re.compile(r"(\d+) x (\d+)")


@dataclass(frozen=True)
class Setting:
    """The origin of rows."""

    system: str
    environment: str = "bare"
    fp: bool = False
    cores: int = 1
    mode: str = "tickless"
    options: Mapping[str, Any] = field(default_factory=dict)

    def params(self, suite: str, name: str) -> dict[str, Any]:
        """The parameters of a measurement that the build determines."""
        if suite == "timer":
            return {"mode": self.mode}
        told = suite == "irq" or name == "yield" or (self.fp and name == "sem_preempt")
        cores = {"cores": self.cores} if self.cores > 1 else {}
        return ({"fp": self.fp} if told else {}) | cores

    def row(
        self, key: tuple[str, str], params: dict[str, Any], values: Sequence[Number], kinds: Kinds
    ) -> Row:
        """The statistics of `values` for that operation."""
        share = OPERATIONS.get(key, 1)
        if share > 1:
            values = [value / share for value in values]
            kinds = Kinds(*(count / share for count in astuple(kinds)))
        return Row.of(
            key,
            params | self.params(*key),
            values,
            kinds=kinds,
            environment=self.environment,
            system=self.system,
            options=dict(self.options),
        )


def rows_of(trace: Trace, setting: Setting) -> Iterator[Row]:
    """The rows announced by the output, each with its passages."""
    parts = _parts(trace.passages)
    overhead = 0
    lines = iter(trace.lines)
    ahead = next(lines, None)
    while ahead is not None:
        kind, _, rest = ahead.partition(" ")
        ahead = next(lines, None)
        if kind not in ("overhead", "phase", "measured"):
            continue
        part = next(parts, None)
        if part is None:
            raise WorkError(f"the run ended within `{rest}`")
        if kind == "phase":
            yield from _phase(rest, part, setting)
            continue
        marked = [passage for passage in part if passage.path == MARKED]
        if kind == "overhead":
            overhead = min(passage.instructions for passage in marked)
            continue
        values: list[int] = []
        while ahead is not None and (match := _RUN.fullmatch(ahead)):
            values += [int(match[1])] * int(match[2])
            ahead = next(lines, None)
        yield _measured(rest, values, marked, overhead, setting)


def _parts(passages: Iterable[Passage]) -> Iterator[list[Passage]]:
    """The passages up to each boundary."""
    part: list[Passage] = []
    for passage in passages:
        if passage.path == NAMES.index("boundary"):
            yield part
            part = []
        else:
            part.append(passage)


def _phase(text: str, part: list[Passage], setting: Setting) -> Iterator[Row]:
    suite, phase, params = _name(text)
    for name, route, returns in PHASES[f"{suite} {phase}"]:
        taken = [passage for passage in part if passage.path == NAMES.index(route)]
        if not taken:
            raise WorkError(f"nothing was measured for {suite} {name}")
        values = [passage.instructions + returns for passage in taken]
        kinds = most_common(_kinds(taken))
        if name in SUMMED:
            values, kinds = [sum(values)], sum(_kinds(taken), Kinds())
        yield setting.row((suite, name), params, values, kinds)


def _measured(
    text: str, inside: list[int], marked: list[Passage], overhead: int, setting: Setting
) -> Row:
    suite, name, params = _name(text)
    samples = params.pop("samples", 0)
    taken = marked[:samples]
    if not samples or len(inside) != samples or len(taken) != samples:
        raise WorkError(f"{suite} {name}: {samples} samples, {len(inside)} read, {len(taken)} seen")
    values = [passage.instructions - overhead for passage in taken]
    if setting.environment == "bare" and values != inside:
        pairs = zip(inside, values, strict=True)
        one, other = next((a, b) for a, b in pairs if a != b)
        raise WorkError(f"{suite} {name}: the core counts {one} and the plugin {other}")
    return setting.row((suite, name), params, values, most_common(_kinds(taken)))


def _kinds(passages: Sequence[Passage]) -> list[Kinds]:
    return [Kinds(p.barriers, p.sysreg_writes, p.mmio) for p in passages]


def _name(text: str) -> tuple[str, str, dict[str, Any]]:
    suite, name, *params = text.split(" ")
    return suite, name, {key: _value(value) for key, value in (p.split("=") for p in params)}


def _value(text: str) -> int | bool | str:
    if text in ("true", "false"):
        return text == "true"
    return int(text) if text.isdecimal() else text
