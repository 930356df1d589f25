"""vLib calls that time out, where Tenon and Linux share a core.

`bench-vlib` with both VMs on one core: the interrupt of the deadline preempts Linux. The row is the
number of instructions from there until the calling thread returns from the call with a time-out,
in Mortise and in Tenon.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from tenonos import build, system
from tenonos.build import Built
from tenonos.errors import WorkError
from tenonos.run import RunOptions, Session, Target, symbols
from tenonos.run.plugin import Passage, Record
from tools.bench.reading import Setting
from tools.bench.row import Kinds, Row, most_common
from tools.bench.vlib import CLIENT, PATIENCE, SAMPLES, SYSTEM

SETTING = Setting(SYSTEM, "mortise-dynamic")

URGENT, BACKGROUND = 40, 0
"""Priorities of the client and of Linux on their core."""


def rows(tell: Callable[[str], None]) -> Iterator[Row]:
    """The row `time_out` on a shared core."""
    tell(f"{SYSTEM}, on one core")
    ways = _ways(build.build(_on_one_core(system.load(SYSTEM))))
    kinds = most_common([Kinds(way.barriers, way.sysreg_writes, way.mmio) for way in ways])
    values = [way.instructions for way in ways]
    yield SETTING.row(("vlib", "time_out"), {"core": "shared"}, values, kinds)


def _on_one_core(apart: system.System) -> system.System:
    """The same two VMs on core 0, where Linux runs by real time (decisions/vlib.md)."""

    def there(vm: system.Vm) -> system.Vm:
        priority = URGENT if vm.name == CLIENT else BACKGROUND
        share = replace(vm.share, priority=priority)
        return replace(vm, cpus=(0,), interrupts="shared", share=share)

    vlibs = tuple(replace(vlib, virtual_time=False) for vlib in apart.vlibs)
    return replace(apart, mode="dynamic", vms=tuple(map(there, apart.vms)), vlibs=vlibs)


def _ways(built: Built) -> list[Passage]:
    """The passages from the entry into Mortise to the client's return from its call."""
    target = Target.of(built)
    # With a single core the emulator's clock counts that core's instructions.
    target = replace(target, machine=replace(target.machine, cpus=1))
    back = symbols.address(built, CLIENT, "vlib_bench::time_out_marker")
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
        raise WorkError(f"of {SAMPLES} calls that time out {len(found)} were seen")
    return found[:SAMPLES]
