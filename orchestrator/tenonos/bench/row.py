"""One measured figure, as `bench --json` prints it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True)
class Kinds:
    """What counts as one instruction in the emulator and costs more on hardware."""

    barriers: int = 0
    sysreg_writes: int = 0
    mmio: int = 0


@dataclass(frozen=True)
class Row:
    """The statistics of a measurement."""

    suite: str
    name: str
    params: dict[str, Any]
    samples: int
    min: int
    median: int
    p99: int
    max: int
    kinds: Kinds = field(default_factory=Kinds)
    environment: str = "bare"
    system: str = "bench-bare"
    unit: str = "instructions"

    @classmethod
    def of(
        cls, key: tuple[str, str], params: dict[str, Any], values: Sequence[int], **more: Any
    ) -> Row:
        """The statistics of `values`; a percentile is a value that occurred."""
        ordered = sorted(values)
        at = lambda share: ordered[min(len(ordered) - 1, int(share * len(ordered)))]  # noqa: E731
        suite, name = key
        extremes = {"min": ordered[0], "max": ordered[-1], "median": at(0.5), "p99": at(0.99)}
        return cls(suite, name, params, len(ordered), **extremes, **more)

    def to_json(self) -> dict[str, Any]:
        """The figure under the names other tools read."""
        return {
            "suite": self.suite,
            "name": self.name,
            "params": self.params,
            "environment": self.environment,
            "system": self.system,
            "build": "release",
            "unit": self.unit,
            "samples": self.samples,
            "min": self.min,
            "median": self.median,
            "p99": self.p99,
            "max": self.max,
            **asdict(self.kinds),
        }


def most_common(kinds: Sequence[Kinds]) -> Kinds:
    """The kinds of a typical passage."""
    return Counter(kinds).most_common(1)[0][0] if kinds else Kinds()
