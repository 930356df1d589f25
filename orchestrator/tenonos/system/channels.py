"""Channels: checks and memory layout.

A channel lies in whole pages: the producer's part (its index and the messages), a status page that
Mortise writes, the consumer's page (its index). In this order each end maps its read-only parts in
one piece (docs/formats.md).
"""

from tenonos.errors import InputError
from tenonos.system.limits import CHANNELS, ENDS, MAPPINGS, PAGE
from tenonos.system.model import Channel, System, Vm

HEADER = 0x40
"""Bytes of the producer's part before the messages."""

LENGTH = 8
"""Bytes of a slot before its message."""

SLOTS = 1 << 16
"""The most messages in a channel, and bytes in a message."""

CONTROL = "control"
"""The file for life-cycle requests, beside those of Linux's ends of channels."""


def ends(system: System, vm: Vm) -> list[Channel]:
    """The channels with an end in a VM, in their order."""
    return [channel for channel in system.channels if vm.name in (channel.origin, channel.to)]


def producer_size(channel: Channel) -> int:
    """Bytes of the producer's part: whole pages."""
    slot = -(-(LENGTH + channel.size) // 8) * 8
    return -(-(HEADER + channel.slots * slot) // PAGE) * PAGE


def size(channel: Channel) -> int:
    """Bytes of a whole channel."""
    return producer_size(channel) + 2 * PAGE


def check(system: System) -> None:
    """Refuse channels without two ends or without memory."""
    names: set[str] = set()
    for channel in system.channels:
        _check(system, channel)
        if channel.name in names:
            raise InputError(
                f'two channels are called "{channel.name}"',
                where=system.where("channel", channel.index, "name"),
                mend="rename one",
            )
        names.add(channel.name)
    for vm in system.guests:
        mappings = 1 + 2 * (vm.kind == "tenon") + len(vm.tasks) + len(vm.devices)
        mappings += bool(vm.detach)
        if mappings + 2 * len(ends(system, vm)) > MAPPINGS and ends(system, vm):
            raise InputError(
                f'VM "{vm.name}" has more tasks, devices and channels than a VM may map',
                where=system.at(vm, "name"),
                mend=f"{(MAPPINGS - mappings) // 2} ends of channels are possible",
            )
        if len(ends(system, vm)) > ENDS:
            raise InputError(
                f'VM "{vm.name}" has more than {ENDS} ends of channels',
                where=system.where("channel", ends(system, vm)[ENDS].index),
                mend="use fewer",
            )


def _check(system: System, channel: Channel) -> None:
    if channel.index >= CHANNELS:
        raise InputError(
            f"more than {CHANNELS} channels",
            where=system.where("channel", channel.index),
            mend="use fewer",
        )
    known = [vm.name for vm in system.guests]
    for key, end in (("from", channel.origin), ("to", channel.to)):
        if end not in known:
            raise InputError(
                f'channel "{channel.name}" goes {key} "{end}", which is not a VM',
                where=system.where("channel", channel.index, key),
                mend=f"use {', '.join(known)}",
            )
    if channel.origin == channel.to:
        raise InputError(
            f'both ends of channel "{channel.name}" are in VM "{channel.to}"',
            where=system.where("channel", channel.index, "to"),
            mend="threads of one VM need none: they share memory",
        )
    kinds = {system.vm(end).kind for end in (channel.origin, channel.to)}
    if "image" in kinds:
        raise InputError(
            f'channel "{channel.name}" has an end in an image VM, which does not know of channels',
            where=system.where("channel", channel.index),
            mend="channels connect Tenon and Linux VMs",
        )
    if channel.name == CONTROL and "linux" in kinds:
        raise InputError(
            f'a channel of Linux cannot be called "{CONTROL}", as /dev/tenon/{CONTROL} is another',
            where=system.where("channel", channel.index, "name"),
            mend="rename it",
        )
    if channel.slots not in (1 << n for n in range(17)):
        raise InputError(
            f'slots of channel "{channel.name}" are not a power of two up to {SLOTS}',
            where=system.where("channel", channel.index, "slots"),
            mend="for example slots = 64",
        )
    if channel.size > SLOTS:
        raise InputError(
            f'messages of channel "{channel.name}" are larger than {SLOTS} bytes',
            where=system.where("channel", channel.index, "size"),
            mend='for example size = "4K"',
        )
