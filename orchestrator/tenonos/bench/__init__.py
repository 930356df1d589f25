"""Deterministic measurements: what operations cost, in instructions, beside goals and peers."""

from tenonos.bench.row import Row
from tenonos.bench.suites import choose, run

__all__ = ["Row", "choose", "run"]
