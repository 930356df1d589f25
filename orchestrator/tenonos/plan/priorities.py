"""Stated priorities of tasks, which the system passes to the application: `[[vm.task]]`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tenonos.plan.allocate import Infeasible
from tenonos.plan.models import Item, Kind
from tenonos.system.limits import PRIORITIES


def of(image: str | None, items: Sequence[Item]) -> Mapping[int | None, int]:
    """The priority of each task of a VM by its period, None for the period of the application.

    Empty if the words do not give each task one: there are as many priorities as periods, and they
    belong together in the order of the words.
    """
    priorities, periods = (_stated(image, items, kind) for kind in ("priority", "period"))
    if len(priorities) == 1 and not periods:
        return {None: priorities[0]}
    whole = len(priorities) == len(periods) and len(periods) == len(set(periods))
    return dict(zip(periods, priorities, strict=True)) if whole else {}


def check(items: Sequence[Item]) -> None:
    """Check that each stated priority is one of the kernel's."""
    for item in items:
        if item.kind == "priority" and int(item.value or 0) not in PRIORITIES:
            raise Infeasible(
                f"priority {item.value}, and those of a task are {PRIORITIES[0]} to "
                f"{PRIORITIES[-1]}, the most urgent"
            )


def _stated(image: str | None, items: Sequence[Item], kind: Kind) -> list[int]:
    found = [i for i in items if (i.image, i.kind) == (image, kind) and i.value is not None]
    return [int(i.value or 0) for i in sorted(found, key=lambda i: i.span or (0, 0))]
