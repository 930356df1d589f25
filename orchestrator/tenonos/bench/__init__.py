"""Deterministic measurements of operations, in instructions, with goals and peers."""

from tenonos.bench.row import Row
from tenonos.bench.suites import Choice, choose, run

__all__ = ["Choice", "Row", "choose", "run"]
