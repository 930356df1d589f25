"""What a plan implies and the pool has not."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from tenonos.plan import channels
from tenonos.plan.allocate import MORTISE, SMP
from tenonos.plan.models import CHANNEL, LIFECYCLE, NATIVE, TEMPLATE, Item, Missing, Plan
from tenonos.plan.pool import POSIX, Pool
from tenonos.system.board import Board


def lacking(plan: Plan, pool: Pool, board: Board) -> list[Missing]:
    """The first of it: a scheduler for several cores, priorities, somebody at the other end."""
    return [*islice(_lacking(plan, pool, board), 1)]


def _lacking(plan: Plan, pool: Pool, board: Board) -> Iterator[Missing]:
    others = {guest.name for guest in plan.guests if guest.kind == "linux"}
    for item in plan.items:
        # Applications set their threads' priorities themselves; nothing passes one in. Of a
        # guest system, neither the image nor the timing is ours.
        own = item.kind in ("image", "period", "deadline", "jitter", "wcet", "tick")
        if item.kind == "priority" or (own and item.image in {None, *others}):
            yield Missing(source=item.source)
    for item in plan.of(MORTISE, "capability"):
        # A life cycle needs somebody who cares for it, and Mortise has no program of its own.
        if item.value == NATIVE or (item.value in (LIFECYCLE, TEMPLATE) and not others):
            yield _without(item)
    # A channel needs an application at its end, which says what for.
    yield from (_without(i) for i in plan.of(None, "capability") if i.value == CHANNEL)
    possible = channels.choices(pool, plan.guests, plan.items)
    for name in (guest.name for guest in plan.guests if guest.kind == "tenon"):
        for item in plan.of(name, "cores"):
            several = item.unit == "cores" and item.value in range(2, board.cpus + 1)
            if several and not _available(pool, SMP):
                yield Missing(capability=SMP, source=item.source)
        apps = _candidates(plan, pool, name)
        for item in plan.of(name, "capability"):
            # Chosen, but called by no code of the image, it would do nothing there.
            if item.value == CHANNEL:
                called = any(channels.ends(pool, app) for app in possible[name])
            else:
                called = item.value == POSIX or pool.uses(apps, str(item.value))
            if not called:
                yield _without(item)


def _without(item: Item) -> Missing:
    return Missing(capability=str(item.value), source=item.source)


def _candidates(plan: Plan, pool: Pool, name: str) -> list[str]:
    """The applications a VM may get: those asked for, or any that nobody has to type to."""
    asked = [pool.symbol(str(i.value)) for i in plan.of(name, "capability")]
    named = [a for a in pool.apps if a in asked or set(pool.entries[a].provides) & set(asked)]
    return named or [a for a in pool.apps if not pool.listens(a)]


def _available(pool: Pool, name: str) -> bool:
    entry = pool.by_name.get(name)
    return entry is not None and entry.available
