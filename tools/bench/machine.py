"""Deterministic runs of an image on the emulated machine, with paths counted by the plugin.

On the bare machine the image starts at EL1. Under Mortise the packed system is booted; the plugin
then also counts Mortise's code, per core, so that exits within a path are visible.
"""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tenonos import paths
from tenonos.build import Built
from tenonos.errors import WorkError
from tenonos.run import Target, plugin, qemu, symbols
from tenonos.run.console import RAW, Demultiplexer, Transcript
from tenonos.run.memory import RunFolder
from tenonos.run.plugin import Passage, Visit

LIMIT = 400.0
"""Time limit of a run in host seconds."""

_STAMP = re.compile(r"\[ *\d+\.\d+\] ")


@dataclass(frozen=True)
class Trace:
    """Console output of an image, and the plugin's records in order."""

    lines: tuple[str, ...]
    records: tuple[Passage | Visit, ...]

    @property
    def passages(self) -> tuple[Passage, ...]:
        """The passages of the measured paths."""
        return tuple(record for record in self.records if isinstance(record, Passage))


@dataclass(frozen=True)
class Place:
    """An image of a built system, and its environment: without Mortise, or under it."""

    built: Built
    image: str
    bare: bool = True
    cores: int = 1
    """Of the bare machine."""
    exits: bool = False
    """Whether to count only Mortise, visit by visit."""
    more: tuple[str, ...] = ()
    """Further statements for the counting plugin."""

    def target(self) -> Target:
        """The target of the emulator."""
        target = Target.of(self.built)
        if not self.bare:
            return target
        return replace(
            target,
            image=Path(self.built.flats[self.image]),
            machine=target.machine.without_el2(self.cores),
            vms=(),
            mortise_text=symbols.text(self.built, self.image),
        )

    def address(self, symbol: str) -> int:
        """The physical address of a symbol; without Mortise an image runs where it is linked.

        `*` in a symbol stands for the suffix of this image's vectors.
        """
        if "*" in symbol:
            symbol = symbol.replace("*", symbols.variant(self.built, self.image))
        find = symbols.link_address if self.bare else symbols.address
        return find(self.built, self.image, symbol)

    def plan(self, target: Target, ram: Path, pipe: int, routes: Sequence[tuple[str, str]]) -> str:
        """The plugin's plan: these paths, then paths marked by the image."""
        ends = [(self.address(start), self.address(end)) for start, end in routes]
        visits = ("visits",) if self.exits else ()
        text = plugin.plan(target, ram, pipe, ends, ("marks", plugin.QUIET, *visits, *self.more))
        if not self.bare and not self.exits:
            code = (self.address(name) for name in ("__image_start", "__text_end"))
            text += "el2 {:x} {:x}\n".format(*code)
        return text


def listen(place: Place, last: str, limit: float = LIMIT) -> list[str]:
    """The output of an image up to `last`, within a time limit, without counting."""
    target = place.target()
    with RunFolder(target.machine.ram_size, paths.RUN) as folder:
        machine = qemu.Qemu(qemu.command_line(target, deterministic=True), folder, ())
        try:
            return heard(machine, RAW if place.bare else place.image, last, limit)
        finally:
            machine.stop()


def run(place: Place, last: str, routes: Sequence[tuple[str, str]] = ()) -> Trace:
    """Run an image until it prints `last`. Routes are pairs of symbols.

    The path of a passage is the index of its route; paths marked by the image follow.
    """
    target = place.target()
    source = RAW if place.bare else place.image
    return counted(
        target,
        lambda ram, pipe: place.plan(target, ram, pipe, routes),
        lambda machine: heard(machine, source, last, LIMIT),
    )


def counted(
    target: Target, plan: Callable[[Path, int], str], listen: Callable[[qemu.Qemu], list[str]]
) -> Trace:
    """Start a machine with a plan for its RAM and pipe, until `listen` returns."""
    with RunFolder(target.machine.ram_size, paths.RUN) as folder:
        reading, writing = os.pipe()
        library = str(plugin.build()).replace(",", ",,")
        (folder / "plan").write_text(plan(folder / "ram", writing))
        command = qemu.command_line(target, deterministic=True, plugin=f"{library},plan=plan")
        machine = qemu.Qemu(command, folder, (writing,))
        os.close(writing)
        data = bytearray()
        reader = threading.Thread(target=_drain, args=(reading, data), daemon=True)
        reader.start()
        try:
            lines = listen(machine)
        finally:
            machine.stop()
            reader.join()
    records = plugin.records(data, 0)
    return Trace(tuple(lines), tuple(r for r in records if isinstance(r, Passage | Visit)))


def off(machine: qemu.Qemu) -> list[str]:
    """The lines of the serial port, until power-off."""
    watchdog = threading.Timer(LIMIT, machine.process.kill)
    watchdog.start()
    try:
        said = machine.output.read()
        machine.check()
    finally:
        watchdog.cancel()
    return said.decode(errors="replace").splitlines()


def _drain(descriptor: int, data: bytearray) -> None:
    with os.fdopen(descriptor, "rb", buffering=0) as pipe:
        while more := pipe.read(1 << 16):
            data += more


def heard(machine: qemu.Qemu, name: str, last: str, limit: float) -> list[str]:
    """The lines of one source, up to and including the last one."""
    console, said = Demultiplexer(), Transcript()
    deadline = time.monotonic() + limit
    watchdog = threading.Timer(limit, machine.process.kill)
    watchdog.start()
    seen, ended = 0, True
    try:
        while data := os.read(machine.output.fileno(), 1 << 16):
            for chunk in console.feed(data):
                if chunk.name == name:
                    said.add(chunk)
                    ended = chunk.ends
            whole = said.lines if ended else said.lines[:-1]
            lines = [_STAMP.sub("", line.text, count=1) for line in whole[seen:]]
            for line in lines:
                if line.startswith(("panic", "fatal")):
                    raise WorkError(f"the measured image ended: {line}")
            if any(last in line for line in lines):
                return [_STAMP.sub("", line.text, count=1) for line in whole]
            # The last line may be incomplete, or continued after one of another source.
            seen = max(0, len(said.lines) - 1)
    finally:
        watchdog.cancel()
    if time.monotonic() >= deadline:
        raise WorkError(f"the measured image did not say `{last}` within {limit:g} s")
    machine.process.wait()
    machine.check()
    raise WorkError("the emulator ended before the measurements did")
