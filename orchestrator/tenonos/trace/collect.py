"""Collector of traces: an observer that reads the rings during a run."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tenonos.run import symbols
from tenonos.trace.hypervisor import vcpus
from tenonos.trace.names import Statics
from tenonos.trace.ring import SIZE, Gap, Record, RingReader

if TYPE_CHECKING:
    from tenonos.build import Built
    from tenonos.run.formats import Memory
    from tenonos.run.session import Session
    from tenonos.system.model import System

RINGS = {"mortise": "MORTISE_TRACE_RINGS", "tenon": "TENON_TRACE_RINGS"}
_PAUSE = 0.004
"""Host seconds between two reads. An emulator that skips idle time fills the ring of a 1 kHz loop
twice a second, and unread events are overwritten."""


def defines(system: System) -> list[str]:
    """The settings with which Mortise and every Tenon of a system record events."""
    tenon = any(vm.kind == "tenon" for vm in system.guests)
    return ["CONFIG_MORTISE_TRACE=y", *(["CONFIG_TENON_THREAD_TRACE=y"] if tenon else [])]


@dataclass
class CoreTrace:
    """The events of one core; times are nanoseconds of the system counter."""

    core: int
    hertz: int
    events: list[tuple[int, Record | Gap]] = field(default_factory=list)
    lost: int = 0


@dataclass
class VmTrace:
    """The events of the cores of one VM or of Mortise, and the names of their subjects."""

    name: str
    cores: list[CoreTrace]
    threads: dict[int, str]
    statics: Statics
    interrupts: dict[int, str]
    channels: dict[int, str] = field(default_factory=dict)


class Collector:
    """The observer of a run that collects events."""

    def __init__(self, built: Built) -> None:
        board = built.system.board
        self._images: list[tuple[str, Statics, list[int]]] = []
        self._interrupts = {
            board.timer.virtual: "timer",
            board.timer.hypervisor: "hypervisor timer",
            board.gic.maintenance: "maintenance",
            board.gic.doorbell_sgi: "doorbell",
        }
        self._channels = dict(enumerate(channel.name for channel in built.system.channels))
        self._vcpus: dict[int, str] = {}
        self._thread: threading.Thread | None = None
        self._closing = threading.Event()
        self._readers: dict[int, RingReader] = {}
        self._cores: dict[int, CoreTrace] = {}
        self._add(built, symbols.MORTISE, RINGS["mortise"])
        for vm in built.system.vms:
            self._vcpus |= vcpus(vm)
            if vm.kind == "tenon":
                self._add(built, vm.name, RINGS["tenon"])

    def _add(self, built: Built, image: str, rings: str) -> None:
        statics = Statics(built.elf_files[image])
        start, size = symbols.address(built, image, rings), statics.size(rings)
        places = [start + offset for offset in range(0, size, SIZE)]
        self._images.append((image, statics, places))

    def chunk(self, chunk: object) -> None:
        """Nothing: another observer handles consoles."""

    def tick(self, session: Session) -> None:
        """Start to follow the rings."""
        if self._thread is None:
            self._thread = threading.Thread(
                target=self._follow, args=(session.memory,), daemon=True
            )
            self._thread.start()

    def close(self, session: Session) -> None:
        """Read the rest."""
        self._closing.set()
        if self._thread is not None:
            self._thread.join()
        self._drain(session.memory)

    def _follow(self, memory: Memory) -> None:
        while not self._closing.wait(_PAUSE):
            self._drain(memory)

    def _drain(self, memory: Memory) -> None:
        """Read the events since the last call."""
        for _, _, places in self._images:
            for place in places:
                reader = self._readers.setdefault(place, RingReader(memory, place))
                core = self._cores.setdefault(place, CoreTrace(0, 0))
                events, time = reader.drain(), 0
                core.core, core.hertz, core.lost = reader.core, reader.hertz, reader.lost
                if core.events:
                    time = core.events[-1][0]
                for event in events:
                    if isinstance(event, Record):
                        time = event.ticks * 1_000_000_000 // core.hertz
                    core.events.append((time, event))

    def traces(self, end: int | None = None) -> list[VmTrace]:
        """The events before `end`, those of Mortise first."""
        found = []
        for name, statics, places in self._images:
            cores = [self._cores[place] for place in places if place in self._cores]
            for core in cores:
                core.events = [e for e in core.events if end is None or e[0] < end]
            threads = dict(self._vcpus) if name == symbols.MORTISE else {}
            for place in places:
                threads |= self._readers[place].names if place in self._readers else {}
            started = [core for core in cores if core.hertz]
            known = (threads, statics, self._interrupts, self._channels)
            found.append(VmTrace(name, started, *known))
        return found
