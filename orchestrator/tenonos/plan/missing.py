"""Implied capabilities that the pool does not provide."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from tenonos.plan import channels, disks, effects, networks, priorities
from tenonos.plan.allocate import MORTISE, SMP
from tenonos.plan.models import CHANNEL, LIFECYCLE, NATIVE, TEMPLATE, Item, Missing, Plan
from tenonos.plan.pool import POSIX, Pool
from tenonos.system.board import Board


def missing(plan: Plan, pool: Pool, board: Board) -> list[Missing]:
    """The first missing one: an SMP scheduler, priorities, or a peer for a channel."""
    return [*islice(_missing(plan, pool, board), 1)]


def _missing(plan: Plan, pool: Pool, board: Board) -> Iterator[Missing]:
    others = {guest.name for guest in plan.guests if guest.kind == "linux"}
    for item in plan.items:
        # Image and timing of a guest system are not under our control.
        own = item.kind in ("image", "period", "deadline", "jitter", "wcet", "tick", "priority")
        no_task = item.kind == "priority" and not priorities.of(item.image, plan.items)
        if no_task or (own and item.image in {None, *others}):
            yield Missing(source=item.source)
    for item in plan.of(MORTISE, "capability"):
        # Life cycles need a manager, and Mortise itself is none.
        if item.value == NATIVE or (item.value in (LIFECYCLE, TEMPLATE) and not others):
            yield _without(item)
    yield from effects.missing(plan.guests, plan.items)
    yield from networks.missing(plan.guests, plan.items, board)
    yield from disks.missing(plan.guests, plan.items, board)
    # A channel needs an application that declares its end.
    yield from (_without(i) for i in plan.of(None, "capability") if i.value == CHANNEL)
    possible = channels.choices(pool, plan.guests, plan.items)
    for name in (guest.name for guest in plan.guests if guest.kind == "tenon"):
        for item in plan.of(name, "cores"):
            several = item.unit == "cores" and item.value in range(2, board.cpus + 1)
            if several and not _available(pool, SMP):
                yield Missing(capability=SMP, source=item.source)
        apps = _candidates(plan, pool, name)
        for item in plan.of(name, "capability"):
            # Chosen, but not called by code of the image, it would have no effect.
            if item.value == CHANNEL:
                called = any(channels.ends(pool, app) for app in possible[name])
            else:
                called = item.value == POSIX or pool.uses(apps, str(item.value))
            if not called:
                yield _without(item)


def _without(item: Item) -> Missing:
    return Missing(capability=str(item.value), source=item.source)


def _candidates(plan: Plan, pool: Pool, name: str) -> list[str]:
    """The possible applications of a VM: those demanded, or any without console input."""
    asked = [pool.symbol(str(i.value)) for i in plan.of(name, "capability")]
    named = [a for a in pool.apps if a in asked or set(pool.entries[a].provides) & set(asked)]
    return named or [a for a in pool.apps if not pool.listens(a)]


def _available(pool: Pool, name: str) -> bool:
    entry = pool.by_name.get(name)
    return entry is not None and entry.available
