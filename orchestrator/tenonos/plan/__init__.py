"""The planner: from an objective in English to a solved, explained composition.

`compose` runs these stages in order, each in separate modules:

* *read* the objective into a typed plan (`english` or `llm`, behind `planner.Planner`), with the
  meaning of its words from the pool's texts (`retrieval`);
* *place* demands on VMs (`task_groups`, `assignment`, `missing`);
* *check* that they can hold together (`feasibility`: `allocate` for CPUs and memory, `schedule` for
  tasks, then the constraints of each image);
* *demand* symbols of each image (`demands`) and *solve* its Kconfig constraints for the cheapest
  set (`configuration`, `bounds`, `encode`, `solve`);
* *finish* the plan, with a named rule for every default (`defaults`, `infer`);
* *write* the files (`write`), which `explain` reads.

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
