"""Suites `boot` and `size`: Mortise's memory, its boot until a guest runs, and Linux's boot.

`bench-min` is the minimal system with Mortise. In `bench-boot` Linux powers off as soon as it is
up; without Mortise the same kernel, initramfs and device tree are at the same addresses, and four
instructions start the kernel at EL1.
"""

from __future__ import annotations

import struct
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from tenonos import build, paths, system
from tenonos.build import Built
from tenonos.build.attribution import GENERATED
from tenonos.build.elf import HEADER_MAGIC, sections
from tenonos.build.size import image_size
from tenonos.build.sloc import count as count_lines
from tenonos.errors import WorkError
from tenonos.run import Target, plugin, qemu, symbols
from tenonos.run.console import RAW
from tenonos.run.plugin import QUIET, Passage
from tenonos.system.memory_map import VmLayout
from tools.bench import phases
from tools.bench.exits import STATIC
from tools.bench.machine import LIMIT, Trace, counted, heard, off
from tools.bench.reading import Setting
from tools.bench.row import Kinds, Row

TINY, LINUX = "bench-min", "bench-boot"

_ARCH = frozenset({"hw/arch", "mortise/vcpu", "mortise/transfer"})

COMPONENTS: dict[str, Callable[[str], bool]] = {
    "arch": lambda owner: owner in _ARCH,
    "platform": lambda owner: owner == GENERATED,
    "driver": lambda owner: owner.startswith("hw/") and owner not in _ARCH,
    "lib": lambda owner: owner.startswith(("core/", "mortise/")) and owner not in _ARCH,
    "others": lambda owner: "/" not in owner and owner != GENERATED,
}
"""The components of Mortise as the paper groups them, by library; and `others`."""

END = 0
"""The end of a path that extends to the emulator's end."""

_HEAD = struct.Struct("<I4xQQQ24x4s4x")
"""The header of an arm64 Image: first instruction, text offset, size, flags, magic."""

_BRANCH = 0x1400_0000 | _HEAD.size // 4
"""A branch past the header."""

_JUMP = (
    0x5800_0080,  # ldr x0, 16: the device tree
    0x5800_00A4,  # ldr x4, 20: the kernel
    0xAA1F_03E1,  # mov x1, xzr
    0xD61F_0080,  # br x4
)
"""Code that starts a kernel; both addresses follow."""


def sizes(tell: Callable[[str], None]) -> Iterator[Row]:
    """Mortise with one VM on one core: sections of its image, and its use of RAM."""
    tell(f"{TINY}, sizes")
    built = build.build(system.load(TINY))
    layout = built.layout
    areas = sum(area.size for vm in layout.vms.values() for area in (*vm.shared, *vm.areas))
    own = layout.manifest_pa - layout.image_base + layout.manifest_size
    parts = sections(built.elf_files["mortise"].read_bytes())
    payloads = [part.pa for vm in layout.vms.values() for part in vm.payloads.values()]
    end = layout.image_base + layout.image_size
    parts |= {"ram": own + areas, "payload": end - min(payloads)}
    for part, size in parts.items():
        row = _setting(built).row(("size", "mortise_static"), {"part": part}, [size], Kinds())
        yield replace(row, unit="bytes")
    (image,) = (image for image in built.images if image.name == "mortise")
    size = image_size(image.name, built.elf_files[image.name], image.libraries)
    yield _lines(built, "mortise_static", {"part": "lines"}, size.lines)
    for component, belongs in COMPONENTS.items():
        params = {"component": component}
        text = sum(count for owner, count in size.owners.items() if belongs(owner))
        row = _setting(built).row(("size", "component"), params | {"part": "text"}, [text], Kinds())
        yield replace(row, unit="bytes")
        lines = sum(count for owner, count in size.lines_of.items() if belongs(owner))
        yield _lines(built, "component", params | {"part": "lines"}, lines)
    for library in image.libraries:
        if all(library in other.libraries for other in built.images):
            lines = count_lines(library.path)
            yield _lines(built, "shared_library", {"library": library.id}, lines)


def _lines(built: Built, name: str, params: dict[str, str], lines: int) -> Row:
    return replace(_setting(built).row(("size", name), params, [lines], Kinds()), unit="lines")


