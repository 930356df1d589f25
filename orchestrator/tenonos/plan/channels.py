"""Channels between the VMs of a plan: from the ends that applications open, and what is said of it.

An application names its ends in its Cargo.toml. Each gets a channel to who has the other end: the
VMs whose application has it, or else a Linux, in which every channel is a file. Where an objective
says which way something goes, only that way is made.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from tenonos.plan.colours import COLOURING
from tenonos.plan.models import CHANNEL, Channel, Guest, Item, Talk
from tenonos.plan.pool import Pool
from tenonos.pool.library import End

BEHIND = 10_000_000
"""Nanoseconds that nobody waits for a guest system to read: a few ticks of its own."""
SLOTS, SLOTS_MOST = 16, 1 << 16
"""Messages that a channel holds at least, and at most."""

RULE = "ends-of-the-application"
OPPOSITE = {"sends": "receives", "receives": "sends", "exchanges": "exchanges"}
DONE = {"to": ("sends", "exchanges"), "from": ("receives", "exchanges"), "both": tuple(OPPOSITE)}

Apps = Mapping[str, Collection[str]]
"""The applications that each real-time VM may have."""


class Unlinked(Exception):
    """A channel that cannot be; the message is the reason in one clause."""


@dataclass(frozen=True)
class _Need:
    """An end that a VM has, whom it leads to, and what was said of it."""

    guest: Guest
    end: End
    peers: list[str]
    talk: Talk | None


def ends(pool: Pool, app: str) -> tuple[End, ...]:
    """The ends of channels that an application opens."""
    library = pool.libraries.get(app)
    return library.ends if library else ()


def choices(pool: Pool, guests: Sequence[Guest], items: Sequence[Item]) -> dict[str, list[str]]:
    """The applications that may be in each real-time VM: those asked for, or any.

    Of several that do what is asked, those that talk are for VMs that are to.
    """
    found = {}
    for guest in guests:
        if guest.kind == "tenon":
            asked = {pool.symbol(v) for v in _asked(guest, items)}
            several = guest.tasks > 1
            possible = [a for a in pool.apps if a in asked or pool.has_any_task(a) == several]
            named = [a for a in possible if a in asked or set(pool.entries[a].provides) & asked]
            talks = _is_asked(guest, items)
            fit = [a for a in named if a in asked or bool(ends(pool, a)) == talks]
            found[guest.name] = fit or named or (possible if several else list(pool.apps))
    return found


def wanted(pool: Pool, guest: Guest, items: Sequence[Item]) -> bool:
    """Whether a VM is to talk: it is asked to, or is nothing without others of its kind."""
    named = (ends(pool, pool.symbol(value)) for value in _asked(guest, items))
    return _is_asked(guest, items) or any(end.does == "exchanges" for own in named for end in own)


def wanted_by_any(pool: Pool, guests: Sequence[Guest], items: Sequence[Item]) -> bool:
    """Whether VMs are to talk."""
    return any(wanted(pool, guest, items) for guest in guests if guest.kind == "tenon")


def serves(pool: Pool, app: str, guest: Guest, guests: Sequence[Guest], apps: Apps) -> bool:
    """Whether an application in a VM has an end of what is asked, and somebody the other one."""
    return any(need.peers for need in _needs(pool, app, guest, guests, apps))


def talks(
    pool: Pool, app: str, guest: Guest, guests: Sequence[Guest], items: Sequence[Item]
) -> bool:
    """Whether an application has the ends of channels that are asked of its VM, if any are."""
    if not wanted(pool, guest, items):
        return True
    return serves(pool, app, guest, guests, choices(pool, guests, items))


def check(pool: Pool, guests: Sequence[Guest], items: Sequence[Item]) -> None:
    """Refuses VMs that have something to say and nobody to say it to, or no memory in common."""
    apps = choices(pool, guests, items)
    talkers = [g for g in guests if g.kind == "tenon" and wanted(pool, g, items)]
    if talkers and any((i.kind, i.value) == ("capability", COLOURING) for i in items):
        raise Unlinked("a VM with colours of its own shares no memory and can have no channels")
    for guest in talkers:
        if not any(serves(pool, app, guest, guests, apps) for app in apps[guest.name]):
            lonely = [
                f"{need.end.does} {need.end.name}"
                for app in apps[guest.name]
                for need in _needs(pool, app, guest, guests, apps)
            ]
            what = f"{guest.name} {' and '.join(lonely[:2]) or 'is to talk'}"
            raise Unlinked(f"{what}, and no VM has the other end")


def between(
    pool: Pool, guests: Sequence[Guest], items: Sequence[Item], apps: Mapping[str, str]
) -> list[Channel]:
    """The channels of a plan whose VMs have these applications."""
    one = {name: [app] for name, app in apps.items()}
    found: dict[tuple[str, str, str], Channel] = {}
    for guest in guests:
        if guest.kind == "tenon" and wanted(pool, guest, items):
            for need in _needs(pool, apps[guest.name], guest, guests, one):
                for made in _made(need, items, guests):
                    found.setdefault((made.name, made.origin, made.to), made)
    return _numbered(list(found.values()))


def _needs(
    pool: Pool, app: str, guest: Guest, guests: Sequence[Guest], apps: Apps
) -> Iterator[_Need]:
    for end in ends(pool, app):
        talks = [talk for talk in guest.talks if end.does in DONE[talk.direction]]
        if not talks and guest.talks:
            continue
        talk = talks[0] if talks else None
        yield _Need(guest, end, _peers(pool, end, talk, guest, guests, apps), talk)


def _peers(
    pool: Pool,
    end: End,
    talk: Talk | None,
    guest: Guest,
    guests: Sequence[Guest],
    apps: Apps,
) -> list[str]:
    def fits(app: str) -> bool:
        there = (end.name, OPPOSITE[end.does])
        return any((theirs.name, theirs.does) == there for theirs in ends(pool, app))

    alike = [n for n, possible in apps.items() if n != guest.name and any(map(fits, possible))]
    if alike or end.does == "exchanges":
        return alike
    linuxes = [other.name for other in guests if other.kind == "linux"]
    named = [name for name in linuxes if talk and name == talk.peer]
    return (named or linuxes)[:1]


def _made(need: _Need, items: Sequence[Item], guests: Sequence[Guest]) -> Iterator[Channel]:
    name, talk = need.guest.name, need.talk
    mine = [i for i in items if (i.image, i.kind) == (name, "capability") and i.stated]
    asked = next((item for item in mine if item.value == CHANNEL), None)
    said = talk or asked or next(iter(mine), None)
    for peer in need.peers:
        origin, to = (peer, name) if need.end.does == "receives" else (name, peer)
        yield Channel(
            name=need.end.name,
            origin=origin,
            to=to,
            slots=_slots(origin, next(g for g in guests if g.name == to), items),
            size=need.end.size,
            words=said and said.source,
            span=said and said.span,
            rule=None if talk or asked else RULE,
        )


def _slots(writer: str, reader: Guest, items: Sequence[Item]) -> int:
    """How many messages a channel holds: those written while its reader is not there."""
    written = _period(writer, items)
    own = _period(reader.name, items)
    behind = BEHIND if reader.kind == "linux" else 2 * own
    needed = -(-behind // written)
    return min(max(SLOTS, 1 << (needed - 1).bit_length()), SLOTS_MOST)


def _period(image: str, items: Sequence[Item]) -> int:
    """The shortest period of a VM; one without is as slow as a guest system."""
    mine = (i.value for i in items if (i.image, i.kind) == (image, "period"))
    return min((int(value) for value in mine if value), default=BEHIND)


def _numbered(channels: list[Channel]) -> list[Channel]:
    """The channels with names of their own: numbered where several have one."""
    names = [channel.name for channel in channels]
    used: dict[str, int] = {}
    for place, channel in enumerate(channels):
        used[channel.name] = number = used.get(channel.name, 0) + 1
        if names.count(channel.name) > 1:
            update = {"name": f"{channel.name}-{number}"}
            channels[place] = channel.model_copy(update=update)
    return channels


def _asked(guest: Guest, items: Sequence[Item]) -> list[str]:
    mine = (i for i in items if i.kind == "capability" and i.image == guest.name)
    return [str(item.value) for item in mine]


def _is_asked(guest: Guest, items: Sequence[Item]) -> bool:
    return CHANNEL in _asked(guest, items)
