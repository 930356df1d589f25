"""The result of a session, computed from its observations.

A deterministic run is cut at the last sample of its window: all values come from the plugin's
counters at that moment, independent of the host. In host timing they come from the status pages.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from tenonos.run import budgets, processes, qemu
from tenonos.run.console import Transcript
from tenonos.run.formats import CAUSES, Reason, State, Status, TaskReader
from tenonos.run.plugin import Moment
from tenonos.run.result import (
    FIXED_SEED,
    HOST_NOISE,
    ChannelResult,
    EmulatorDelays,
    Exits,
    FaultResult,
    Latency,
    PeriodicResult,
    Result,
    VmResult,
)
from tenonos.run.target import WatchedVm
from tenonos.run.window import TaskRecord

if TYPE_CHECKING:
    from tenonos.run.session import Session

_EXIT_STATUS = re.compile(r"exit status (\d+)")
"""The last line of a C program, written by the C library."""


def report(session: Session, readers: list[TaskReader]) -> Result:
    """The result of a session with a halted emulator."""
    target, options = session.target, session.options
    if not options.deterministic:
        for record, reader in zip(session.window.records, readers, strict=True):
            area = reader.header()
            record.messages, record.lost = (0 if area is None else area.head), reader.lost
    result = Result(
        board=target.board,
        mode=target.mode,
        timing="deterministic" if options.deterministic else "host",
        note=_note(session),
        emulator=qemu.emulator(options.binary),
        sources=target.sources,
        vms=[*(_vm(session, vm) for vm in target.vms), *_late(session)],
        periodic=[_periodic(record) for record in session.window.records],
        channels=[*_telemetry(session.window.records), *_channels(session)],
        budgets=budgets.results(session, _budget_words(session)),
        paths=session.passages.results(options.routes, options.route_names)
        if options.routes
        else None,
    )
    result.problem = session.problem
    return result


def _note(session: Session) -> str | None:
    """What holds for the figures and the guests of a run, in one line."""
    if not session.options.deterministic:
        return HOST_NOISE
    return FIXED_SEED if any(vm.kind != "tenon" for vm in session.target.vms) else None


def _vm(session: Session, vm: WatchedVm) -> VmResult:
    return _result(session, vm, session.statuses.get(vm.name), vm.index)


def _late(session: Session) -> list[VmResult]:
    """The dynamic VMs, except those created after the window."""
    first = len(session.target.vms)
    results = []
    for name, late in session.late.seen.items():
        page = first + late.slot
        last = session.window.last
        if _cut(session) and last is not None and last.vms[page].state is State.EMPTY:
            continue
        vm = WatchedVm(page, name, "tenon", late.status.cpus, 0, range(0))
        results.append(_result(session, vm, late.status, page))
    return results


def _cut(session: Session) -> bool:
    """Whether the result is taken at the last sample of the window, independent of the host."""
    return session.options.deterministic and session.complete


def _result(session: Session, vm: WatchedVm, status: Status | None, page: int) -> VmResult:
    window = session.window
    result = VmResult(
        name=vm.name,
        kind=vm.kind,
        cpus=list(vm.cpus),
        state=State.EMPTY.name.lower(),
        exit_reason=None,
        boot_ns=0,
        exits=Exits(),
        exits_in_window=0,
    )
    if status is None:
        return result
    state, reason, restarts, exits = status.state, status.reason, status.restarts, status.totals
    first, last = window.first, window.last
    if session.options.deterministic and first is not None and last is not None:
        if session.complete:
            cut = last.vms[page]
            state, reason, restarts, exits = cut.state, cut.reason, cut.restarts, cut.exits
        result.el2_instructions_in_window = _el2(first, last, vm)
        same = first.vms[page].handle == last.vms[page].handle
        before = first.vms[page].exits if same else ()
        until = last.vms[page].exits
    else:
        opening = session.opening.get(vm.name)
        # A VM created after the opening of the window began with zero exits.
        late = vm.index >= len(session.target.vms)
        known = opening is not None and opening.handle == status.handle
        before = opening.totals if opening and known else () if late else status.totals
        until = status.totals
    result.state = state.name.lower()
    result.exit_reason = _exit_reason(state, reason)
    result.boot_ns = status.boot_ns
    result.exits = Exits(**dict(zip(CAUSES, exits, strict=True)))
    own = [record for record in window.records if record.task.vm == vm.name and record.first]
    result.exits_in_window = _own_exits(own) if own else sum(until) - sum(before)
    result.restarts = restarts or None
    transcript = session.transcripts.get(vm.name)
    if vm.processes:
        result.exit_status = processes.exit_status(transcript)
        result.unserved = processes.unserved(transcript) or None
        result.calls = processes.recorded(transcript) or None
    elif state in (State.OFF, State.DESTROYED):
        result.exit_status = _exit_status(transcript)
    result.fault = _fault(status) if reason is not Reason.NONE else None
    return result


def _exit_status(transcript: Transcript | None) -> int | None:
    """The exit status in the last line of a VM that powered off."""
    lines = [line.text for line in transcript.lines] if transcript else []
    match = _EXIT_STATUS.fullmatch(lines[-1]) if lines else None
    return int(match[1]) if match else None


def _own_exits(records: list[TaskRecord]) -> int:
    """Exits by the VM's own samples, from the first body to the last."""
    firsts = [record.first for record in records if record.first is not None]
    lasts = [record.last for record in records if record.last is not None]
    first = min(firsts, key=lambda sample: sample.begin_ns)
    last = max(lasts, key=lambda sample: sample.begin_ns)
    return last.exits - first.exits