def rows(tell: Callable[[str], None]) -> Iterator[Row]:
    """Instructions of Mortise until a guest runs, and during Linux's boot."""
    tell(f"{TINY}, start")
    built = build.build(system.load(TINY))
    begun = symbols.address(built, "hello", "hello::main")
    hears = lambda machine: heard(machine, RAW, "hello", LIMIT)  # noqa: E731
    started, main, *_ = _counted(built, hears, begun).passages
    yield _entry(built, "tiny", started)
    yield _setting(built).row(
        ("boot", "mortise_entry_to_main"), {"guest": "tiny"}, [main.el2 + main.other], _kinds(main)
    )
    yield from _phases(built, "tiny", "hello")
    linux = system.load(LINUX)
    (own,) = linux.vms
    virtual = replace(linux, vms=(replace(own, devices=()),))
    for uart, booting in (("passthrough", linux), ("virtual", virtual)):
        tell(f"{LINUX}, {uart} serial port")
        built = build.build(booting)
        started, booted = _counted(built, off).passages
        if uart == "passthrough":
            yield _entry(built, "linux", started)
            yield from _phases(built, "linux", "Booting Linux")
        setting, params = _setting(built), {"irq": own.interrupts, "uart": uart}
        yield setting.row(("boot", "linux_boot_el2"), params, [booted.el2], _kinds(booted))
        alone = _alone(built).other
        if uart == "passthrough":
            for where, count in (("native", alone), ("mortise", booted.el2 + booted.other)):
                yield setting.row(("boot", "linux_boot"), {"on": where}, [count], Kinds())
        more = round(100 * (booted.el2 + booted.other - alone) / alone, 3)
        row = setting.row(("boot", "linux_boot_overhead"), params, [more], Kinds())
        yield replace(row, unit="percent")


def _setting(built: Built) -> Setting:
    """The origin of rows."""
    image = next(image for image in built.images if image.name == "mortise")
    optimisation = image.optimisation.strip('"') + ", fat LTO"
    return Setting(built.system.name, STATIC, options={"optimisation": optimisation})


def _entry(built: Built, guest: str, passage: Passage) -> Row:
    key = ("boot", "mortise_entry_to_guest_zeroed")
    return _setting(built).row(key, {"guest": guest}, [passage.el2], _kinds(passage))


def _kinds(passage: Passage) -> Kinds:
    return Kinds(passage.barriers, passage.sysreg_writes, passage.mmio)


def _phases(built: Built, guest: str, last: str) -> Iterator[Row]:
    """The phases of the boot, and all of it but the zeroing of the guest's memory; `last` is the
    guest's first line."""
    key, whole, total = ("boot", "mortise_phase"), 0, Kinds()
    for phase, (count, kinds) in phases.of_start(built, last).items():
        yield _setting(built).row(key, {"guest": guest, "phase": phase}, [count], kinds)
        if phase != phases.ZERO:
            whole, total = whole + count, total + kinds
    key = ("boot", "mortise_entry_to_guest")
    yield _setting(built).row(key, {"guest": guest}, [whole], total)


def _counted(built: Built, listen: Callable[[qemu.Qemu], list[str]], then: int = END) -> Trace:
    """Paths from Mortise's first instruction to the guest's first, from there to the end, and
    optionally from the first one to another address."""
    target = Target.of(built)
    target = replace(target, machine=replace(target.machine, cpus=1))
    (place,) = built.layout.vms.values()
    base, first = built.layout.image_base, place.entry - place.ipa + place.pa
    routes = [(base, first), (first if then == END else base, then)]
    return counted(target, lambda ram, pipe: plan(target, ram, pipe, routes), listen)


def plan(target: Target, ram: Path, pipe: int, routes: list[tuple[int, int]]) -> str:
    """The plan of the plugin for paths, by the physical addresses of their ends."""
    return plugin.plan(target, ram, pipe, routes, ("blocks", QUIET))


@contextmanager
def without_mortise(built: Built) -> Iterator[Target]:
    """The same Linux at the same addresses, started at EL1."""
    (place,) = built.layout.vms.values()
    machine = Target.of(built).machine.without_el2(1)
    with tempfile.NamedTemporaryFile(prefix="tenon-boot-", dir=paths.ensure(paths.RUN)) as image:
        image.write(unwrapped(built.image.read_bytes(), built.layout.image_base, place))
        image.flush()
        target = replace(
            Target.of(built),
            image=Path(image.name),
            machine=machine,
            vms=(),
            mortise_text=range(0),
        )
        yield target


def _alone(built: Built) -> Passage:
    """The boot of the same Linux, started at EL1."""
    (place,) = built.layout.vms.values()
    routes = [(place.entry, END)]
    with without_mortise(built) as target:
        trace = counted(target, lambda ram, pipe: plan(target, ram, pipe, routes), off)
    if len(trace.passages) != 1:
        raise WorkError("Linux alone did not boot")
    return trace.passages[0]


def unwrapped(packed: bytes, base: int, place: VmLayout) -> bytes:
    """A VM's payloads at their load addresses behind start code, in place of a system image at
    `base`."""
    end = max(payload.ipa + payload.size for payload in place.payloads.values())
    image = bytearray(end - base)
    head = _HEAD.pack(_BRANCH, 0, len(image), 0xA, HEADER_MAGIC)
    words = struct.pack(f"<{len(_JUMP)}I", *_JUMP)
    start = head + words + struct.pack("<QQ", place.argument, place.entry)
    image[: len(start)] = start
    for payload in place.payloads.values():
        content = packed[payload.pa - base :][: payload.size]
        at = payload.ipa - base
        image[at : at + payload.size] = content
    return bytes(image)
