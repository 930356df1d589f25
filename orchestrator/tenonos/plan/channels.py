"""Channels between the VMs of a plan, from the ends that applications open.

An application declares its ends in its Cargo.toml. Each is connected to the other end: in VMs with
an application that has it, or else in a Linux VM, where every channel is a file. If an objective
states a direction, only that one is created.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from tenonos.plan.colours import COLOURING
from tenonos.plan.models import CHANNEL, Channel, Guest, Item, Talk
from tenonos.plan.pool import Pool
from tenonos.pool.library import End

BEHIND = 10_000_000
"""Reading interval of a guest system in nanoseconds: a few of its ticks."""
SLOTS, SLOTS_MOST = 16, 1 << 16
"""The least and the most messages of a channel."""

RULE = "ends-of-the-application"
OPPOSITE = {"sends": "receives", "receives": "sends", "exchanges": "exchanges"}
DONE = {"to": ("sends", "exchanges"), "from": ("receives", "exchanges"), "both": tuple(OPPOSITE)}

Apps = Mapping[str, Collection[str]]
"""The possible applications of each real-time VM."""


class Unlinked(Exception):
    """An impossible channel; the message is the reason in one clause."""


@dataclass(frozen=True)
class _Need:
    """An end of a channel in a VM, its peers, and the words that ask for it."""

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

    If these have no channels to each other, VMs that are to communicate have an application with
    arbitrary tasks, which exchanges messages with any of its kind.
    """
    found = _usual(pool, guests, items)
    talkers = [g for g in guests if g.kind == "tenon" and wanted(pool, g, items)]
    if _all_served(pool, talkers, guests, found):
        return found
    general = [app for app in pool.apps if pool.has_any_task(app)]
    other = found | {guest.name: general for guest in talkers}
    return other if _all_served(pool, talkers, guests, other) else found


def _all_served(pool: Pool, talkers: list[Guest], guests: Sequence[Guest], apps: Apps) -> bool:
    return all(any(serves(pool, a, g, guests, apps) for a in apps[g.name]) for g in talkers)


def _usual(pool: Pool, guests: Sequence[Guest], items: Sequence[Item]) -> dict[str, list[str]]:
    """Among suitable ones, applications with channels are for VMs that are to communicate."""
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
    """Whether a VM is to communicate: as demanded, or because its kind requires a peer."""
    named = (ends(pool, pool.symbol(value)) for value in _asked(guest, items))
    return _is_asked(guest, items) or any(end.does == "exchanges" for own in named for end in own)


def wanted_by_any(pool: Pool, guests: Sequence[Guest], items: Sequence[Item]) -> bool:
    """Whether any VM is to communicate."""
    return any(wanted(pool, guest, items) for guest in guests if guest.kind == "tenon")


def serves(pool: Pool, app: str, guest: Guest, guests: Sequence[Guest], apps: Apps) -> bool:
    """Whether an application in a VM has the demanded end, and another VM the other end."""
    return any(need.peers for need in _needs(pool, app, guest, guests, apps))


def talks(
    pool: Pool, app: str, guest: Guest, guests: Sequence[Guest], items: Sequence[Item]
) -> bool:
    """Whether an application has all ends of channels demanded of its VM."""
    if not wanted(pool, guest, items):
        return True
    apps = choices(pool, guests, items)
    general = all(pool.has_any_task(other) for other in apps[guest.name])
    return (app in apps[guest.name] or not general) and serves(pool, app, guest, guests, apps)


def check(pool: Pool, guests: Sequence[Guest], items: Sequence[Item]) -> None:
    """Refuse VMs with ends of channels but without a peer, or without shared memory."""
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
    """The channels of a plan with these applications in its VMs."""
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
    """The number of messages of a channel: those written between two reads."""
    written = _period(writer, items)
    own = _period(reader.name, items)
    behind = BEHIND if reader.kind == "linux" else 2 * own
    needed = -(-behind // written)
    return min(max(SLOTS, 1 << (needed - 1).bit_length()), SLOTS_MOST)


def _period(image: str, items: Sequence[Item]) -> int:
    """The shortest period of a VM; without a period that of a guest system."""
    mine = (i.value for i in items if (i.image, i.kind) == (image, "period"))
    return min((int(value) for value in mine if value), default=BEHIND)


def _numbered(channels: list[Channel]) -> list[Channel]:
    """The channels with unique names, numbered where several have the same."""
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
