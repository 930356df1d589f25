"""The planner: from an objective in English to a solved, explained composition.

The stages, each in modules of its own and each replaceable:

* *read* the objective into a typed plan (`english`, behind `planner.Planner`);
* *retrieve* what its function words mean in the pool's own texts (`retrieval`);
* *allocate* CPUs and memory, with a named rule for every default (`allocate`);
* *analyse* whether tasks are done in time there (`schedule`);
* *solve* each image's Kconfig constraints for the cheapest set (`encode`, `solve`);
* *compose* the result and write it (`compose`, `write`), and *explain* it (`explain`).

No word of any application field stands in this package. What a word means is written
in the pool (prompt, help and keywords of its Kconfig symbols); here is only English
grammar: quantities, relations, negation.
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
