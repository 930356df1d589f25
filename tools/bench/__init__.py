"""Deterministic measurements of operations, in instructions, with goals and peers."""

from tools.bench.row import Row
from tools.bench.suites import Choice, choose, run

__all__ = ["Choice", "Row", "choose", "run"]
