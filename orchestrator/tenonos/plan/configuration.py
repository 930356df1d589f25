"""Configurations of images: solved for the demands, and evaluated by Kconfig.

The solver's stage for one image at a time: the cheapest configuration, the numbers that follow from
the plan, and kconfiglib's evaluation, which must agree with the solver.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from tenonos.errors import InputError, WorkError
from tenonos.plan import bounds, infer
from tenonos.plan.allocate import Share
from tenonos.plan.amend import MORTISE, config_lines
from tenonos.plan.demands import Demands
from tenonos.plan.infer import Inferred
from tenonos.plan.models import Image, Plan
from tenonos.plan.pool import CORES, Pool
from tenonos.plan.solve import Demand, Problem, Solution
from tenonos.pool.kconfig import Assignment, Config
from tenonos.system.board import Board


@dataclass
class Solved:
    """One image's demands and the configuration that meets them."""

    kind: str
    demands: list[Demand]
    solution: Solution
    config: Config
    numbers: list[Inferred] = field(default_factory=list)
    """Numbers inferred from the plan."""

    @property
    def app(self) -> str:
        """The one application of a Tenon VM."""
        chosen = [s for s, v in self.solution.values.items() if v and s.startswith("APP_")]
        if len(chosen) != 1:
            raise InputError(f"{len(chosen)} applications in one VM: {', '.join(chosen)}")
        return chosen[0]

    def image(self, board: Board, share: Share | None, pool: Pool) -> Image:
        """The image of the composition, with its share of the board; none of a hypervisor."""
        return Image(
            kind="mortise" if self.kind == MORTISE else "tenon",
            cpus=list(share.cpus) if share else list(range(board.cpus)),
            memory=share.memory if share else None,
            libraries=sorted(_identity(pool, symbol) for symbol in self.config.libraries),
            capabilities=self.config.capabilities,
            config=config_lines(self.config.minimal),
        )


def solved(name: str, kind: str, plan: Plan, cores: int, pool: Pool, board: Board) -> Solved:
    """The best configuration of an image for the plan's utility."""
    demands = Demands(pool, board, plan.guests, plan.items).of(name, kind)
    solution = bounds.best(Problem(pool.encoded(cores), demands), name, kind, plan, pool)
    if solution is None:
        raise WorkError(f"the demands on {name} were found to hold together, and then not")
    return Solved(kind, demands, solution, applied(name, solution, cores, pool))


def number(name: str, made: Solved, plan: Plan, share: Share, pool: Pool) -> None:
    """Assign an image the numbers that follow from the plan."""
    deepest = pool.deepest_of_program(made.solution.chosen)
    bounded = bounds.RAM in bounds.limits(name, plan.items)
    values = made.config.values
    made.numbers = [*infer.numbers(name, plan.items, share.memory, values, deepest, bounded)]
    if made.numbers:
        given = [number.assignment for number in made.numbers]
        made.config = applied(name, made.solution, len(share.cpus), pool, given)


def applied(
    name: str, solution: Solution, cores: int, pool: Pool, numbers: Sequence[Assignment] = ()
) -> Config:
    """The solution evaluated by kconfiglib, which must agree."""
    tree = pool.tree
    settable = pool.encoding.settable
    given = [
        Assignment(symbol, "y" if value else "n", "the solver")
        for symbol, value in solution.values.items()
        if symbol in settable and (value or tree.symbols[symbol].choice is None)
    ]
    if cores > 1:
        given.append(Assignment(CORES, str(cores), "the cores of its VM"))
    config = tree.evaluate([*given, *numbers], strict=False)
    wrong = [s for s, v in solution.values.items() if config.values.get(s) != v]
    if wrong:
        raise WorkError(f"solver and Kconfig disagree about {', '.join(wrong)} of {name}")
    return config


def _identity(pool: Pool, symbol: str) -> str:
    entry = pool.entries[symbol]
    return f"apps/{entry.name}" if entry.kind == "app" else entry.name
