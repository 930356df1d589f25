"""The system under the debugger: its images, and where the RAM of each VM lies."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tenonos.run.target import Target, WatchedVm

MORTISE = "mortise"


class DebuggerError(Exception):
    """An error of a command: one line."""


@dataclass(frozen=True)
class Area:
    """A part of a VM's RAM: where the VM has it, where it lies in physical memory, its size."""

    guest: int
    physical: int
    size: int


@dataclass(frozen=True)
class DebuggedVm:
    """A VM: how a core that executes it is recognized, and where its memory lies."""

    name: str
    kind: str
    vmid: int | None
    """VMID in VTTBR_EL2; none without Mortise."""
    cores: tuple[int, ...]
    elf: str | None
    memory: tuple[Area, ...] = ()

    def pieces(self, address: int, size: int) -> Iterator[tuple[int, int]]:
        """The physical pieces of a range of the VM's RAM: address and size."""
        while size > 0:
            area = next((a for a in self.memory if 0 <= address - a.guest < a.size), None)
            if area is None:
                raise DebuggerError(f"{address:#x} is outside the RAM of {self.name}")
            within = address - area.guest
            length = min(size, area.size - within)
            yield area.physical + within, length
            address, size = address + length, size - length

    def room(self, address: int) -> int:
        """The bytes of RAM from an address on; none outside RAM."""
        end = address
        for area in self.memory:
            if 0 <= end - area.guest < area.size:
                end = area.guest + area.size
        return end - address


@dataclass(frozen=True)
class DebuggedSystem:
    """A system: its VMs, and Mortise's image and code, if it has Mortise."""

    name: str
    vms: tuple[DebuggedVm, ...]
    mortise: str | None = None
    text: tuple[int, int] = (0, 0)

    @classmethod
    def of(cls, target: Target) -> DebuggedSystem:
        """The system of a run."""
        files = {name: str(path) for name, path in target.elf_files}
        machine = target.machine
        if target.alone is not None:
            ram = Area(machine.ram_base, machine.ram_base, machine.ram_size)
            cores = tuple(range(machine.cpus))
            alone = DebuggedVm(target.alone, "tenon", None, cores, files.get(target.alone), (ram,))
            return cls(target.name, (alone,))
        vms = tuple(
            DebuggedVm(
                vm.name,
                vm.kind,
                vm.index + 1,
                vm.cpus,
                files.get(vm.name),
                _areas(target, vm) if vm.name in files else (),
            )
            for vm in target.vms
        )
        text = target.mortise_text
        return cls(target.name, vms, files.get(MORTISE), (text.start, text.stop))

    def vm(self, name: str) -> DebuggedVm:
        """The VM of that name."""
        found = next((vm for vm in self.vms if vm.name == name), None)
        if found is None:
            raise DebuggerError(f"no VM {name}; there are {', '.join(self.names)}")
        return found

    @property
    def names(self) -> list[str]:
        """The names of all images, Mortise's last."""
        return [vm.name for vm in self.vms] + ([MORTISE] if self.mortise else [])

    def to_json(self) -> str:
        """The text that `from_json` reads."""
        return json.dumps(asdict(self), indent=1)

    @classmethod
    def from_json(cls, text: str) -> DebuggedSystem:
        """The system that `to_json` wrote."""
        values = json.loads(text)
        vms = tuple(
            DebuggedVm(
                **{
                    **vm,
                    "cores": tuple(vm["cores"]),
                    "memory": tuple(Area(**area) for area in vm["memory"]),
                }
            )
            for vm in values["vms"]
        )
        return cls(values["name"], vms, values["mortise"], tuple(values["text"]))

    def write(self, folder: Path) -> Path:
        """Write it as a file; its path."""
        file = folder / "debugger.json"
        file.write_text(self.to_json())
        return file


def _areas(target: Target, vm: WatchedVm) -> tuple[Area, ...]:
    """The RAM of a VM; of one with colours, each run of adjacent pages."""
    size = len(vm.memory)
    if target.coloured is None:
        return (Area(vm.guest_base, vm.memory.start, size),)
    areas: list[Area] = []
    guest = vm.guest_base
    for physical, length in target.coloured.pieces(vm.memory.start, size):
        last = areas[-1] if areas else None
        if last is not None and last.physical + last.size == physical:
            areas[-1] = Area(last.guest, last.physical, last.size + length)
        else:
            areas.append(Area(guest, physical, length))
        guest += length
    return tuple(areas)
