"""Optimisation of an image for a utility, by the measured cards, within size bounds.

One bound is on the file, one on the use of the VM's memory: memory is allocated in blocks, of which
most images need a small part, so a bound below a block limits its use.

A sum of cards is an estimate. A bound that is unreachable by the estimate is refused here, if every
library was measured; the build checks the actual size.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from tenonos.plan import infer
from tenonos.plan.models import Item, Kind, Plan, utility
from tenonos.plan.pool import Pool
from tenonos.plan.solve import Problem, Solution, solve
from tenonos.system.limits import BLOCK
from tenonos.system.units import size_text

IMAGE: Kind = "image"
RAM: Kind = "ram"
SIZES: Mapping[Kind, int] = {IMAGE: 1 << 62, RAM: BLOCK}
"""The bounded kinds, with the values below which a bound applies."""
_SAYS = {IMAGE: "has", RAM: "takes"}
_OF = {IMAGE: "", RAM: " with stacks and translation tables"}
_LEAST = {IMAGE: "footprint", RAM: "memory"}
"""The utility to minimise if a bound is exceeded."""
MOST = 3
"""The number of libraries named for an image that is too large."""


def best(problem: Problem, name: str, kind: str, plan: Plan, pool: Pool) -> Solution | None:
    """The best solution for the utility; if that is too large, the smallest."""
    solution = _solved(problem, kind, utility(plan), pool)
    bounds = limits(name, plan.items)
    exceeded = solution and _exceeded(kind, solution, bounds, pool)
    return _solved(problem, kind, _LEAST[next(iter(exceeded))], pool) if exceeded else solution


def objection(
    problem: Problem, name: str, kind: str, items: Iterable[Item], pool: Pool
) -> str | None:
    """The reason why no image within the bounds meets the demands; None if one may."""
    for what, bound in limits(name, items).items():
        solution = _solved(problem, kind, _LEAST[what], pool)
        exceeded = solution and _exceeded(kind, solution, {what: bound}, pool)
        if solution and exceeded and pool.measured(kind, solution.chosen):
            return (
                f"by the measured cards the smallest {name} that meets them {_SAYS[what]} "
                f"{exceeded[what]:,} bytes{_OF[what]}, and the bound is {size_text(bound)}: "
                f"allow {-(-exceeded[what] // 1024)}K, or ask for less; "
                f"most cost {_heaviest(kind, solution, pool)}"
            )
    return None


def _exceeded(
    kind: str, solution: Solution, bounds: Mapping[str, int], pool: Pool
) -> dict[str, int]:
    """The sizes that exceed their bounds."""
    loaded = pool.loaded(kind, solution.chosen)
    saved = infer.saved(pool.deepest_of_program(solution.chosen))
    taken = pool.occupied(kind, solution.chosen, solution.values) - saved
    sizes = {IMAGE: loaded, RAM: taken}
    return {what: sizes[what] for what, bound in bounds.items() if sizes[what] > bound}


def _heaviest(kind: str, solution: Solution, pool: Pool) -> str:
    """The largest libraries, with their bytes."""
    costs = pool.bytes_in(kind)
    chosen = sorted((s for s in solution.chosen if s in costs), key=lambda s: -costs[s])
    return ", ".join(f"{pool.entries[s].name} {costs[s]:,}" for s in chosen[:MOST])


def limits(name: str, items: Iterable[Item]) -> dict[str, int]:
    """The tightest bounds on the file of an image, and on its use of memory."""
    own = [(i.kind, int(i.value)) for i in items if i.image == name and i.value and i.kind in SIZES]
    found = {what: [v for k, v in own if k == what and v < SIZES[k]] for what in SIZES}
    return {what: min(values) for what, values in found.items() if values}


def _solved(problem: Problem, kind: str, matters: str, pool: Pool) -> Solution | None:
    return solve(replace(problem, costs=pool.weights(kind, matters)))
