"""Rendering of a run: tables and panels of the live screen, its picture and the summary."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich import box
from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from tenonos.run.console import Transcript, clean
from tenonos.run.formats import CAUSES, State, Status
from tenonos.run.latency import Distribution, buckets, duration
from tenonos.run.result import BudgetResult, Exits, PathResult, Result, VmResult
from tenonos.run.window import TaskRecord

if TYPE_CHECKING:
    from tenonos.run.session import Session

_STYLES = {
    "running": "green",
    "stopped": "bold red",
    "off": "dim",
    "restarting": "yellow",
    "starting": "yellow",
    "empty": "dim",
    "created": "yellow",
    "paused": "yellow",
    "destroying": "yellow",
    "destroyed": "dim",
    "lost": "bold red",
}
WIDE_PANEL = 50
"""Columns of a task's panel from which on its figures stand in rows."""
LEAST_BARS = 3
"""Lines of a histogram below which there is none."""
_PERCENTILES = (("min", 0), ("p50", 50), ("p99", 99), ("p99.9", 99.9), ("max", 100))


@dataclass(frozen=True)
class VmRow:
    """A VM's line in the table."""

    name: str
    kind: str
    cpus: Sequence[int]
    state: str
    boot_ns: int
    exits: Exits
    in_window: int | None = None
    el2: int | None = None
    restarts: int = 0
    reason: str | None = None


def rows_now(session: Session) -> list[VmRow]:
    """The VMs of a running session."""
    rows: list[VmRow] = []
    for vm in session.target.vms:
        rows.append(_row(session, vm.name, vm.kind, vm.cpus, session.statuses.get(vm.name)))
    for name, late in session.late.seen.items():
        rows.append(_row(session, name, "tenon", late.status.cpus, late.status))
    return rows


def _row(
    session: Session, name: str, kind: str, cpus: Sequence[int], status: Status | None
) -> VmRow:
    if status is None:
        return VmRow(name, kind, cpus, "empty", 0, Exits())
    before = session.opening.get(name)
    return VmRow(
        name,
        kind,
        cpus,
        status.state.name.lower(),
        status.boot_ns,
        Exits(**dict(zip(CAUSES, status.totals, strict=True))),
        None if before is None else sum(status.totals) - sum(before.totals),
        restarts=status.restarts,
        reason=status.reason.text if status.state is State.STOPPED else None,
    )


def rows_of(result: Result) -> list[VmRow]:
    """The VMs of a result."""
    return [
        VmRow(
            vm.name,
            vm.kind,
            vm.cpus,
            vm.state,
            vm.boot_ns,
            vm.exits,
            vm.exits_in_window,
            vm.el2_instructions_in_window,
            vm.restarts or 0,
            vm.exit_reason,
        )
        for vm in result.vms
    ]


def vm_table(rows: Sequence[VmRow]) -> Table:
    """The state of every VM and its exits to EL2."""
    counted = any(row.el2 is not None for row in rows)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("VM", "kind", "CPUs", "state"):
        table.add_column(name)
    for name in ("boot", "exits", "in window", *(["EL2 instr."] if counted else [])):
        table.add_column(name, justify="right")
    for row in rows:
        state = row.state if row.reason is None else f"{row.state}: {row.reason}"
        state += f" ({row.restarts} restarts)" if row.restarts else ""
        window = "" if row.in_window is None else f"{row.in_window:,}"
        silent = row.in_window == 0
        table.add_row(
            Text(row.name, "bold"),
            row.kind,
            ",".join(map(str, row.cpus)),
            Text(state, _STYLES.get(row.state, "")),
            duration(row.boot_ns) if row.boot_ns else "",
            f"{sum(row.exits.model_dump().values()):,}",
            Text(window, "bold green" if silent else ""),
            *(["" if row.el2 is None else f"{row.el2:,}"] if counted else []),
        )
    return table


def budget_table(budgets: Sequence[BudgetResult]) -> Table:
    """The use of every budget: times within a period, never shares of the core."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("budget of")
    for name in ("CPU", "period", "mean use", "largest use", "exhausted"):
        table.add_column(name, justify="right")
    for one in budgets:
        name = one.vm if one.server is None else f"{one.vm}: {one.server}"
        budget, used = duration(one.budget_ns), one.used_per_period_ns
        table.add_row(
            Text(clean(name), "bold"),
            "" if one.cpu is None else str(one.cpu),
            duration(one.period_ns),
            f"{duration(used.mean)} of {budget}",
            f"{duration(used.max)} of {budget}",
            Text(
                f"in {one.exhausted:,} of {one.periods:,} periods",
                "bold yellow" if one.exhausted else "",
            ),
        )
    return table


def task_figures(record: TaskRecord, narrow: bool = False) -> Table:
    """Releases and latency of a task in figures; narrow ones stand in columns."""
    missing = record.released - record.completed
    counts = [
        ("released", Text(f"{record.released:,}")),
        ("completed", Text(f"{record.completed:,}")),
        ("missing", _bad(missing)),
        ("twice", _bad(record.duplicates)),
        ("late", Text(f"{record.late:,}")),
    ]
    values = record.latency.percentiles(*(rank for _, rank in _PERCENTILES))
    times = [
        (name, Text(duration(value))) for (name, _), value in zip(_PERCENTILES, values, strict=True)
    ]
    table = Table(box=None, show_header=False, pad_edge=False)
    if narrow:
        for justify in ("left", "right", "left", "right"):
            table.add_column(justify=justify, no_wrap=True)
        for (one, count), (other, time) in zip(counts, times, strict=True):
            table.add_row(Text(one, "dim"), count, Text(other, "dim"), time)
        return table
    for _ in counts:
        table.add_column(justify="right")
    for row in (counts, times):
        table.add_row(*(Text(name, "dim") for name, _ in row))
        table.add_row(*(value for _, value in row))
    return table


def histogram(distribution: Distribution, width: int, bar: str = "█", limit: int = 12) -> Text:
    """The distribution of latencies as bars; a non-empty bar is always visible."""
    bars = buckets(distribution, limit)
    most = max((one.count for one in bars), default=0)
    text = Text()
    for one in bars:
        length = -(-one.count * width // most)
        text.append(f"{duration(one.low):>8} ", "dim")
        text.append(bar * length, "cyan")
        text.append(f" {one.count:,}\n" if one.count else "\n")
    text.rstrip()
    return text


def loop_line(path: PathResult) -> Text:
    """A task's path from interrupt to job, in a sentence."""
    usual = max(path.histogram, key=lambda count: (path.histogram[count], -count))
    if path.min == path.max:
        times = f"each of {path.count:,} times"
    else:
        times = (
            f"{path.histogram[usual]:,} of {path.count:,} times, {path.min} to {path.max} in all"
        )
    text = Text("interrupt to first instruction of the job: ")
    text.append(f"{usual} instructions", "bold green")
    return text.append(f" of CPU {path.vcpu}, {times}")


