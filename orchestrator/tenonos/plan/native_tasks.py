"""Native tasks of a plan: programs within the hypervisor, each on a core of its own.

A native task has time and a console, and no kernel below it. Whatever else is demanded of it is
refused, with a VM as the remedy.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

from tenonos.analysis import least
from tenonos.plan.allocate import Infeasible, Share
from tenonos.plan.amend import MORTISE, renamed
from tenonos.plan.models import NATIVE, PARTITION, Guest, Image, Item, Plan, is_bare, vms
from tenonos.plan.pool import Pool
from tenonos.plan.reader.reading import Reading
from tenonos.plan.solve import Demand
from tenonos.system.board import Board
from tenonos.system.schema import NativeSpec
from tenonos.system.units import duration_text

NAME = "native"
RUNTIME = "core/bare"
"""The library of native tasks."""
_TASK = re.compile(r"\b(?:task|program)s?\b", re.IGNORECASE)
_SEVERAL = re.compile(r"\b(?:task|program|loop|function)s\b", re.IGNORECASE)
_NOT_ITS_OWN = ("ram", "image", "tick", "priority")
"""Kinds of demands that a native task has nothing for."""


def of(guests: Sequence[Guest]) -> list[Guest]:
    """The native tasks among guests."""
    return [guest for guest in guests if guest.kind == "native"]


def does(pool: Pool, names: Collection[str]) -> str | None:
    """The first native task of the pool that provides these capabilities.

    Each has a core to itself, and so what is demanded of a VM with such a core.
    """
    asked = {pool.symbol(name) for name in names if name not in (NATIVE, PARTITION)}
    return next((app for app in pool.natives if asked <= {*pool.entries[app].provides}), None)


def nearest(reading: Reading, of_vm: Mapping[int, list[str]]) -> dict[int, list[str]]:
    """The native tasks of a reading without a task of their own, by the task without a VM that is
    nearest to their words; `of_vm` are the guests of its VMs."""
    tasks, said = reading.tasks, reading.vms
    free = [at for at, task in enumerate(tasks) if task.vm is None]
    idle = [v for v in of_vm if said[v].kind == "native" and v not in {t.vm for t in tasks}]
    return {
        min(free, key=lambda at: abs(tasks[at].at - said[own].at)): of_vm[own]
        for own in (idle if free else ())
    }


def settled(plan: Plan, pool: Pool) -> Plan:
    """The plan with the native tasks that its words demand.

    The words are those of a VM of the plan, which is then a native task, or of none, which adds
    one. If they are those of several VMs, or of several tasks, they do not say which, and nothing
    changes.
    """
    asked = [i for i in plan.items if (i.kind, i.value) == ("capability", NATIVE)]
    if not asked or is_bare(plan.items):
        return plan
    if not of(plan.guests):
        named = [g for g in plan.guests if g.kind == "tenon" and _is_of(g, asked, plan)]
        if len(named) > 1 or _SEVERAL.search(asked[0].source or ""):
            return plan
        plan = _made(plan, asked[0], named[0] if named else None)
    own = {guest.name for guest in of(plan.guests)}
    items = [item for item in plan.items if item.value != NATIVE or item.image in own]
    items = [_given(item, plan.guests, own, pool) for item in items]
    return plan.model_copy(update={"items": items})


def _is_of(guest: Guest, asked: Sequence[Item], plan: Plan) -> bool:
    """Whether the words are those of a VM: "a loop inside the hypervisor", and not "a loop, and a
    native task", which names the task after what the VM does."""
    mine = [item for item in asked if item.image == guest.name]
    does = [i.span for i in plan.of(guest.name, "capability") if i.value != NATIVE and i.span]
    return any(
        not _TASK.search(item.source or "") or all(span >= (item.span or span) for span in does)
        for item in mine
    )


def _made(plan: Plan, asked: Item, guest: Guest | None) -> Plan:
    """The plan with a native task in place of a VM, or with one more guest."""
    if guest is None:
        items = [i.model_copy(update={"image": NAME}) if i is asked else i for i in plan.items]
        guests = [*plan.guests, Guest(name=NAME, kind="native")]
        return plan.model_copy(update={"guests": guests, "items": items})
    guests = [g.model_copy(update={"kind": "native"}) if g is guest else g for g in plan.guests]
    return renamed(plan.model_copy(update={"guests": guests}), {guest.name: NAME})


