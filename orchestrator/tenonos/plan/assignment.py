"""Assignment of demands to images, with additional VMs where one application does not suffice.

An image has one application. "A 1 kHz control loop with a shell" needs two, in two VMs of a
hypervisor; without a hypervisor, or in a single VM, it is a conflict.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from tenonos.plan import disks, networks, templates
from tenonos.plan.amend import MORTISE
from tenonos.plan.english.subjects import UNNAMED
from tenonos.plan.models import (
    CHANNEL,
    CPU,
    DISPATCH,
    LINUX,
    NATIVE,
    OF_LINUX,
    PARTITION,
    PROCESSES,
    TIMING,
    Guest,
    Item,
    Plan,
    is_bare,
    shares_cores,
    vms,
)
from tenonos.plan.pool import Pool

RULE = "a-vm-for-each-application"
DOES_IT = "a-linux-that-does-it"
SHARED = "virt.irq.shared"
BESIDE_LINUX = frozenset(["virt.bandwidth", "virt.dma", CHANNEL])
"""Capabilities that act between a real-time VM and Linux, or on Linux for the sake of the other."""


def placed(plan: Plan, pool: Pool) -> Plan:
    """The plan with each capability assigned to an image that can provide it."""
    plan = _with_vms(_with_shared_cores(disks.named(plan)), pool)
    plan = templates.marked(_with_linux(plan))
    tenons = [g.name for g in plan.guests if g.kind == "tenon"]
    natives = [g.name for g in plan.guests if g.kind == "native"]
    # Those of a native task, and of one without VMs.
    own = {NATIVE, *([] if vms(plan.guests) else [PARTITION])} if natives else set()
    items = []
    shared: set[str | None] = set()
    named = list(plan.guests)
    for item in plan.items:
        if item.kind == "capability" and not str(item.value).startswith("guest."):
            symbol = pool.symbol(str(item.value))
            if item.value == SHARED:
                shared.add(item.image)
            if (
                item.image in (None, *tenons, *natives)
                and item.value not in own
                and not pool.fits("tenon", symbol)
            ):
                item = item.model_copy(update={"image": MORTISE})
            elif item.image is None and tenons:
                item = item.model_copy(update={"image": tenons[0]})
            elif item.image is None and item.value != CHANNEL:
                # It needs a LibOS, and none was named: add a VM.
                item = item.model_copy(update={"image": UNNAMED})
                named = [Guest(name=UNNAMED, kind="tenon"), *named]
                tenons = [UNNAMED]
        items.append(item)
    named += _uncalled(items, named)
    if shares_cores(items):
        shared.update(guest.name for guest in named)
    guests = [
        g.model_copy(update={"interrupts": "shared"}) if g.name in shared else g for g in named
    ]
    plan = networks.demanded(plan.model_copy(update={"items": items, "guests": guests}), pool)
    return disks.connected(networks.connected(_with_both_ends(_apart(plan, pool))))


def _with_both_ends(plan: Plan) -> Plan:
    """The plan with the other end of a channel in the other real-time VMs, where only one is to
    communicate and there is no Linux."""
    tenons = [guest for guest in plan.guests if guest.kind == "tenon"]
    ends = [i for i in plan.items if (i.kind, i.value) == ("capability", CHANNEL) and i.image]
    if len(tenons) != len(plan.guests) or len({item.image for item in ends}) != 1:
        return plan
    others = [guest.name for guest in tenons if guest.name != ends[0].image]
    also = [ends[0].model_copy(update={"image": name}) for name in others]
    return plan.model_copy(update={"items": [*plan.items, *also]})


def _with_shared_cores(plan: Plan) -> Plan:
    """The plan with a scheduler on cores that are named for several VMs, unless cores of their own
    are demanded."""
    said = {str(i.value) for i in plan.items if i.kind in ("capability", "forbid")}
    own = {guest.name for guest in vms(plan.guests)}
    pins: dict[object, Item] = {}
    for item in plan.items:
        if item.kind == "cores" and item.unit == CPU and item.image in own:
            first = pins.setdefault(item.value, item)
            if first.image != item.image and said.isdisjoint((DISPATCH, PARTITION)):
                both = Item(kind="capability", value=DISPATCH, source=item.source, span=item.span)
                return plan.model_copy(update={"items": [*plan.items, both]})
    return plan


def _uncalled(items: Sequence[Item], guests: Sequence[Guest]) -> Iterator[Guest]:
    """The VMs of a stated count without further demands."""
    said = any(item.image == UNNAMED for item in items)
    if said or any(guest.name != UNNAMED for guest in guests):
        return
    count = next((int(i.value) for i in items if i.kind == "vms" and i.value), 0)
    for number in range(len(guests) + 1, count + 1):
        yield Guest(name=UNNAMED if number == 1 else f"{UNNAMED}-{number}", kind="tenon")


def _with_vms(plan: Plan, pool: Pool) -> Plan:
    """The plan with VMs for what only a hypervisor does, where the objective names none: without
    them it would act on nothing."""
    asked = {str(item.value) for item in plan.items if item.kind == "capability"}
    own = {n for n in asked - {LINUX} if not pool.fits("tenon", pool.symbol(n))}
    own = (own | asked & BESIDE_LINUX).difference(OF_LINUX)
    counted = any(item.kind == "vms" for item in plan.items)
    if plan.guests or counted or not own or is_bare(plan.items):
        return plan
    plan = plan.model_copy(update={"guests": [Guest(name=UNNAMED, kind="tenon")]})
    forbidden = any((i.kind, i.value) == ("forbid", LINUX) for i in plan.items)
    return plan if forbidden or own.isdisjoint(BESIDE_LINUX) else _and_linux(plan)


def _with_linux(plan: Plan) -> Plan:
    """The plan with a Linux VM for services that Linux provides to others, unless one is named or
    excluded."""
    asked = {(item.kind, item.value) for item in plan.items}
    if (
        ("forbid", LINUX) in asked
        or not any(("capability", name) in asked for name in OF_LINUX)
        or any(guest.kind == "linux" for guest in plan.guests)
    ):
        return plan
    return _and_linux(plan)


def _and_linux(plan: Plan) -> Plan:
    item = Item(kind="capability", value=LINUX, image="linux", rule=DOES_IT)
    guests = [*plan.guests, Guest(name="linux", kind="linux")]
    return plan.model_copy(update={"guests": guests, "items": [*plan.items, item]})


@dataclass
class _Group:
    """Capabilities that a single application may provide together."""

    periodic: bool
    items: list[Item] = field(default_factory=list)

    def takes(self, item: Item, pool: Pool) -> bool:
        """Whether some application provides this one too."""
        asked = {pool.symbol(str(i.value)) for i in (*self.items, item)}
        return any(
            pool.is_whole(app, asked)
            and (pool.tasks(app) or pool.has_any_task(app) or not self.periodic)
            for app in pool.apps
        )


def _apart(plan: Plan, pool: Pool) -> Plan:
    """The plan with an additional VM for each further application of a VM."""
    if is_bare(plan.items):
        return plan
    guests, items = list(plan.guests), list(plan.items)
    for guest in plan.guests:
        if guest.kind != "tenon" or guest.tasks > 1:
            continue
        for number, group in enumerate(_groups(plan, guest, pool)[1:], start=2):
            own = guest.model_copy(update={"name": f"{guest.name}-{number}"})
            guests.insert(guests.index(guest) + number - 1, own)
            given = _given(plan, guest, group)
            items = [_moved(i, own) if i in (*group.items, *given) else i for i in items]
    if len(guests) == len(plan.guests):
        return plan
    if not any(item.kind == "vms" for item in items):
        items.append(Item(kind="vms", value=len(vms(guests)), rule=RULE))
    return plan.model_copy(update={"guests": guests, "items": items})


def _given(plan: Plan, guest: Guest, group: _Group) -> list[Item]:
    """Demands on one of several applications: `a loop on core 2 and a shell on core 3`."""
    given = []
    for kind in ("cores", "ram"):
        stated = [item for item in plan.of(guest.name, kind) if item.span]
        if len({item.span for item in stated}) > 1:
            given += [item for item in stated if _last_before(item, plan, guest) in group.items]
    return given


def _last_before(item: Item, plan: Plan, guest: Guest) -> Item | None:
    """The last capability of a VM stated before an item."""
    said = [i for i in plan.of(guest.name, "capability") if i.span and item.span]
    before = [i for i in said if i.span < item.span]  # type: ignore[operator]
    return max(before, key=lambda i: i.span or (0, 0), default=None)


def _groups(plan: Plan, guest: Guest, pool: Pool) -> Sequence[_Group]:
    """The capabilities of a VM grouped by application, the periodic one first."""
    first = _Group(periodic=bool(plan.of(guest.name, *TIMING)))
    groups = [first]
    # A period is that of an application's own task rather than of one that starts processes.
    asked = sorted(plan.of(guest.name, "capability"), key=lambda i: i.value in PROCESSES)
    for item in asked:
        home = next((group for group in reversed(groups) if group.takes(item, pool)), None)
        if home is None and (pool.done_by(str(item.value)) or item.value in PROCESSES):
            groups.append(home := _Group(periodic=False))
        if home:  # else no application does it alone; refused in a later stage
            home.items.append(item)
    return groups


def _moved(item: Item, guest: Guest) -> Item:
    return item.model_copy(update={"image": guest.name})
