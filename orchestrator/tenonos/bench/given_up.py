"""vLib calls whose time is over, where Tenon and Linux share a core.

`systems/bench-vlib` with both on one core: Linux stands still as soon as the deadline's interrupt
has come, and what counts is how long it takes from there until the thread that called has its core
back and knows it. All that is executed in between is counted, Mortise's and Tenon's.

The core may be in Mortise already when the interrupt comes, for something of Linux's or Mortise's
own. Then it counts from behind the last look at what is pending that found nothing: the interrupt
came later.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from tenonos import build, system
from tenonos.bench.reading import Setting
from tenonos.bench.row import Kinds, Row, most_common
from tenonos.bench.steps import Code
from tenonos.bench.vlib import CLIENT, PATIENCE, SAMPLES, SYSTEM
from tenonos.build import Built
from tenonos.errors import WorkError
from tenonos.run import RunOptions, Session, Target, symbols
from tenonos.run.plugin import OTHER, Passage, Record, Visit
from tenonos.run.symbols import MORTISE

SETTING = Setting(SYSTEM, "mortise-dynamic")

URGENT, BACKGROUND = 40, 0
"""Priorities of the client and of Linux on their core."""

_TAKES, _LOOKS, _REGISTER = 0xD538_CC00, 0xD538_C100, 0x1F
"""`MRS Xt, ICC_IAR1_EL1` (IHI 0069, 12.2) and `MRS Xt, ISR_EL1` (Arm ARM, D19.2)."""


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
    back = symbols.address(built, CLIENT, "client::given_up")
    place, code = built.layout.vm(CLIENT), symbols.text(built, CLIENT)
    start, stop = (address - place.ipa + place.pa for address in (code.start, code.stop))
    mortise = Code(built.elves[MORTISE].read_bytes())
    found: list[Passage] = []
    left: Sequence[int] = ()

    def take(record: Record) -> None:
        nonlocal left
        if isinstance(record, Visit) and record.before == OTHER:
            left = record.steps
        if isinstance(record, Passage):
            before = clean([mortise.word(step) for step in left])
            found.append(replace(record, instructions=record.instructions - before))
            if len(found) == SAMPLES:
                session.finish()

    options = RunOptions(
        seconds=PATIENCE,
        deterministic=True,
        routes=((0, back),),
        plan=("visits", "steps", f"el2 {start:x} {stop:x}"),
        count=take,
    )
    session = Session(target, options, [])
    session.run()
    if len(found) < SAMPLES:
        raise WorkError(f"of {SAMPLES} calls that were given up {len(found)} were seen")
    return found[:SAMPLES]


def clean(words: Sequence[int]) -> int:
    """How many of the instructions by which Linux's core is left come before the last look at what
    is pending that found nothing, that look included; none if the first thing is an interrupt."""
    kinds = [word & ~_REGISTER for word in words]
    taken = max((at for at, kind in enumerate(kinds) if kind == _TAKES), default=0)
    *clean, _ = [at + 1 for at, kind in enumerate(kinds[:taken]) if kind == _LOOKS] or [0]
    return clean[-1] if clean else 0
