"""VMs created on demand: manager, cores, reserve and templates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from tenonos.plan.models import (
    LIFECYCLE,
    TEMPLATE,
    Channel,
    Composition,
    Guest,
    Image,
    Plan,
    Template,
    manages,
)
from tenonos.system.schema import ManagesSpec, ReserveSpec
from tenonos.system.units import size_text

LEAST = 32 << 20
"""The least size of the reserve: for a VM or two from image files."""
BESIDE = 4 << 20
"""Additional memory of a VM: its log and its tasks' samples."""


def marked(plan: Plan) -> Plan:
    """The plan with VMs to be created on demand marked."""
    manager = maker(plan.guests)
    asked = {i.image: i for i in plan.items if (i.kind, i.value) == ("capability", TEMPLATE)}
    if manager is None:
        return plan

    def marked_one(guest: Guest) -> Guest:
        if guest.kind != "tenon" or guest.name not in asked:
            return guest
        update = {"made_by": manager, "asked": asked[guest.name], "interrupts": "shared"}
        return guest.model_copy(update=update)

    guests = [marked_one(guest) for guest in plan.guests]
    return plan.model_copy(update={"guests": guests})


def maker(guests: Sequence[Guest]) -> str | None:
    """The VM that manages the others' life cycles: the first Linux."""
    return next((guest.name for guest in guests if guest.kind == "linux"), None)


def apart(guests: Sequence[Guest]) -> tuple[list[Guest], list[Guest]]:
    """The VMs created at boot, and those created on demand."""
    names = {guest.name for guest in guests}
    made = [guest for guest in guests if guest.made_by in names]
    return [guest for guest in guests if guest not in made], made


def cpus(made: Sequence[Guest], given: Mapping[str, Sequence[int]]) -> dict[str, list[int]]:
    """The core of each VM created on demand: the last one of its manager."""
    return {guest.name: [given[guest.made_by or ""][-1]] for guest in made}


def of(plan: Plan, images: Mapping[str, Image], channels: Sequence[Channel]) -> list[Template]:
    """The templates of a composition, each also created by the first message from its manager."""
    made = apart(plan.guests)[1]
    reserve = size(images[guest.name].memory or 0 for guest in made)
    found = []
    for guest in made:
        starts = (c.name for c in channels if (c.origin, c.to) == (guest.made_by, guest.name))
        found.append(
            Template(
                name=guest.name,
                made_by=guest.made_by or "",
                cpus=images[guest.name].cpus,
                memory=images[guest.name].memory or 0,
                reserve=reserve,
                start_on=next(starts, None),
                words=guest.asked and guest.asked.source,
                span=guest.asked and guest.asked.span,
            )
        )
    return found


def size(memory: Iterable[int]) -> int:
    """Bytes of the reserve for VMs with that memory, all at the same time."""
    return max(LEAST, sum(each + BESIDE for each in memory))


def reserve(answer: Composition, plan: Plan) -> ReserveSpec | None:
    """The reserve for dynamic VMs: on their cores, or on the last one of their manager."""
    manager = maker(plan.guests)
    if manager is None or not manages(plan.items):
        return None
    made = answer.templates
    own = {cpu for template in made for cpu in template.cpus}
    memory = size(template.memory for template in made)
    return ReserveSpec(
        memory=size_text(memory), cpus=sorted(own) or answer.images[manager].cpus[-1:]
    )


def authority(answer: Composition, plan: Plan, name: str) -> ManagesSpec | None:
    """The management authority of a VM: creation on demand, and other stated rights."""
    room = reserve(answer, plan)
    if room is None or name != maker(plan.guests):
        return None
    vms = [template.name for template in answer.templates]
    if any((i.kind, i.value) == ("capability", LIFECYCLE) for i in plan.items) or not vms:
        vms = [guest.name for guest in plan.guests if guest.name != name] + ["*"]
    return ManagesSpec(vms=vms, memory=size_text(room.memory), cpus=room.cpus)