def _el2(first: Moment, last: Moment, vm: WatchedVm) -> int:
    return sum(last.el2[cpu] - first.el2[cpu] for cpu in vm.cpus)


def _exit_reason(state: State, reason: Reason) -> str | None:
    if state is State.STOPPED:
        return reason.text
    return {State.OFF: "system-off", State.LOST: "lost-core"}.get(state)


def _fault(status: Status) -> FaultResult:
    fault = status.fault
    return FaultResult(
        text=fault.text or status.reason.text,
        vcpu=fault.vcpu,
        esr=hex(fault.esr),
        far=hex(fault.far),
        hpfar=hex(fault.hpfar),
        elr=hex(fault.elr),
        spsr=hex(fault.spsr),
        registers=[hex(value) for value in fault.registers],
    )


def _periodic(record: TaskRecord) -> PeriodicResult:
    low, p50, p99, p999, high = record.latency.percentiles(0, 50, 99, 99.9, 100)
    return PeriodicResult(
        vm=record.task.vm,
        task=record.task.name,
        period_ns=record.task.period_ns,
        released=record.released,
        completed=record.completed,
        late=record.late,
        duplicates=record.duplicates,
        deadline_ns=record.task.deadline_ns,
        first_ns=record.first.release_ns if record.first else 0,
        last_ns=record.last_release,
        latency_ns=Latency(min=low, p50=p50, p99=p99, p999=p999, max=high),
        emulator_turns=_turns(record),
    )


def _turns(record: TaskRecord) -> EmulatorDelays | None:
    if record.turns is None:
        return None
    return EmulatorDelays(
        releases=record.delayed, late=record.delayed_late, max_ns=record.longest_delay
    )


def _telemetry(records: list[TaskRecord]) -> list[ChannelResult]:
    """The sample journals of each VM, as channels."""
    alone = len(records) == 1
    return [
        ChannelResult(
            name="telemetry" if alone else f"telemetry {record.task.vm}/{record.task.name}",
            messages=record.messages,
            lost=record.lost,
        )
        for record in records
    ]


def _budget_words(session: Session) -> Callable[[], int] | None:
    """The words of the budgets at the end of a deterministic run's window."""
    last = session.window.last
    if not _cut(session) or last is None:
        return None
    return iter(last.words[2 * len(session.target.channels) :]).__next__


def _channels(session: Session) -> list[ChannelResult]:
    """The channels between VMs."""
    last = session.window.last
    if _cut(session) and last is not None:
        words = iter(last.words)
    else:
        addresses = session.target.counters
        words = (int.from_bytes(session.memory.read(a, 8), "little") for a in addresses)
    return [
        ChannelResult(name=channel.name, messages=next(words), lost=next(words))
        for channel in session.target.channels
    ]
