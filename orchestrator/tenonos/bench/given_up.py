"""vLib calls whose time is over, where Tenon and Linux share a core.

`bench-vlib` with both on one core: Linux stands still as soon as the deadline's interrupt
has come, and what counts is how long it takes from there until the thread that called has its core
back and knows it. All that is executed in between is counted, Mortise's and Tenon's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from tenonos import build, system
from tenonos.bench.reading import Setting
from tenonos.bench.row import Kinds, Row, most_common
from tenonos.bench.vlib import CLIENT, PATIENCE, SAMPLES, SYSTEM
from tenonos.build import Built
from tenonos.errors import WorkError
from tenonos.run import RunOptions, Session, Target, symbols
from tenonos.run.plugin import Passage, Record

SETTING = Setting(SYSTEM, "mortise-dynamic")

URGENT, BACKGROUND = 40, 0
"""Priorities of the client and of Linux on their core."""


def rows(tell: Callable[[str], None]) -> Iterator[Row]:
    """The one row."""
    tell(f"{SYSTEM}, on one core")
    ways = _ways(build.build(_on_one_core(system.load(SYSTEM))))
    kinds = most_common([Kinds(way.barriers, way.sysreg_writes, way.mmio) for way in ways])
    values = [way.instructions for way in ways]
    yield SETTING.row(("vlib", "time_out"), {"core": "shared"}, values, kinds)


def _on_one_core(apart: system.System) -> system.System:
    """The same two VMs on core 0; Linux has real time there (decisions/vlib.md)."""

    def there(vm: system.Vm) -> system.Vm:
        priority = URGENT if vm.name == CLIENT else BACKGROUND
        share = replace(vm.share, priority=priority)
        return replace(vm, cpus=(0,), interrupts="shared", share=share)

    vlibs = tuple(replace(vlib, virtual_time=False) for vlib in apart.vlibs)
    return replace(apart, mode="dynamic", vms=tuple(map(there, apart.vms)), vlibs=vlibs)


def _ways(built: Built) -> list[Passage]:
    """The ways from where the core came to Mortise to where the client has its call back."""
    target = Target.of(built)
    # Without other cores the emulator's clock is that of this one.
    target = replace(target, machine=replace(target.machine, cpus=1))
    back = symbols.address(built, CLIENT, "vlib_bench::given_up")
    place, code = built.layout.vm(CLIENT), symbols.text(built, CLIENT)
    start, stop = (address - place.ipa + place.pa for address in (code.start, code.stop))
    found: list[Passage] = []

    def take(record: Record) -> None:
        if isinstance(record, Passage):
            found.append(record)
            if len(found) == SAMPLES:
                session.finish()

    options = RunOptions(
        seconds=PATIENCE,
        deterministic=True,
        routes=((0, back),),
        plan=("visits", f"el2 {start:x} {stop:x}"),
        count=take,
    )
    session = Session(target, options, [])
    session.run()
    if len(found) < SAMPLES:
        raise WorkError(f"of {SAMPLES} calls that were given up {len(found)} were seen")
    return found[:SAMPLES]
