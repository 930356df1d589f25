"""Parameters: the numbers and alternatives of an image, each with the rule that gave it its value.

Of an image that is composed, a demand decides some (a tick, floating point), the plan others (the
cores of a VM), and the rest is as its library says: stacks, depths of queues, priorities.
"""

from __future__ import annotations

from collections.abc import Iterator

import kconfiglib as kc

from tenonos.plan.amend import config_lines
from tenonos.plan.models import Model
from tenonos.plan.pool import CORES
from tenonos.pool.kconfig import PREFIX, Assignment, Config, Tree

RULES = {
    "cores-of-the-vm": "as many cores as its VM has",
    "demanded": "the demands leave no other",
    "default-of-the-library": "its library's default",
}

_IDENTITY = ("IMAGE", "BOARD")
"""Choices that say which image it is, not how it is."""


class Parameter(Model):
    """One parameter of one image."""

    symbol: str
    value: str
    rule: str


def of(tree: Tree, config: Config) -> Iterator[Parameter]:
    """The parameters that an image has, sorted."""
    given = config_lines(config.minimal).items()
    lines = [Assignment(name.removeprefix(PREFIX), value) for name, value in given]
    tree.evaluate(lines, strict=False)
    # Whoever sets a symbol to its default is not told from who leaves it, and need not be.
    told = {line.symbol for line in lines}
    for name, symbol in sorted(tree.symbols.items()):
        choice = symbol.choice
        chosen = choice is not None and choice.name not in _IDENTITY and symbol.tri_value == 2
        if symbol.visibility and (chosen or symbol.orig_type in (kc.INT, kc.HEX)):
            rule = "demanded" if name in told else "default-of-the-library"
            rule = "cores-of-the-vm" if name == CORES else rule
            yield Parameter(symbol=name, value=symbol.str_value, rule=rule)
