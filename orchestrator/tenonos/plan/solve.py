"""Solver: the optimal configuration that satisfies every demand.

Weighted MaxSAT (RC2) over the encoding of the Kconfig tree. Demands are hard clauses, each library
has its cost, and settings without a demand keep their defaults. Unsatisfiable demands are reduced
to a minimal set: removing any one of them is enough.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from pysat.examples.rc2 import RC2
from pysat.formula import WCNF
from pysat.solvers import Solver

from tenonos.plan.encode import Encoding

T = TypeVar("T")


@dataclass(frozen=True)
class Demand:
    """A symbol that must have a value; at least one of several, if there are several."""

    symbols: tuple[str, ...]
    value: bool = True
    label: str = ""


@dataclass
class Problem:
    """The optimisation problem of one image."""

    encoding: Encoding
    demands: list[Demand] = field(default_factory=list)
    costs: Mapping[str, int] = field(default_factory=dict)

    def clauses(self, demands: Iterable[Demand] | None = None) -> list[list[int]]:
        """The hard clauses of demands; an unknown symbol is never y."""
        known = self.encoding.literals
        return [
            [self.encoding.literal(s, demand.value) for s in demand.symbols if s in known]
            or ([] if demand.value else [self._tautology()])
            for demand in (self.demands if demands is None else demands)
        ]

    def _tautology(self) -> int:
        # The encoding's constant: the literal after those of the symbols.
        return len(self.encoding.literals) + 1


@dataclass(frozen=True)
class Solution:
    """A configuration and its optimal cost."""

    values: dict[str, bool]
    cost: int
    """The sum of the costs of the chosen libraries."""

    @property
    def chosen(self) -> list[str]:
        """The symbols that are y."""
        return sorted(symbol for symbol, value in self.values.items() if value)


def satisfiable(problem: Problem, demands: Iterable[Demand] | None = None) -> bool:
    """Whether all demands can hold together."""
    clauses = problem.clauses(demands)
    if any(not clause for clause in clauses):
        return False
    with Solver(name="cadical153", bootstrap_with=problem.encoding.clauses) as solver:
        for clause in clauses:
            solver.add_clause(clause)
        return bool(solver.solve())


def solve(problem: Problem) -> Solution | None:
    """The cheapest configuration, or None if the demands clash."""
    if not satisfiable(problem):
        return None
    formula = WCNF()
    for clause in (*problem.encoding.clauses, *problem.clauses()):
        formula.append(clause)
    encoding = problem.encoding
    free = [lit for s, lit in sorted(encoding.preferences.items()) if s not in problem.costs]
    # One additional library costs more than all settings off their defaults together.
    scale = len(free) + 1
    for symbol, cost in sorted(problem.costs.items()):
        if symbol in encoding.literals:
            formula.append([encoding.literal(symbol, False)], weight=cost * scale)
    for literal in free:
        formula.append([literal], weight=1)
    with RC2(formula, solver="g4", adapt=True, exhaust=True) as solver:
        model = solver.compute()
    if model is None:
        return None
    values = encoding.model(model)
    return Solution(values, sum(c for s, c in problem.costs.items() if values.get(s)))


def minimal(items: Sequence[T], holds: Callable[[Sequence[T]], bool]) -> list[T]:
    """A minimal unsatisfiable subset of items that do not hold together.

    Deletion in reverse order: the last demands are removed first, so the core has the earliest
    demands where there is a choice.
    """
    core = list(items)
    for item in reversed(items):
        rest = [other for other in core if other is not item]
        if not holds(rest):
            core = rest
    return core
