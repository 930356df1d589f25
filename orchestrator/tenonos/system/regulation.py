"""Memory bandwidth regulation of the background on shared cores: checks, manifest record."""

from tenonos.errors import InputError
from tenonos.system.model import Regulation, System

EVENTS = {"instructions": 0x08, "cycles": 0x11, "l2-refill": 0x17, "bus-access": 0x19}
"""Common events of the performance monitor (Arm ARM, D11.11). A core need not count each."""

INTERVALS = range(100_000, 100_000_001)
"""Nanoseconds, as `core_manifest::Regulation` has them."""


def check(system: System) -> None:
    """Refuse a regulation without a VM to regulate."""
    if system.regulation is None:
        return
    cpus = range(system.board.cpus)
    if system.mode == "static" or not any(system.is_shared(cpu) for cpu in cpus):
        raise InputError(
            "regulation throttles the background of shared cores, and no core is shared",
            where=system.where("regulation"),
            mend="remove it, or let VMs share a CPU of a dynamic system",
        )
    if system.regulation.interval not in INTERVALS:
        raise InputError(
            "interval of the regulation is not from 100us to 100ms",
            where=system.where("regulation", "interval"),
            mend='for example interval = "1ms"',
        )


def record(regulation: Regulation) -> dict[str, int]:
    """The record in the manifest."""
    event, limit = EVENTS[regulation.event], regulation.limit
    return {"interval": regulation.interval, "event": event, "limit": limit}
