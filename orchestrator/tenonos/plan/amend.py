"""Pure transformations of a plan during composition."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from tenonos.plan.allocate import Share
from tenonos.plan.models import TEMPLATE, Guest, Item, Plan, Talk, shares_cores
from tenonos.plan.pool import Pool

MORTISE = "mortise"
SEVERAL = "several-cores-for-a-scheduler-of-several"


def reduced(plan: Plan, items: Sequence[Item]) -> tuple[list[Guest], list[Item]]:
    """The plan with only some demands, without VMs that no demand refers to."""
    guests = plan.guests
    named = {i.image for i in plan.items if i.kind == "capability"}
    wanted = {i.image for i in items if i.kind == "capability" or i.image not in named}
    kept = [g for g in guests if g.name in wanted]
    if not any((i.kind, i.value) == ("capability", TEMPLATE) for i in items):
        kept = [g.model_copy(update={"made_by": None}) for g in kept]
    names = {g.name for g in kept} | {None, MORTISE}
    counted = len(kept) == len(guests)
    return kept, [i for i in items if i.image in names and (counted or i.kind != "vms")]


def named(
    plan: Plan,
    core: Sequence[Item],
    objection: Callable[[Sequence[Guest], Sequence[Item]], str | None],
) -> list[Item]:
    """A conflict core without demands that only state the existence of a VM named by others."""
    kept = list(core)
    for item in core:
        rest = [other for other in kept if other is not item]
        guests = [g for g in plan.guests if any(g.name == other.image for other in kept)]
        spoken_of = any(other.image == item.image for other in rest)
        if item.kind == "capability" and spoken_of and objection(guests, rest):
            kept = rest
    return kept


def names_of(apps: Mapping[str, str], pool: Pool) -> dict[str, str]:
    """Names for real-time VMs: those of their applications, numbered if several run the same."""
    bases = {old: pool.entries[app].name for old, app in apps.items()}
    used: dict[str, int] = {}
    names = {}
    for old, base in bases.items():
        used[base] = used.get(base, 0) + 1
        many = list(bases.values()).count(base) > 1
        names[old] = f"{base}-{used[base]}" if many else base
    return names


def renamed(plan: Plan, names: Mapping[str, str]) -> Plan:
    """The plan with renamed VMs."""

    def name(old: str | None) -> str | None:
        return None if old is None else names.get(old, old)

    def talk(old: Talk) -> Talk:
        return old.model_copy(update={"peer": name(old.peer)})

    guests = [
        g.model_copy(update={"name": name(g.name), "talks": tuple(map(talk, g.talks))})
        for g in plan.guests
    ]
    items = [i.model_copy(update={"image": name(i.image)}) for i in plan.items]
    return plan.model_copy(update={"guests": guests, "items": items})


def with_apps(plan: Plan, apps: Mapping[str, str], pool: Pool) -> Plan:
    """The plan with the chosen application of each VM without a stated one."""
    items = list(plan.items)
    for image, app in apps.items():
        own = {app, *pool.entries[app].provides}
        if any(pool.symbol(str(i.value)) in own for i in plan.of(image, "capability")):
            continue
        value, rule = pool.own_capability(app), "lightest-application"
        items.append(Item(kind="capability", value=value, image=image, rule=rule))
    return plan.model_copy(update={"items": items})


def with_cores(plan: Plan, shares: Mapping[str, Share]) -> Plan:
    """The plan with all core counts, derived ones included."""
    items = []
    for item in plan.items:
        if item.kind == "cores" and item.value is None and item.image:
            update = {"value": len(shares[item.image].cpus), "rule": "linux-gets-the-other-cores"}
            item = item.model_copy(update=update)
        items.append(item)
    alone = len(plan.guests) == 1
    together = shares_cores(plan.items)
    for guest in plan.guests:
        if any(i.image == guest.name and i.kind == "cores" for i in items):
            continue
        count = len(shares[guest.name].cpus)
        rule = "linux-gets-the-other-cores" if guest.kind == "linux" else "a-core-of-its-own"
        if guest.kind == "tenon":
            rule = SEVERAL if count > 1 else "one-core-for-one-vm" if alone else rule
        if guest.made_by:
            rule = "a-core-of-its-maker"
        elif together and guest.kind != "native":
            rule = "one-core-for-all" if count == 1 else "cores-are-shared"
        items.append(
            Item(
                kind="cores",
                value=count,
                unit="cores",
                image=guest.name,
                rule=rule,
            )
        )
    return plan.model_copy(update={"items": items})


def config_lines(minimal: str) -> dict[str, str]:
    """A minimal configuration as names and values."""
    found = {}
    for line in minimal.splitlines():
        if line.startswith("# ") and line.endswith(" is not set"):
            found[line[2:-11]] = "n"
        elif "=" in line and not line.startswith("#"):
            name, _, value = line.partition("=")
            found[name] = value
    return found
