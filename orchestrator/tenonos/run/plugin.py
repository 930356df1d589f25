"""Interface to the counting plugin of QEMU, which observes guests from outside.

`bench/plugin` is loaded into QEMU; a plan file selects the physical code to count and the words to
watch. It sends records through a pipe, in the order of events, each self-contained: a published
sample with the counters at that moment, or one passage of a measured path.
"""

from __future__ import annotations

import re
import struct
import subprocess
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tenonos import logs, paths, ui
from tenonos.errors import WorkError
from tenonos.run import qemu
from tenonos.run.formats import Reason, Sample, State
from tenonos.run.result import PathResult
from tenonos.run.target import Target
from tenonos.setup import rust
from tenonos.system.memory_map import ColouredMemory

SOURCE = paths.ROOT / "bench" / "plugin"
VCPUS = 8
QUIET = "quiet"
"""The statement that makes deterministic runs repeatable: see `quiet.rs`."""
EXECUTED = "executed"
"""The statement that reports each instruction of Mortise once."""

_FRAME = struct.Struct("<II")
_SAMPLE = struct.Struct(f"<IIQ4Q{VCPUS}Q{VCPUS}Q")
_VM = struct.Struct("<IIII6Q")
_PASSAGE = struct.Struct("<IIQ8Q")
_VISIT = struct.Struct("<4I8Q")
_EXECUTED = struct.Struct("<Q")
_EXECUTING = struct.Struct("<QQ")
KIND_SAMPLE, KIND_PASSAGE, KIND_VISIT, KIND_EXECUTED, KIND_EXECUTING = 1, 2, 3, 4, 5

NOBODY, IDLE, OTHER, FIRST = range(4)
"""The code running on a core: none in between, none at all, code not counted by instruction, the
first of the counted guests."""


@dataclass(frozen=True)
class VmMoment:
    """A VM's state and exits by cause at one moment."""

    state: State
    reason: Reason
    restarts: int
    exits: tuple[int, ...]
    handle: int = 0
    """Handle of a dynamic VM; a later VM in the same place has a different one."""


@dataclass(frozen=True)
class Moment:
    """The publication of a sample, with all counters at that moment."""

    task: int
    vcpu: int
    head: int
    sample: Sample
    el2: tuple[int, ...]
    """Instructions each physical CPU has executed in Mortise."""
    guest: tuple[int, ...]
    """Instructions each physical CPU has executed in the watched VMs."""
    vms: tuple[VmMoment, ...]
    """In the order of `Target.pages`."""
    words: tuple[int, ...] = ()
    """In the order of `Target.counters`."""


@dataclass(frozen=True)
class Passage:
    """One execution of a measured path: the instructions from its start to its end."""

    path: int
    vcpu: int
    instructions: int
    barriers: int = 0
    sysreg_writes: int = 0
    mmio: int = 0
    el2: int = 0
    """Instructions of Mortise."""
    other: int = 0
    """Instructions of code not counted by instruction, not included in the others."""
    el2_everywhere: int = 0
    """Instructions of Mortise on all cores; the only count of a path begun on one core and ended on
    another."""
    misses: int = 0
    """Misses of the core in the modelled cache, if there is one."""
    other_everywhere: int = 0
    """Instructions of code not counted by instruction, on all cores; none if another core ended the
    path."""


@dataclass(frozen=True)
class Visit:
    """A visit of a core to Mortise, from the last instruction of a guest to the next one of a
    guest."""

    vcpu: int
    before: int
    after: int
    entry: int
    """The physical address of the first instruction: a vector, or the one after a WFI."""
    instructions: int
    section: int
    """The longest section of it between two checks for pending interrupts."""
    first: int
    last: int
    """The physical addresses of the ends of that section."""
    barriers: int
    sysreg_writes: int
    mmio: int
    steps: tuple[int, ...] = ()
    """The physical addresses of all instructions, if requested."""
    between: int = 0
    """Instructions executed by the previous guest since the last visit."""


@dataclass(frozen=True)
class Executed:
    """The first execution of an instruction of Mortise."""

    address: int
    """Its physical address."""


@dataclass(frozen=True)
class Executing:
    """A core that has executed another 2^20 instructions of watched VMs."""

    vcpu: int
    instructions: int
    """Those that it has executed in all."""


Record = Moment | Passage | Visit | Executed | Executing


