"""All the project's tests behind one command, counted the same way."""

from __future__ import annotations

from tenonos.testing.count import Count
from tenonos.testing.suites import SUITES, Suite

__all__ = ["SUITES", "Count", "Suite"]
