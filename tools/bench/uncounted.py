"""Builds without the counters of budgets: what a row measures has no statistics in it."""

from __future__ import annotations

from tenonos import build
from tenonos.build import Built
from tenonos.system import System


def built(system: System) -> Built:
    """A system, built without them."""
    return build.build(system, defines=["CONFIG_LIB_MORTISE_BUDGET_COUNTERS=n"])
