"""Groups of periodic tasks in one VM, if an objective states no more about each.

A task is read as a VM with a period. Tasks stated to be in one VM become one VM with as many tasks,
which needs an application that runs any number of named tasks.
"""

from __future__ import annotations

from tenonos.plan.english.subjects import UNNAMED
from tenonos.plan.models import Guest, Item, Plan, is_bare, vms
from tenonos.plan.pool import Pool


def together(plan: Plan, pool: Pool) -> Plan:
    """The plan with one VM for all real-time tasks, if one is demanded and they fit."""
    tenons = [guest for guest in plan.guests if guest.kind == "tenon"]
    others = len(vms(plan.guests)) - len(tenons)
    one = any(item.kind == "vms" and item.value == others + 1 for item in plan.items)
    if len(tenons) < 2 or not one or is_bare(plan.items):
        return plan
    names = {guest.name for guest in tenons}
    if not all(_is_plain(guest, plan) for guest in tenons) or not _is_group(names, plan, pool):
        return plan
    crew = Guest(name=UNNAMED, kind="tenon", tasks=len(tenons))
    items: list[Item] = []
    for item in plan.items:
        own = item.image in names
        moved = item.model_copy(update={"image": UNNAMED}) if own else item
        again = item.kind == "capability" and _known(moved, items)
        if not again and not (own and item.kind == "deadline"):
            items.append(moved)
    kept = [guest for guest in plan.guests if guest not in tenons]
    return plan.model_copy(update={"guests": [crew, *kept], "items": items})


def _is_plain(guest: Guest, plan: Plan) -> bool:
    """Whether a VM has no demands but function, period and core."""
    mine = [item for item in plan.items if item.image == guest.name]
    periods = [item for item in mine if item.kind == "period"]
    timed = any(
        item.kind in ("jitter", "wcet", "ram", "image") or (item.kind == "deadline" and item.value)
        for item in mine
    )
    return len(periods) == 1 and not timed and not guest.made_by and not guest.talks


def _is_group(names: set[str], plan: Plan, pool: Pool) -> bool:
    """Whether an application for arbitrary tasks satisfies all demands on these VMs."""
    asked = {
        pool.symbol(str(item.value))
        for item in plan.items
        if item.kind == "capability" and item.image in names
    }
    return any(pool.has_any_task(app) and pool.is_whole(app, asked) for app in pool.apps)


def _known(item: Item, items: list[Item]) -> bool:
    return any((i.kind, i.value, i.image) == (item.kind, item.value, item.image) for i in items)
