"""One measured figure, as `bench --json` prints it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

Number = int | float


@dataclass(frozen=True)
class Kinds:
    """Instructions that cost more on hardware than one in the emulator."""

    barriers: Number = 0
    sysreg_writes: Number = 0
    mmio: Number = 0

    def times(self, count: int) -> Kinds:
        """Those of this many repetitions."""
        return Kinds(self.barriers * count, self.sysreg_writes * count, self.mmio * count)

    def __add__(self, other: Kinds) -> Kinds:
        return Kinds(
            self.barriers + other.barriers,
            self.sysreg_writes + other.sysreg_writes,
            self.mmio + other.mmio,
        )


@dataclass(frozen=True)
class Row:
    """The statistics of a measurement."""

    suite: str
    name: str
    params: dict[str, Any]
    samples: int
    min: Number
    median: Number
    p99: Number
    max: Number
    kinds: Kinds = field(default_factory=Kinds)
    environment: str = "bare"
    system: str = "bench-bare"
    unit: str = "instructions"
    options: dict[str, Any] = field(default_factory=dict)
    histogram: dict[Number, int] | None = None
    """Counts of values, for rows with a histogram."""

    @classmethod
    def of(
        cls, key: tuple[str, str], params: dict[str, Any], values: Sequence[Number], **more: Any
    ) -> Row:
        """The statistics of `values`; percentiles are values that occurred."""
        ordered = sorted(values)
        at = lambda share: ordered[min(len(ordered) - 1, int(share * len(ordered)))]  # noqa: E731
        suite, name = key
        extremes = {"min": ordered[0], "max": ordered[-1], "median": at(0.5), "p99": at(0.99)}
        return cls(suite, name, params, len(ordered), **extremes, **more)

    @property
    def key(self) -> tuple[str, str, str]:
        """The identity of the figure, independent of the environment."""
        return self.suite, self.name, json.dumps(self.params, sort_keys=True)

    @property
    def statistics(self) -> tuple[Number, Number, Number, Number]:
        """The statistics to compare between environments."""
        return self.min, self.median, self.p99, self.max

    def to_json(self) -> dict[str, Any]:
        """The figure as JSON."""
        return {
            "suite": self.suite,
            "name": self.name,
            "params": self.params,
            "environment": self.environment,
            "system": self.system,
            "build": "release",
            "options": self.options,
            "unit": self.unit,
            "samples": self.samples,
            "min": self.min,
            "median": self.median,
            "p99": self.p99,
            "max": self.max,
            **asdict(self.kinds),
            **({} if self.histogram is None else {"histogram": self.histogram}),
        }


def most_common(kinds: Sequence[Kinds]) -> Kinds:
    """The kinds of a typical passage."""
    return Counter(kinds).most_common(1)[0][0] if kinds else Kinds()