def build() -> Path:
    """The plugin for the interface of the QEMU on the path, built if its source is newer."""
    interface = api(qemu.version())
    target = paths.TARGET / "plugin" / f"interface-{interface}"
    manifest = f"--manifest-path={SOURCE / 'Cargo.toml'}"
    command, environment = rust.cargo(
        "build", "--release", "--quiet", manifest, f"--target-dir={target}"
    )
    with ui.awaiting("building the counting plugin"):
        done = subprocess.run(
            command,
            env=environment | {"TENON_PLUGIN_API": str(interface)},
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode:
        what = f"the counting plugin does not build: {_first_error(done.stderr)}"
        raise WorkError(what, mend=logs.keep(command, done.stdout + done.stderr))
    return target / "release" / "libtenon_plugin.so"


def api(version: str) -> int:
    """The version of the plugin interface to declare to a version of QEMU, which checks it.

    Interface 2 came with QEMU 9.0, which no longer has interface 1; QEMU 10.0 accepts 2 to 4.
    """
    major = re.match(r"\d+", version)
    return 1 if major is None or int(major[0]) < 9 else 2


def _first_error(text: str) -> str:
    lines = [line for line in text.splitlines() if line.startswith("error")]
    return lines[0] if lines else text.strip()[-200:]


def plan(
    target: Target,
    ram: Path,
    pipe: int,
    routes: Sequence[tuple[int, int]] = (),
    more: Sequence[str] = (),
) -> str:
    """The plan file: one statement per line, numbers in hexadecimal; `more` are further
    statements."""
    lines = [
        f"ram {target.machine.ram_base:x} {target.machine.ram_size:x} {ram}",
        f"pipe {pipe:x}",
        *_coloured(target.coloured),
        f"el2 {target.mortise_text.start:x} {target.mortise_text.stop:x}",
        *(f"status {page:x}" for page in target.pages),
        *(f"word {address:x}" for address in target.counters),
        *(f"task {task.address:x} {task.size:x}" for task in target.tasks),
        *(f"path {start:x} {end:x}" for start, end in routes),
        *(f"guest {vm.memory.start:x} {vm.memory.stop:x}" for vm in target.vms if vm.tasks),
        *more,
    ]
    return "\n".join(lines) + "\n"


def _coloured(coloured: ColouredMemory | None) -> Iterator[str]:
    """The statement that makes addresses of other statements those of the layout of coloured
    memory."""
    if coloured is not None:
        parts = " ".join(f"{part:x}" for part in coloured.parts)
        yield f"coloured {coloured.base:x} {coloured.size:x} {coloured.colours:x} {parts}"


def records(data: bytearray, vms: int, words: int = 0) -> Iterator[Record]:
    """The complete records at the front of `data`, which are removed from it.

    A sample has the states of `vms` VMs and the values of `words` words.
    """
    at = 0
    while len(data) - at >= _FRAME.size:
        kind, size = _FRAME.unpack_from(data, at)
        if len(data) - at < _FRAME.size + size:
            break
        body = at + _FRAME.size
        if kind == KIND_SAMPLE:
            yield _moment(data, body, vms, words)
        elif kind == KIND_PASSAGE:
            yield Passage(*_PASSAGE.unpack_from(data, body))
        elif kind == KIND_VISIT:
            yield _visit(data, body, size)
        elif kind == KIND_EXECUTED:
            yield Executed(*_EXECUTED.unpack_from(data, body))
        elif kind == KIND_EXECUTING:
            yield Executing(*_EXECUTING.unpack_from(data, body))
        at = body + size
    del data[:at]


def _visit(data: bytearray, at: int, size: int) -> Visit:
    vcpu, before, after, between, *words = _VISIT.unpack_from(data, at)
    steps = struct.unpack_from(f"<{(size - _VISIT.size) // 4}I", data, at + _VISIT.size)
    return Visit(vcpu, before, after, *words, steps=steps, between=between)


def _moment(data: bytearray, at: int, vms: int, words: int) -> Moment:
    task, vcpu, head, *rest = _SAMPLE.unpack_from(data, at)
    states: list[VmMoment] = []
    for index in range(vms):
        state, reason, restarts, handle, *exits = _VM.unpack_from(
            data, at + _SAMPLE.size + index * _VM.size
        )
        states.append(VmMoment(State(state), Reason(reason), restarts, tuple(exits), handle))
    counts = rest[4:]
    return Moment(
        task,
        vcpu,
        head,
        Sample(*rest[:4]),
        tuple(counts[:VCPUS]),
        tuple(counts[VCPUS:]),
        tuple(states),
        struct.unpack_from(f"<{words}Q", data, at + _SAMPLE.size + vms * _VM.size),
    )


@dataclass
class Passages:
    """All passages of the measured paths."""

    counts: dict[tuple[int, int], Counter[int]] = field(default_factory=dict)

    def add(self, passage: Passage) -> None:
        """Count a passage."""
        key = (passage.path, passage.vcpu)
        self.counts.setdefault(key, Counter())[passage.instructions] += 1

    def results(
        self, routes: Sequence[tuple[int, int]], names: Sequence[str] = ()
    ) -> list[PathResult]:
        """One result per path and vCPU that took it; the first paths may have names."""
        return [
            PathResult(
                name=names[path] if path < len(names) else None,
                start=hex(routes[path][0]),
                end=hex(routes[path][1]),
                vcpu=vcpu,
                count=counts.total(),
                min=min(counts),
                max=max(counts),
                histogram=dict(sorted(counts.items())),
            )
            for (path, vcpu), counts in sorted(self.counts.items())
            # Paths marked by programs come last.
            if path < len(routes)
        ]
