"""Texts for the subjects of Mortise's events.

Their subjects are numbers made by `pool/mortise/machine/src/topology/trace.rs`: for a
vCPU, the index of its VM + 1 in the second byte and its own number in the first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tenonos.run.formats import State
from tenonos.trace.ring import Event, Record

if TYPE_CHECKING:
    from tenonos.system.model import Vm
    from tenonos.trace.collect import VmTrace

_VECTORS = {1: "interrupt", 2: "doorbell", 3: "SError"}
_CLASSES = {
    0x01: "WFI",
    0x07: "floating point",
    0x16: "HVC",
    0x17: "SMC",
    0x18: "MSR or MRS",
    0x20: "instruction abort",
    0x24: "data abort",
}
"""Exception classes of `ESR_EL2` (Arm ARM, D19.2.37)."""

_CALLS = {
    0x8400_0002: "CPU_OFF",
    0x8400_0008: "SYSTEM_OFF",
    0x8400_0009: "SYSTEM_RESET",
    0xC400_0003: "CPU_ON",
    0xC600_0000: "console",
    **{
        0xC600_0100 + number: name
        for number, name in enumerate(
            "version create load start pause resume restart destroy list statistics console-read"
            " instantiate grant reclaim console-write".split()
        )
    },
    0xC600_0200: "ring",
    0xC600_0201: "channel-state",
}

SPOKEN = frozenset({Event.EXIT, Event.INJECT, Event.CALL, Event.STATE, Event.RING})
"""The events with texts in this module."""


def vcpus(vm: Vm) -> dict[int, str]:
    """The names of a VM's vCPUs by subject, in Mortise's form."""
    several = len(vm.cpus) > 1
    return {
        vm.index + 1 << 8 | vcpu: f"{vm.name} {vcpu}" if several else vm.name
        for vcpu in range(len(vm.cpus))
    }


def is_idle(record: Record) -> bool:
    """Whether the core is idle from here on: the subject is the address of a static, not a vCPU."""
    return record.event is Event.RUN and record.subject < 1 << 8


def injected(subject: int) -> tuple[int, int]:
    """The vCPU and the INTID of an injection."""
    return subject >> 24, subject & 0xFF_FFFF


def words(trace: VmTrace, event: Event, subject: int) -> str:
    """The text of an event."""
    match event:
        case Event.EXIT:
            vector, class_ = subject >> 8, subject & 0x3F
            return _VECTORS.get(vector) or _CLASSES.get(class_, f"exception of class {class_:#x}")
        case Event.INJECT:
            vcpu, intid = injected(subject)
            known = trace.interrupts.get(intid, "interrupt")
            return f"{known} ({intid}) for {trace.threads.get(vcpu, f'{vcpu:#x}')}"
        case Event.CALL:
            return f"calls {_CALLS.get(subject, f'{subject:#x}')}"
        case Event.STATE:
            state = subject & 0xFF
            known = State(state).name.lower() if state in set(State) else str(state)
            return f"{_vm(trace, subject >> 8)} is {known}"
        case _:
            return f"rings {trace.channels.get(subject, f'channel {subject}')}"


def _vm(trace: VmTrace, index: int) -> str:
    """The name of the VM with that index: that of any of its vCPUs without the number."""
    names = (name for subject, name in trace.threads.items() if subject >> 8 == index + 1)
    return next((name.split(" ")[0] for name in names), f"VM {index}")
