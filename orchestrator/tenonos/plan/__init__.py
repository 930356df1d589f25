"""The planner: from an objective in English to a solved, explained composition.

The stages, each in separate modules and replaceable:

* *read* the objective into a typed plan (`english`, behind `planner.Planner`);
* *retrieve* the meaning of its content words from the pool's texts (`retrieval`);
* *allocate* CPUs and memory, with a named rule for every default (`allocate`);
* *analyse* schedulability of tasks (`schedule`);
* *solve* each image's Kconfig constraints for the cheapest set (`encode`, `solve`);
* *compose* the result and write it (`compose`, `write`), and *explain* it (`explain`).

This package has no vocabulary of any application field. The meaning of words comes from the pool
(prompt, help and keywords of its Kconfig symbols); this package knows only English grammar:
quantities, relations, negation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tenonos.plan.compose import compose
    from tenonos.plan.models import Composition

__all__ = ["Composition", "compose"]


def __getattr__(name: str) -> Any:
    if name == "compose":
        from tenonos.plan.compose import compose

        return compose
    if name == "Composition":
        from tenonos.plan.models import Composition

        return Composition
    raise AttributeError(name)
