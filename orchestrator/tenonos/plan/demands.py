"""Demands on the images of a plan, as constraints on their configurations.

The stage between placement and solver: which images a plan has, and which symbols each must or must
not have.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from tenonos.plan import channels, disks, effects, native_tasks, networks, priorities
from tenonos.plan.amend import MORTISE
from tenonos.plan.assignment import SHARED
from tenonos.plan.defaults import is_direct
from tenonos.plan.models import (
    CHANNEL,
    DIRECT,
    DISPATCH,
    PARTITION,
    PROCESSES,
    TIMING,
    Guest,
    Item,
    is_bare,
    manages,
    vms,
)
from tenonos.plan.pool import C_LIBRARY, Pool
from tenonos.plan.solve import Demand
from tenonos.system.board import Board

ENTROPY = "virt.entropy"


def images(guests: Sequence[Guest], items: Sequence[Item]) -> list[tuple[str, str]]:
    """Name and kind of each image that is configured: the hypervisor's and the Tenon VMs'."""
    tenons = [(g.name, "tenon") for g in guests if g.kind == "tenon"]
    return tenons if is_bare(items) else [(MORTISE, MORTISE), *tenons]


@dataclass(frozen=True)
class Demands:
    """The demands of a plan's guests and items on images for a board."""

    pool: Pool
    board: Board
    guests: Sequence[Guest]
    items: Sequence[Item]

    def of(self, name: str, kind: str) -> list[Demand]:
        """The demands on one image."""
        demands = [Demand((f"IMAGE_{kind.upper()}",)), Demand((self.board.symbol,))]
        for item in self.items:
            value = str(item.value)
            if item.kind == "forbid" and not value.startswith("guest."):
                demands.append(Demand((self.pool.symbol(value),), False, value))
            elif item.kind == "capability" and item.image == name:
                demands.append(Demand((self.pool.symbol(value),), True, value))
        return demands + (self._mortise() if kind == MORTISE else self._application(name, demands))

    def _mortise(self) -> list[Demand]:
        """The capabilities of the hypervisor that follow from its VMs and native tasks."""
        tasks = native_tasks.demands(self.guests, self.items, self.pool)
        if tasks and not vms(self.guests):
            return tasks
        needs = {PARTITION} | ({DISPATCH} if manages(self.items) else set())
        talk = channels.wanted_by_any(self.pool, self.guests, self.items)
        needs |= {CHANNEL} if talk else set()
        needs |= {ENTROPY} if any(guest.kind == "linux" for guest in self.guests) else set()
        processes = any(item.value in PROCESSES for item in self.items)
        needs |= {ENTROPY} if processes else set()
        for guest in vms(self.guests):
            needs.add(DIRECT if is_direct(guest, self.board) else SHARED)
        needs |= {*effects.of_mortise(self.items)}
        needs |= {networks.NET} if networks.members(self.guests, self.items) else set()
        needs |= {*disks.of_mortise(self.guests, self.items)}
        needed = [Demand((self.pool.symbol(need),), True, need) for need in sorted(needs)]
        return needed + tasks

    def _application(self, name: str, demands: Sequence[Demand]) -> list[Demand]:
        """Exactly one application that does all that is demanded of a VM."""
        pool = self.pool
        periodic = any(i.image == name and i.kind in TIMING for i in self.items)
        asked = {symbol for demand in demands if demand.value for symbol in demand.symbols}
        # A priority without a period is one of a task that the application declares.
        declared = None in priorities.of(name, self.items)
        guest = next(guest for guest in self.guests if guest.name == name)
        whole = [
            app
            for app in pool.apps
            if pool.is_whole(app, asked)
            and channels.talks(pool, app, guest, self.guests, self.items)
        ]
        general = [app for app in whole if pool.has_any_task(app)]
        fit = [
            app
            for app in whole
            if pool.has_tasks(app, periodic, guest.tasks, app in asked)
            and (pool.tasks(app) or not declared)
        ] or general
        if periodic and any(i.image == name and i.kind == "application" for i in self.items):
            # Its tasks are the user's to write: an application that runs them, whatever they do.
            fit = general or fit
        one = [Demand(pair, False, "one application") for pair in combinations(pool.apps, 2)]
        rust = [a for a in pool.apps if not pool.in_c(a)]
        alien = [Demand((a, C_LIBRARY), False, "the interface for C") for a in rust]
        if not pool.speaks_of_c(asked):
            fit = [app for app in fit if app in rust] or fit
        return [Demand(tuple(fit), True, "an application"), *one, *alien]
