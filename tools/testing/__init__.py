"""Test suites of the project behind one command, counted the same way."""

from __future__ import annotations

from tools.testing.count import Count
from tools.testing.selection import Selection, named
from tools.testing.suites import SUITES, Suite

__all__ = ["SUITES", "Count", "Selection", "Suite", "named"]
