"""Exact latency statistics in bounded memory, by counting distinct values."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import dataclass


class Distribution:
    """A multiset of nanosecond values.

    The counter ticks in steps, so even a day of samples has few distinct values, and percentiles
    are exact.
    """

    def __init__(self) -> None:
        self.counts: Counter[int] = Counter()
        self.total = 0

    def add(self, value: int) -> None:
        """Count one value."""
        self.counts[value] += 1
        self.total += 1

    def percentiles(self, *ranks: float) -> list[int]:
        """The nearest-rank percentiles, 0 to 100; zeros if there is no value."""
        if not self.total:
            return [0] * len(ranks)
        found: list[int] = []
        for rank in ranks:
            # The smallest value with at least `rank` percent of all values at or below it.
            need = max(1, -(-round(rank * 1000) * self.total // 100_000))
            seen = 0
            for value in sorted(self.counts):
                seen += self.counts[value]
                if seen >= need:
                    found.append(value)
                    break
        return found


@dataclass(frozen=True)
class Bucket:
    """A bar of a histogram: values from `low` up to, not including, `high`."""

    low: int
    high: int
    count: int


def buckets(distribution: Distribution, limit: int = 16) -> list[Bucket]:
    """At most `limit` bars, of doubling width if the values spread wide, else of equal width."""
    if not distribution.total:
        return []
    low, high = min(distribution.counts), max(distribution.counts)
    if high - low < 64 * limit and low >= 0:
        edges = _even(low, high, limit)
    else:
        edges = _doubling(low, high, limit)
    bars = [Bucket(a, b, 0) for a, b in itertools.pairwise(edges)]
    counts = [0] * len(bars)
    for value, count in distribution.counts.items():
        index = next(i for i, bar in enumerate(bars) if value < bar.high or i == len(bars) - 1)
        counts[index] += count
    return [Bucket(bar.low, bar.high, n) for bar, n in zip(bars, counts, strict=True)]


def _even(low: int, high: int, limit: int) -> list[int]:
    step = 16  # one tick of a 62.5 MHz counter
    while (high // step - low // step + 1) > limit:
        step *= 2
    first = low // step * step
    return list(range(first, high // step * step + step + 1, step))


def _doubling(low: int, high: int, limit: int) -> list[int]:
    top = max(high, 1).bit_length()
    bottom = max(top - limit + 1, low.bit_length() - 1 if low > 0 else 0)
    powers = [1 << power for power in range(bottom, top + 1)]
    # The first bar includes all smaller values.
    return [min(low, 0), *powers] if low < powers[0] else powers


def duration(ns: int) -> str:
    """A time in the unit that keeps it short."""
    for unit, size in (("s", 1_000_000_000), ("ms", 1_000_000), ("µs", 1000)):
        if abs(ns) >= size:
            return f"{ns / size:.3g} {unit}" if abs(ns) < 100 * size else f"{ns / size:.0f} {unit}"
    return f"{ns} ns"
