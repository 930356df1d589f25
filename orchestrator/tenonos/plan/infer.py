"""Numbers of an image that follow from the plan, each by a named rule.

Other numbers are counted by the build (`build.images`), assigned by `allocate` and `colours`, or
defaults of their library: `parameters` has all of them, and docs/parameters.md lists the rules.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tenonos.plan.allocate import Infeasible
from tenonos.plan.models import Guest, Item, Kind, is_bare
from tenonos.plan.pool import PERIOD
from tenonos.pool.kconfig import Assignment, Value
from tenonos.system.units import duration_text

TICK, TICKS = "TENON_TIME_TICK", "TENON_TIME_TICK_HZ"
TICKS_LEAST, TICKS_MOST = 1_000, 10_000
"""Ticks per second: the least for libraries that sleep, and the most."""
TICKS_FEWEST = 10
"""The least number of ticks per second of a clock."""
TICK_SAID: Kind = "tick"
STACK = "TENON_THREAD_MAIN_STACK"
STACK_USUAL = 8_192
SPARE, PAGE = 1_024, 4_096
"""Stack of interrupts and a preemption, with a margin over the cards."""
HEAP = "TENON_LIBC_HEAP"
HEAP_USUAL = 2 << 20
SECOND = 1_000_000_000


@dataclass(frozen=True)
class Inferred:
    """A number of an image, with the rule for its value."""

    symbol: str
    value: int
    rule: str

    @property
    def assignment(self) -> Assignment:
        """The Kconfig assignment."""
        return Assignment(self.symbol, str(self.value), self.rule)


def numbers(
    name: str,
    items: Sequence[Item],
    memory: int,
    values: Mapping[str, Value],
    deepest: int,
    bounded: bool,
) -> Iterator[Inferred]:
    """The numbers of a real-time image, from its memory, its chosen alternatives, the stack of its
    program by the card, and whether its use of memory is bounded."""
    usual, needed = values.get(STACK), stack(deepest)
    if usual and needed > int(usual):
        yield Inferred(STACK, needed, "deepest-of-the-program")
    elif usual and deepest and bounded and needed < int(usual):
        yield Inferred(STACK, needed, "no-more-than-the-deepest")
    periods = _of(name, items, "period")
    if periods and is_bare(items) and PERIOD in values:
        yield Inferred(PERIOD, min(periods), "period-of-the-plan")
    if said := _of(name, items, TICK_SAID):
        if values.get(TICK) and (rate := round(SECOND / said[0])) != TICKS_LEAST:
            yield Inferred(TICKS, rate, "tick-of-the-plan")
    elif periods and values.get(TICK) and (rate := ticks(periods)) != TICKS_LEAST:
        yield Inferred(TICKS, rate, "periods-are-whole-ticks")
    if HEAP in values and values.get("LIB_TENON_LIBC"):
        said = any(i.stated for i in items if (i.image, i.kind) == (name, "ram"))
        if said and memory // 2 != HEAP_USUAL:
            yield Inferred(HEAP, memory // 2, "half-of-the-memory-is-heap")


def stack(deepest: int) -> int:
    """The stack of a thread with that need: a quarter more, in whole pages."""
    return -(-(deepest + deepest // 4 + SPARE) // PAGE) * PAGE


def saved(deepest: int) -> int:
    """The saving of such a stack over the default, if its program was measured."""
    return STACK_USUAL - stack(deepest) if deepest else 0


def ticks(periods: Sequence[int]) -> int:
    """The slowest tick, from 1,000 per second on, of which each period is a multiple.

    Without one it is the fastest tick, to which periods are rounded up.
    """
    for rate in range(TICKS_LEAST, TICKS_MOST + 1):
        if all(period * rate % SECOND == 0 for period in periods):
            return rate
    return TICKS_MOST


def check_ticks(guests: Sequence[Guest], items: Sequence[Item]) -> None:
    """Refuse a tick that no clock supports, and a period that is no multiple of it."""
    for guest in guests:
        wanted = any(
            (i.image, i.kind, i.value) == (guest.name, "capability", "time.tick") for i in items
        )
        periods, said = _of(guest.name, items, "period"), set(_of(guest.name, items, TICK_SAID))
        for tick in sorted(said):
            if not (_is_whole(SECOND, tick) and TICKS_FEWEST <= SECOND // tick <= TICKS_MOST):
                raise Infeasible(
                    f"a tick of {duration_text(tick)} is not one of {TICKS_FEWEST} to "
                    f"{TICKS_MOST} in a second"
                )
        if len(said) > 1:
            raise Infeasible(f"{guest.name} would have {len(said)} different ticks")
        tick = next(iter(said), SECOND // TICKS_MOST)
        odd = [p for p in periods if p < tick or (said and not _is_whole(p, tick))]
        if wanted and odd:
            raise Infeasible(
                f"{guest.name} has a tick of {duration_text(tick)}{'' if said else ' or more'}, "
                f"and a period of {duration_text(min(odd))}, which is not a multiple of it"
            )


def _is_whole(time: int, tick: int) -> bool:
    """Whether a time is a multiple of a tick, both rounded to nanoseconds."""
    number = round(time / tick)
    return abs(time - number * tick) <= number


def _of(image: str, items: Sequence[Item], kind: Kind) -> list[int]:
    mine = (i for i in items if (i.image, i.kind) == (image, kind))
    return [int(i.value) for i in mine if i.value]
