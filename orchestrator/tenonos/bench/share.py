"""One core, two kernels: how soon Tenon's task runs beside a loaded Linux, and what Linux pays.

`bench-share` has one core, with a 1 kHz task in Tenon and Debian's Linux, whose init starts
the load that the kernel's command line names. The machine has no other core, so that what the
emulator's clock says is sound, and a release has two witnesses: the counter that the task reads and
the plugin, which counts from where the core came to Mortise.

What a switch costs where a policy decides is counted where VMs ask for more than the core.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from tenonos import build, paths, system
from tenonos.bench import overlay
from tenonos.bench.account import Account, Way
from tenonos.bench.reading import Setting
from tenonos.bench.row import Kinds, Row, most_common
from tenonos.build import Built
from tenonos.errors import WorkError
from tenonos.run import RunOptions, Session, Target, symbols
from tenonos.run.plugin import Moment, Passage, Record, Visit
from tenonos.system import System
from tenonos.system.device_trees import CMDLINE

SYSTEM = "bench-share"
DYNAMIC = "mortise-dynamic"
TENON, LINUX = "motor", "linux"

SETTING = Setting(SYSTEM, DYNAMIC)

LOADS = ("idle", "cpu", "block", "irq")
"""What Linux does meanwhile; `start` in the system's folder knows how."""

PERIODS, FULL = 2_000, 100_000
"""Releases of a load in the short form and in the full one."""

FP_LOAD, FP_CONFIG = "cpu", "fp.config"
"""Where Linux computes with floating point, and the configuration of a Tenon that uses it too."""

SCHEDULES = {"reservations": "overload", "deadline": "overload-deadline"}
"""Systems of VMs that ask for more than the core, by what shares it out."""

HOSTILE = "hostile-one-core"
"""A system in which a hostile guest has the loop's core when that does not want it."""

HOSTILE_SECONDS = 0.1
"""How long it is watched: every attack is made once."""

OVERLOADED_NS = 150_000_000
"""When all of them have begun to."""

DISK = 64 << 20
"""Bytes of the disk."""


def rows(full: bool, tell: Callable[[str], None]) -> Iterator[Row]:
    """All rows that come of sharing a core."""
    for load in LOADS:
        tell(f"{SYSTEM}, {load}")
        yield from _delays(_built(load), load, FULL if full else PERIODS)
    tell(f"{SYSTEM}, {FP_LOAD}, both with floating point")
    yield from _switches(_built(FP_LOAD, fp=True), FP_LOAD, PERIODS)
    for schedule, name in SCHEDULES.items():
        tell(name)
        yield _policy_switch(schedule, name)
    tell(HOSTILE)
    yield _hostile_sections()
    for load in ("cpu", "build"):
        tell(f"{SYSTEM}, Linux's own {load}")
        yield _slowdown(load)


def _built(load: str, work: str = "none", *, alone: bool = False, fp: bool = False) -> Built:
    """The system with that load, or with work to do before Linux is ready; Linux alone if asked, or
    a Tenon whose handlers keep floating point at each interrupt."""
    shared = system.load(SYSTEM)
    linux = shared.vm(LINUX)
    cmdline = f"{linux.cmdline or CMDLINE} load={load} work={work}"
    linux = replace(linux, cmdline=cmdline, files=str(overlay.folder(shared, linux)))
    if fp:
        shared = _replaced(shared, replace(shared.vm(TENON), config=shared.folder / FP_CONFIG))
    return build.build(_with(shared, linux, alone=alone))


def _with(shared: System, linux: system.Vm, *, alone: bool) -> System:
    if alone:
        return replace(shared, name=f"{shared.name}-alone", vms=(replace(linux, index=0),))
    return _replaced(shared, linux)


def _replaced(shared: System, vm: system.Vm) -> System:
    """The system with this VM instead of the one of its name."""
    vms = (vm if other.name == vm.name else other for other in shared.vms)
    return replace(shared, vms=tuple(vms))


@contextmanager
def _disk() -> Iterator[Path]:
    """An empty disk, which takes no room until it is written."""
    with tempfile.NamedTemporaryFile(prefix="tenon-disk-", dir=paths.ensure(paths.RUN)) as file:
        file.truncate(DISK)
        yield Path(file.name)


def _target(built: Built, disk: Path) -> Target:
    """The machine with one core and that disk."""
    target = Target.of(built)
    drive = f"file={str(disk).replace(',', ',,')},if=none,id=disk,format=raw"
    more = ("-drive", drive, "-device", "virtio-blk-device,drive=disk,bus=virtio-mmio-bus.0")
    arguments = (*target.machine.arguments, *more)
    return replace(target, machine=replace(target.machine, cpus=1, arguments=arguments))


