"""The best image for a utility, by the measured cards, within the bound on its size if it has one.

A sum of cards is an estimate. The build has the last word: here a bound is refused that is out of
reach by that estimate, if every library was measured; there what is larger than it after all.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from tenonos.plan.models import Item, Plan, utility
from tenonos.plan.pool import Pool
from tenonos.plan.solve import Problem, Solution, solve
from tenonos.system.units import size_text

FOOTPRINT = "footprint"
MOST = 3
"""Libraries named of an image that is too large."""


def best(problem: Problem, name: str, kind: str, plan: Plan, pool: Pool) -> Solution | None:
    """What is best for what matters most; where that is too large, what is smallest."""
    solution = _solved(problem, kind, utility(plan), pool)
    bound = smallest(name, plan.items)
    if solution is None or bound is None or pool.loaded(kind, solution.chosen) <= bound:
        return solution
    return _solved(problem, kind, FOOTPRINT, pool)


def objection(
    problem: Problem, name: str, kind: str, items: Iterable[Item], pool: Pool
) -> str | None:
    """Why no image that meets the demands is as small as it is to be; None if one may be."""
    bound = smallest(name, items)
    if bound is None or (solution := _solved(problem, kind, FOOTPRINT, pool)) is None:
        return None
    least = pool.loaded(kind, solution.chosen)
    if least <= bound or not pool.measured(kind, solution.chosen):
        return None
    return (
        f"by the measured cards the smallest {name} that meets them has {least:,} bytes, "
        f"and the bound is {size_text(bound)}; most cost {_heaviest(kind, solution, pool)}"
    )


def _heaviest(kind: str, solution: Solution, pool: Pool) -> str:
    """The libraries that cost most, with their bytes."""
    costs = pool.bytes_in(kind)
    chosen = sorted((s for s in solution.chosen if s in costs), key=lambda s: -costs[s])
    return ", ".join(f"{pool.entries[s].name} {costs[s]:,}" for s in chosen[:MOST])


def smallest(name: str, items: Iterable[Item]) -> int | None:
    """The tightest bound on the size of an image."""
    found = [int(i.value) for i in items if i.image == name and i.kind == "image" and i.value]
    return min(found, default=None)


def _solved(problem: Problem, kind: str, matters: str, pool: Pool) -> Solution | None:
    return solve(replace(problem, costs=pool.weights(kind, matters)))
