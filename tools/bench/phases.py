"""Phases of Mortise's boot until a guest runs.

The plugin reports each instruction of Mortise from its first one to the guest's, and the image's
debug information has the calling functions, so Mortise needs no instrumentation.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace
from functools import cache

from tenonos.build import Built
from tenonos.errors import WorkError
from tenonos.run import Target, plugin
from tenonos.run.console import RAW
from tenonos.run.plugin import QUIET, Visit
from tenonos.run.symbols import MORTISE
from tools.bench.machine import LIMIT, counted, heard
from tools.bench.row import Kinds
from tools.bench.steps import Code

ZERO = "zero"
"""The phase for the zeroing of the guest's memory."""

PHASES = {
    "lines": ("core_log::write", "mortise_machine::topology::Machine::report"),
    "manifest": ("core_manifest::system::System::parse_within",),
    "machines": (
        "mortise_partition::boot::vms::new_vm",
        "mortise_machine::vm::Vm::route",
        "mortise_partition::boot::check",
        "mortise_partition::boot::assign_core",
    ),
    "maps": (
        "mortise_partition::boot::maps::build_map",
        "mortise_partition::boot::maps::activate_map",
    ),
    "controller": (
        "mortise_partition::boot::open_irqchip",
        "mortise_run::gic::reset::reset_interrupts",
        "hw_irqchip_gicv3::redistributor::Redistributor::initialise",
    ),
    ZERO: ("mortise_transfer::Transfer::zero",),
    "load": (
        "mortise_run::run::restart_sequence::plan",
        "mortise_run::run::restart_sequence::write",
    ),
    "core": ("mortise_partition::boot::enter",),
}
"""The phases by their functions, of several the outermost: `core` is the remaining work of a core
to start its guest."""
RESET, REST = "reset", "rest"
"""Phases for assembly before any function, and for the remaining functions."""


def of_start(built: Built, last: str) -> dict[str, tuple[int, Kinds]]:
    """The instructions of each phase until the guest starts, on one core; `last` is the guest's
    line."""
    target = Target.of(built)
    target = replace(target, machine=replace(target.machine, cpus=1))
    more = ("visits", "steps", QUIET)
    trace = counted(
        target,
        lambda ram, pipe: plugin.plan(target, ram, pipe, (), more),
        lambda machine: heard(machine, RAW, last, LIMIT),
    )
    visit = next((record for record in trace.records if isinstance(record, Visit)), None)
    if visit is None or visit.entry != built.layout.image_base:
        raise WorkError("Mortise's start was not seen")
    return split(Code(built.elf_files[MORTISE].read_bytes()), visit)


def split(code: Code, visit: Visit) -> dict[str, tuple[int, Kinds]]:
    """The instructions of each phase of a visit."""
    phase = cache(_phase)
    # Zeroing repeats a few instructions millions of times.
    found: Counter[tuple[str, int]] = Counter()
    for step, functions in zip(visit.steps, code.callers(visit.steps), strict=True):
        found[phase(functions), step] += 1
    counts: Counter[str] = Counter()
    kinds: dict[str, Kinds] = defaultdict(Kinds)
    for (name, step), count in found.items():
        counts[name] += count
        kinds[name] += code.kinds([step]).times(count)
    return {name: (counts[name], kinds[name]) for name in names()}


def names() -> Iterator[str]:
    """All phases, in display order."""
    yield from (RESET, *PHASES, REST)


def _phase(functions: tuple[str, ...]) -> str:
    if not functions:
        return RESET
    return next((name for name, of in PHASES.items() if not {*of}.isdisjoint(functions)), REST)