def _account(built: Built, load: str, periods: int) -> Account:
    """What a run of so many periods under a load was."""
    account = Account()
    (task,) = Target.of(built).tasks
    ends = ("motor::step", "tenon_thread::kernel::vector::timer_interrupt")
    routes = tuple((0, symbols.address(built, TENON, end)) for end in ends)
    options = RunOptions(
        seconds=periods * task.period_ns / 1e9,
        deterministic=True,
        routes=routes,
        plan=("visits",),
        count=account.take,
    )
    with _disk() as disk:
        session = Session(_target(built, disk), options, [])
        account.window = session.window
        result = session.run()
    if result.failure is not None:
        raise WorkError(f"under load {load}: {result.failure}")
    (done,) = result.periodic
    if (done.released, done.late, done.duplicates) != (done.completed, 0, 0):
        missed = done.released - done.completed
        raise WorkError(
            f"under load {load}: of {done.released} releases {missed} were missed,"
            f" {done.late} late, {done.duplicates} doubled"
        )
    return account


def _delays(built: Built, load: str, periods: int) -> Iterator[Row]:
    """The way from interrupt to task under a load, and what Mortise did meanwhile."""
    account = _account(built, load, periods)
    yield _histogram("dispatch_delay", load, account.waited(), account.delays)
    handled = [passage.instructions for passage in account.handled]
    yield _histogram("timer_interrupt", load, handled, account.handled)
    yield from _vm_switch(account, load, fp=False)
    sections = [section.longest for section in account.sections.values()]
    yield SETTING.row(("dispatch", "masked_max"), {"load": load}, sections, Kinds())


def _switches(built: Built, load: str, periods: int) -> Iterator[Row]:
    """What the switches cost where both VMs use floating point all the time."""
    yield from _vm_switch(_account(built, load, periods), load, fp=True)


def _histogram(name: str, load: str, values: Sequence[int], passages: Sequence[Passage]) -> Row:
    kinds = most_common([Kinds(p.barriers, p.sysreg_writes, p.mmio) for p in passages])
    row = SETTING.row(("share", name), {"load": load}, values, kinds)
    return replace(row, histogram=dict(sorted(Counter(values).items())))


def _vm_switch(account: Account, load: str, *, fp: bool) -> Iterator[Row]:
    """What the switches cost; an idle Linux is not there to be switched from."""
    switches = [way for way in account.ways.elements() if way.switches]
    if switches:
        values = [way.instructions for way in switches]
        kinds = most_common([way.kinds for way in switches])
        yield SETTING.row(("dispatch", "vm_switch"), {"load": load, "fp": fp}, values, kinds)


def _policy_switch(schedule: str, name: str) -> Row:
    """What the switches cost where budgets and deadlines decide, for a second."""
    switches: list[Way] = []
    begun = False

    def take(record: Record) -> None:
        nonlocal begun
        if isinstance(record, Moment):
            begun |= record.sample.release_ns >= OVERLOADED_NS
        elif begun and isinstance(record, Visit) and (way := Way.of(record)).switches:
            switches.append(way)

    options = RunOptions(seconds=1, deterministic=True, plan=("visits",), count=take)
    result = Session(Target.of(build.build(system.load(name))), options, []).run()
    if result.failure is not None or not switches:
        raise WorkError(f"{name}: {result.failure or 'nobody was switched to'}")
    return Setting(name, DYNAMIC).row(
        ("dispatch", "vm_switch"),
        {"schedule": schedule, "fp": False},
        [way.instructions for way in switches],
        most_common([way.kinds for way in switches]),
    )


def _hostile_sections() -> Row:
    """The longest section of each visit on the core that a hostile guest shares, once the loop
    there has begun."""
    shared = system.load(HOSTILE)
    cpus = [cpu for vm in shared.vms for cpu in set(vm.cpus)]
    found: list[int] = []
    begun = False

    def take(record: Record) -> None:
        nonlocal begun
        begun |= isinstance(record, Moment)
        if begun and isinstance(record, Visit) and cpus.count(record.vcpu) > 1:
            found.append(record.section)

    options = RunOptions(seconds=HOSTILE_SECONDS, deterministic=True, plan=("visits",), count=take)
    result = Session(Target.of(build.build(shared)), options, []).run()
    if result.failure is not None:
        raise WorkError(f"{HOSTILE}: {result.failure}")
    setting = Setting(HOSTILE, DYNAMIC)
    return setting.row(("dispatch", "masked_max"), {"load": "hostile"}, found, Kinds())


def _slowdown(work: str) -> Row:
    """What sharing costs Linux, in percent of what a work takes alone, without Tenon's own use."""
    alone, beside = (_work(_built("idle", work, alone=alone)) for alone in (True, False))
    percent = 100 * (beside - alone) / alone
    row = SETTING.row(("share", "linux_slowdown"), {"load": work}, [percent], Kinds())
    return replace(row, unit="percent")


def _work(built: Built) -> int:
    """The instructions that Linux and Mortise execute in a work."""
    found: list[Passage] = []

    def take(record: Record) -> None:
        # No path is asked for: the only one is that between the marks.
        if isinstance(record, Passage):
            found.append(record)
            session.finish()

    with _disk() as disk:
        options = RunOptions(deterministic=True, plan=("visits", "marks"), count=take)
        session = Session(_target(built, disk), options, [])
        session.run()
    if not found:
        raise WorkError("Linux did not end its work")
    return found[0].el2 + found[0].other
