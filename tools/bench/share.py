"""Suite `share`: Tenon's dispatch delay and Linux's slowdown on one shared core.

`bench-share` has one core, with a 1 kHz task in Tenon and Debian's Linux; the kernel's command line
names the load that its init starts. With a single core the emulator's clock is accurate, and a
release is measured twice: by the counter that the task reads, and by the plugin, from the core's
entry into Mortise.

The cost of switches by a policy is measured with VMs that demand more than the core.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from tenonos import build, paths, system
from tenonos.build import Built
from tenonos.errors import WorkError
from tenonos.run import RunOptions, Session, Target, symbols
from tenonos.run.plugin import Moment, Passage, Record, Visit
from tenonos.system import System
from tenonos.system.device_trees import CMDLINE
from tools.bench import overlay
from tools.bench.account import Account, Way
from tools.bench.reading import Setting
from tools.bench.row import Kinds, Row, most_common

SYSTEM = "bench-share"
DYNAMIC = "mortise-dynamic"
TENON, LINUX = "motor", "linux"

SETTING = Setting(SYSTEM, DYNAMIC)

LOADS = ("idle", "cpu", "block", "irq")
"""The loads of Linux, implemented by `start` in the system's folder."""

PERIODS, FULL = 2_000, 100_000
"""Releases of a load in the short form and in the full one."""

FP_LOAD, FP_CONFIG = "cpu", "fp.config"
"""The load with floating point, and the configuration of a Tenon that uses it too."""

SCHEDULES = {"reservations": "overload", "deadline": "overload-deadline"}
"""Systems with VMs that demand more than the core, by scheduling policy."""

HOSTILE = "hostile-one-core"
"""A system in which a hostile guest runs on the loop's core when the loop is idle."""

HOSTILE_SECONDS = 0.1
"""The length of its run, with every attack made once."""

OVERLOADED_NS = 150_000_000
"""The time at which all attacks have started."""

DISK = 64 << 20
"""Size of the disk in bytes."""


def rows(full: bool, tell: Callable[[str], None]) -> Iterator[Row]:
    """All rows of the suite."""
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
    """The system with that load, or with work before Linux is ready; `alone`: without Tenon; `fp`:
    with a Tenon that saves floating point at each interrupt."""
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
    """The system with this VM in place of the one of its name."""
    vms = (vm if other.name == vm.name else other for other in shared.vms)
    return replace(shared, vms=tuple(vms))


@contextmanager
def _disk() -> Iterator[Path]:
    """An empty sparse disk."""
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
    """The account of a run of `periods` periods under a load."""
    account = Account()
    (task,) = Target.of(built).tasks
    ends = ("motor::step", "tenon_kernel::kernel::entry::timer_interrupt")
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
    """Dispatch delays under a load, and Mortise's visits meanwhile."""
    account = _account(built, load, periods)
    yield _histogram("dispatch_delay", load, account.waited(), account.delays)
    handled = [passage.instructions for passage in account.handled]
    yield _histogram("timer_interrupt", load, handled, account.handled)
    yield from _vm_switch(account, load, fp=False)
    sections = [section.longest for section in account.sections.values()]
    yield SETTING.row(("dispatch", "masked_max"), {"load": load}, sections, Kinds())


def _switches(built: Built, load: str, periods: int) -> Iterator[Row]:
    """The cost of switches with floating point in use by both VMs."""
    yield from _vm_switch(_account(built, load, periods), load, fp=True)


def _histogram(name: str, load: str, values: Sequence[int], passages: Sequence[Passage]) -> Row:
    kinds = most_common([Kinds(p.barriers, p.sysreg_writes, p.mmio) for p in passages])
    row = SETTING.row(("share", name), {"load": load}, values, kinds)
    return replace(row, histogram=dict(sorted(Counter(values).items())))


def _vm_switch(account: Account, load: str, *, fp: bool) -> Iterator[Row]:
    """The cost of switches; an idle Linux is not switched from."""
    switches = [way for way in account.ways.elements() if way.switches]
    if switches:
        values = [way.instructions for way in switches]
        kinds = most_common([way.kinds for way in switches])
        yield SETTING.row(("dispatch", "vm_switch"), {"load": load, "fp": fp}, values, kinds)


def _policy_switch(schedule: str, name: str) -> Row:
    """The cost of switches by budgets and deadlines, over a second."""
    switches: list[Way] = []
    begun = False

    def take(record: Record) -> None:
        nonlocal begun
        if isinstance(record, Moment):
            begun |= record.sample.release_ns >= OVERLOADED_NS
        elif begun and isinstance(record, Visit) and (way := Way.of(record)).switches:
            switches.append(way)

    options = RunOptions(
        seconds=1, deterministic=True, plan=("visits",), count=take, overloaded=True
    )
    result = Session(Target.of(build.build(system.load(name))), options, []).run()
    if result.failure is not None or not switches:
        raise WorkError(f"{name}: {result.failure or 'there was no VM switch'}")
    return Setting(name, DYNAMIC).row(
        ("dispatch", "vm_switch"),
        {"schedule": schedule, "fp": False},
        [way.instructions for way in switches],
        most_common([way.kinds for way in switches]),
    )


def _hostile_sections() -> Row:
    """The longest section of each visit on the core shared with a hostile guest, once the loop
    runs."""
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
    """The slowdown of Linux in percent of its work alone, without Tenon's own instructions."""
    alone, beside = (_work(_built("idle", work, alone=alone)) for alone in (True, False))
    percent = 100 * (beside - alone) / alone
    row = SETTING.row(("share", "linux_slowdown"), {"load": work}, [percent], Kinds())
    return replace(row, unit="percent")


def _work(built: Built) -> int:
    """The instructions of Linux and Mortise for a work."""
    found: list[Passage] = []

    def take(record: Record) -> None:
        # Without routes, the only path is that between the marks.
        if isinstance(record, Passage):
            found.append(record)
            session.finish()

    with _disk() as disk:
        options = RunOptions(deterministic=True, plan=("visits", "marks"), count=take)
        session = Session(_target(built, disk), options, [])
        session.run()
    if not found:
        raise WorkError("Linux did not complete its work")
    return found[0].el2 + found[0].other
