"""Test suites of the project behind one command, counted the same way."""

from __future__ import annotations

from tenonos.testing.count import Count
from tenonos.testing.selection import Selection, named
from tenonos.testing.suites import SUITES, Suite

__all__ = ["SUITES", "Count", "Selection", "Suite", "named"]