def turns_line(record: TaskRecord) -> Text | None:
    """The lateness that is the emulator's, in a sentence."""
    if not record.delayed:
        return None
    late = (
        f", {record.delayed_late:,} of {record.late:,} late for that alone" if record.late else ""
    )
    return Text(
        f"{record.delayed:,} of them waited for the emulator, which ran other cores,"
        f" up to {duration(record.longest_delay)}{late}",
        "yellow",
    )


def task_panel(
    record: TaskRecord, note: str | None, width: int, height: int, path: PathResult | None = None
) -> Panel:
    """One task in so many columns and lines: figures, and a histogram with the bars that fit."""
    narrow = width < WIDE_PANEL
    lines = [line for line in (path and loop_line(path), turns_line(record)) if line is not None]
    room = height - 2 - sum(-(-len(line) // (width - 8)) for line in lines)
    parts: list[RenderableType] = [*lines[: path is not None]]
    figures = task_figures(record, narrow)
    room -= figures.row_count
    if path is not None and room > LEAST_BARS + 1:
        parts.append(Text())
        room -= 1
    parts += [figures, *lines[path is not None :]]
    if record.latency.total and room > LEAST_BARS:
        if room > 2 * LEAST_BARS:
            parts.append(Text())
            room -= 1
        # Values that spread wide have one bar more.
        parts.append(histogram(record.latency, max(10, width - 24), limit=min(12, room - 1)))
    period = duration(record.task.period_ns)
    title = f"{record.task.vm}: {record.task.name} every {period}, latency"
    return Panel(
        Group(*parts),
        title=title,
        title_align="left",
        subtitle=note and Text(note, "dim italic"),
        subtitle_align="left",
        border_style="cyan",
    )


def process_lines(vm: VmResult) -> Iterator[Text]:
    """What is known of a VM's processes beside their output."""
    if vm.exit_status is not None:
        yield Text(f"{vm.name}: exit status {vm.exit_status}")
    if vm.calls is not None:
        named = ", ".join(f'"{name}"' for name in vm.calls)
        yield Text(f"{vm.name}: smaller with calls = [{named}] in its table of system.toml")
    for each in vm.unserved or ():
        yield Text(
            f"{vm.name}: {clean(each.program)} asked for {each.call} ({each.number}), which no"
            " library serves",
            "yellow",
        )


def paths_of(record: TaskRecord, paths: Sequence[PathResult] | None) -> list[PathResult]:
    """The counted paths of a task."""
    return [path for path in paths or () if path.name == f"{record.task.vm}: {record.task.name}"]


def console_panel(
    name: str, transcript: Transcript | None, height: int, selected: bool = False
) -> Panel:
    """The last lines of a VM's console; the selected one gets the keys."""
    lines = [] if transcript is None else [line.text for line in transcript.lines[-height:]]
    text = Text("\n".join(clean(line) for line in lines), no_wrap=True, overflow="ellipsis")
    style = "bold yellow" if selected else "blue"
    return Panel(text, title=name, title_align="left", height=height + 2, border_style=style)


def summary(result: Result, records: Sequence[TaskRecord], width: int) -> Group:
    """The summary of a run, for a screen or a file."""
    parts: list[RenderableType] = [vm_table(rows_of(result))]
    if result.budgets:
        parts.append(budget_table(result.budgets))
    for record in records:
        period = duration(record.task.period_ns)
        parts.append(Text(f"{record.task.vm}: {record.task.name} every {period}", "bold"))
        parts += [loop_line(path) for path in paths_of(record, result.paths)]
        parts.append(task_figures(record))
        if (turns := turns_line(record)) is not None:
            parts.append(turns)
        if record.latency.total:
            parts.append(Text("\nlatency from release to body", "dim"))
            parts.append(histogram(record.latency, max(10, min(60, width - 24)), bar="#"))
    parts += [line for vm in result.vms for line in process_lines(vm)]
    for path in result.paths or []:
        if path.name is not None:
            continue
        spread = str(path.min) if path.min == path.max else f"{path.min} to {path.max}"
        parts.append(
            f"path {path.start} to {path.end} on CPU {path.vcpu}: {spread} instructions,"
            f" {path.count:,} times"
        )
    if result.note and (records or result.timing == "deterministic"):
        parts.append(Text(result.note, "italic"))
    return Group(*parts)


def _bad(count: int) -> Text:
    return Text(f"{count:,}", "bold red" if count else "")