def _given(item: Item, guests: Sequence[Guest], own: Collection[str], pool: Pool) -> Item:
    """A demand on no VM, on the only task that can meet it."""
    tenons = any(guest.kind == "tenon" for guest in guests)
    open_one = item.kind == "capability" and item.image is None and not tenons and len(own) == 1
    if open_one and item.value != NATIVE and does(pool, [str(item.value)]):
        return item.model_copy(update={"image": next(iter(own))})
    return item


def check(guests: Sequence[Guest], items: Sequence[Item], pool: Pool, board: Board) -> None:
    """Refuse what a native task cannot do or be."""
    natives = of(guests)
    for guest in natives:
        mine = [item for item in items if item.image == guest.name]
        for item in mine:
            alien = item.kind == "capability" and not does(pool, [str(item.value)])
            if alien or item.kind in _NOT_ITS_OWN:
                what = item.value if alien else item.kind
                raise Infeasible(
                    f"a native task has time and a console, and no {what}: ask for that in a VM"
                )
            if item.kind == "cores" and item.unit == "cores" and item.value != 1:
                raise Infeasible(f"a native task has one core, not {item.value}")
        places = {item.value for item in mine if item.unit == "cpu"}
        if len(places) > 1:
            raise Infeasible(f"a native task has one core, not {len(places)}")
        periods = {item.value for item in mine if item.kind == "period"}
        if len(periods) > 1:
            raise Infeasible(f"{guest.name} would have {len(periods)} periods")
        shortest = min((int(value or 0) for value in periods), default=None)
        if shortest is not None and shortest < (bound := least.native_period(board)):
            raise Infeasible(
                f"{guest.name} would be released every {duration_text(shortest)}, and the least on "
                f"{board.name} is {duration_text(bound)}"
            )
    if natives and not vms(guests):
        _check_alone(natives, items)


def _check_alone(natives: Sequence[Guest], items: Sequence[Item]) -> None:
    """Refuse what a hypervisor without VMs cannot have."""
    if len(natives) > 1:
        raise Infeasible("without a VM there is one native task: ask for a VM too")
    for item in items:
        if item.kind == "capability" and item.image == MORTISE:
            raise Infeasible(f"a hypervisor without VMs has no {item.value}: ask for a VM too")
    if any(i.unit == "cpu" and i.value for i in items if i.kind == "cores"):
        raise Infeasible("without a VM the native task is on core 0: ask for a VM too")


def demands(guests: Sequence[Guest], items: Sequence[Item], pool: Pool) -> list[Demand]:
    """The demands on the hypervisor that follow from native tasks."""
    found = [
        Demand((app,), True, "a native task")
        for guest in of(guests)
        if (app := program(guest, items, pool))
    ]
    if found and not vms(guests):
        kernels = [lib.symbol for lib in pool.index.libraries if lib.root == "mortise"]
        found += [Demand((symbol,), False, "a hypervisor without VMs") for symbol in kernels]
    elif found:
        found.append(Demand((pool.symbol(NATIVE),), True, NATIVE))
    return found


def program(guest: Guest, items: Sequence[Item], pool: Pool) -> str | None:
    """The application of a native task."""
    mine = (i for i in items if i.image == guest.name and i.kind == "capability")
    return does(pool, [str(item.value) for item in mine])


def images(plan: Plan, shares: Mapping[str, Share], pool: Pool) -> dict[str, Image]:
    """The native tasks as images of the composition: parts of the hypervisor's."""
    found = {}
    for guest in of(plan.guests):
        entry = pool.entries[program(guest, plan.items, pool) or ""]
        provided = {pool.entries[symbol].name for symbol in entry.provides}
        own = {str(i.value) for i in plan.of(guest.name, "capability")}
        found[guest.name] = Image(
            kind="native",
            cpus=list(shares[guest.name].cpus),
            libraries=sorted([f"apps/{entry.name}", RUNTIME]),
            capabilities=sorted({NATIVE} | provided | own & {PARTITION}),
        )
    return found


def tables(plan: Plan, shares: Mapping[str, Share], pool: Pool) -> list[NativeSpec]:
    """The `[[native]]` of each native task."""
    made = []
    for guest in of(plan.guests):
        app = program(guest, plan.items, pool) or ""
        period = next((int(i.value or 0) for i in plan.of(guest.name, "period")), None)
        made.append(
            NativeSpec(
                name=guest.name,
                app=pool.entries[app].name,
                cpus=list(shares[guest.name].cpus),
                rights=list(pool.libraries[app].rights or ()),
                period=duration_text(period) if period else None,  # type: ignore[arg-type]
            )
        )
    return made
