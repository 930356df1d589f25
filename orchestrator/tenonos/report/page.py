"""The report as one page that needs nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

from tenonos import markup, paths
from tenonos.bench.plot import Bar, Frame, Histogram, Line, bars, chart, histogram, linear
from tenonos.explore.oracle import Verdict, unbeaten
from tenonos.plan.models import Item
from tenonos.plan.report import DEMAND, analysis_lines, demand, value_text
from tenonos.report.gather import Composed, Found
from tenonos.run.formats import CAUSES
from tenonos.run.result import PeriodicResult
from tenonos.system.units import duration_text, size_text

SECTIONS = (("text", "ours"), ("rodata", "second"), ("data", "third"), ("bss", "track"))
"""What an image is made of, with the class of its piece of a bar."""
WIDE = Frame(width=1040, names=260)
MOST = 24
"""Libraries that are drawn; the table has all."""


def page(found: Found) -> str:
    """The whole page."""
    name = found.system.name
    body = [f"<h1>{escape(name)}</h1>", *_head(found)]
    if found.composed is not None:
        body += [*_asked(found.composed), *_talking(found.composed)]
        body += _guaranteed(found.composed)
    body += [*_measured(found), *_sizes(found.sizes)]
    if found.explored:
        body += _explored(found.explored)
    if found.composed is not None:
        body += _because(found.composed)
    body.append(
        f"<footer>Made by <code>{escape(paths.command())} report</code>: built as it is, and run "
        f"for {found.seconds:g} s of guest time in the deterministic emulator, where one "
        "instruction is one nanosecond. Instructions are neither cycles nor a board's time."
        "</footer>"
    )
    return markup.document(f"{name}: report", body)


def _head(found: Found) -> Iterator[str]:
    tasks = found.result.periodic
    shown = []
    if tasks:
        worst = max(task.latency_ns.max for task in tasks)
        lost = sum(task.released - task.completed + task.late for task in tasks)
        shown.append((f"{worst:,}", "instructions from a release to its body, at most"))
        shown.append((f"{lost:,}", f"of {sum(t.released for t in tasks):,} releases lost or late"))
    exits = sum(vm.exits_in_window for vm in found.result.vms if vm.kind == "tenon")
    shown.append((f"{exits:,}", "exits of real-time VMs meanwhile"))
    total = sum(image["total"] for image in found.sizes["images"])
    shown.append((f"{total:,}", "bytes of all images, zeroed memory included"))
    if found.result.failure is not None:
        yield f'<p class="bad">{escape(found.result.failure)}</p>'
    yield markup.tiles(shown)


def _asked(composed: Composed) -> Iterator[str]:
    record, plan = composed.record, composed.plan
    yield "<h2>What was asked for</h2>"
    yield f"<blockquote>{marked(record['objective'], plan)}</blockquote>"
    yield markup.folded(
        f"{len(plan)} demands and defaults",
        markup.table(DEMAND, markup.rows(map(demand, plan))),
    )
    images = record["images"]
    yield "<h3>Images</h3>"
    yield markup.table(
        ["image", "kind", "CPUs", "memory", "capabilities"],
        markup.rows(
            [
                name,
                image["kind"],
                ",".join(map(str, image["cpus"])),
                size_text(image["memory"]) if image["memory"] else "",
                " ".join(image["capabilities"]),
            ]
            for name, image in images.items()
        ),
    )


def marked(objective: str, plan: Sequence[Item]) -> str:
    """The objective with the words that became demands marked, each with what it became."""
    told: dict[tuple[int, int], list[str]] = {}
    for item in plan:
        if item.span:
            told.setdefault(item.span, []).append(f"{item.kind} {value_text(item)}")
    parts, at = [], 0
    for (start, end), meanings in sorted(told.items()):
        if start < at:
            continue
        parts.append(escape(objective[at:start]))
        words = escape(objective[start:end])
        parts.append(f'<mark title="{escape(", ".join(meanings))}">{words}</mark>')
        at = end
    return "".join([*parts, escape(objective[at:])])


def _talking(composed: Composed) -> Iterator[str]:
    if composed.made:
        yield "<h2>Channels, VMs made on demand, devices</h2>"
        yield f"<ul>{''.join(f'<li>{escape(line)}</li>' for line in composed.made)}</ul>"


def _guaranteed(composed: Composed) -> Iterator[str]:
    lines = analysis_lines(composed.analysis)
    if lines:
        yield "<h2>What is guaranteed</h2>"
        yield f"<ul>{''.join(f'<li>{escape(line.strip())}</li>' for line in lines)}</ul>"
    # Each in percent of what there is of it.
    percents = {
        resource.name: 100 * resource.used / resource.available
        for resource in composed.analysis.resources
        if resource.available
    }
    shares = [
        Bar(name, [("taken", percent, "ours")], [f"{percent:.3g} %"])
        for name, percent in percents.items()
    ]
    if shares:
        plot = bars("Resources", shares, 100, WIDE)
        yield markup.figure("Of the board", plot, "Taken by the VMs, in percent of what there is.")


def _measured(found: Found) -> Iterator[str]:
    yield "<h2>What it did</h2>"
    plots = [
        markup.figure(
            f"{task.vm}: {task.task}",
            _latency(found, task),
            f"Every {duration_text(task.period_ns)}",
        )
        for task in found.result.periodic
        if found.latencies.get((task.vm, task.task))
    ]
    if plots:
        yield f'<div class="plots">{"".join(plots)}</div>'
    heads = ["task", "released", "completed", "late", "min", "median", "p99", "max"]
    if found.result.periodic:
        yield markup.table(heads, markup.rows(list(map(_task, found.result.periodic))))
    yield markup.table(
        ["VM", "kind", "CPUs", "state", *(f"exits: {cause}" for cause in CAUSES), "in the window"],
        markup.rows(
            [
                vm.name,
                vm.kind,
                ",".join(map(str, vm.cpus)),
                vm.state,
                *(f"{getattr(vm.exits, cause):,}" for cause in CAUSES),
                f"{vm.exits_in_window:,}",
            ]
            for vm in found.result.vms
        ),
    )


def _latency(found: Found, task: PeriodicResult) -> str:
    counts = found.latencies[task.vm, task.task]
    return histogram(
        f"Latency of {task.task}",
        "instructions from release to body",
        Histogram(f"{task.completed:,} releases", counts),
    )


def _task(task: PeriodicResult) -> list[str]:
    spread = task.latency_ns
    numbers = (task.released, task.completed, task.late)
    numbers += (spread.min, spread.p50, spread.p99, spread.max)
    return [f"{task.vm}: {task.task}", *(f"{number:,}" for number in numbers)]


def _sizes(sizes: Mapping[str, Any]) -> Iterator[str]:
    yield "<h2>What it is made of</h2>"
    images = sizes["images"]
    drawn = [
        Bar(
            image["name"],
            [(kind, image[kind], style) for kind, style in SECTIONS if kind != "bss"],
            [f"{sum(image[kind] for kind, _ in SECTIONS if kind != 'bss'):,}"],
        )
        for image in images
    ]
    most = max(sum(value for _, value, _ in bar.pieces) for bar in drawn)
    words = "Bytes of code, constants and data, without zeroed memory."
    yield markup.figure("Images", bars("Images", drawn, most, WIDE), words)
    owners = sorted([*sizes["libraries"], *sizes["third_party"]], key=lambda one: -one["text"])
    shared = [Bar(o["name"], [("text", o["text"], _class(o))], [f"{o['text']:,}"]) for o in owners]
    plot = bars("Libraries", shared[:MOST], owners[0]["text"] or 1, WIDE)
    words = "Bytes of code; darker what more than one image has, brown what is not of the pool."
    yield markup.figure("Libraries", plot, words)
    yield markup.folded(
        f"all {len(owners)}",
        markup.table(
            ["library", "lines", "bytes of code", "in"],
            markup.rows(
                [o["name"], o.get("sloc", ""), f"{o['text']:,}", " ".join(o["in"])] for o in owners
            ),
        ),
    )


def _class(owner: Mapping[str, Any]) -> str:
    if "sloc" not in owner:
        return "peer"
    return "fourth" if len(owner["in"]) > 1 else "ours"


def _explored(explored: Mapping[str, Verdict]) -> Iterator[str]:
    """What else it could be: each measure over the size, and the front in a table."""
    good = {what: verdict for what, verdict in explored.items() if verdict.good}
    best = unbeaten(explored)
    yield "<h2>What else it could be</h2>"
    yield f"<p>{len(good)} of {len(explored)} alternatives are good.</p>"
    plots = [
        markup.figure(f"{name} over size", plot, "The line joins what nothing else beats.")
        for name in ("latency", "boot")
        if (plot := _scatter(name, good, best))
    ]
    yield f'<div class="plots">{"".join(plots)}</div>'
    yield markup.table(
        ["what is otherwise", "bytes", "latency", "boot"],
        markup.rows(
            [what, *("" if n is None else f"{n:,}" for n in (v.size, v.latency, v.boot))]
            for what, v in best.items()
        ),
    )


def _scatter(name: str, good: Mapping[str, Verdict], best: Mapping[str, Verdict]) -> str | None:
    def points(verdicts: Mapping[str, Verdict]) -> list[tuple[int, int]]:
        return sorted((v.size or 0, getattr(v, name)) for v in verdicts.values())

    if not good or any(getattr(verdict, name) is None for verdict in good.values()):
        return None
    rest = {what: verdict for what, verdict in good.items() if what not in best}
    every = points(good)
    x = linear("bytes", max(a for a, _ in every))
    y = linear(f"{name}, instructions", max(b for _, b in every))
    lines = [Line("best", "ours", points(best))]
    if rest:
        lines.append(Line("others", "peer", points(rest), loose=True))
    return chart(f"{name} over size", x, y, lines)


def _because(composed: Composed) -> Iterator[str]:
    yield "<h2>Why each library</h2>"
    unit = composed.record["cost"]["unit"]
    lines = [
        [e.name, e.image, "" if e.cost is None else str(e.cost), e.because]
        for e in composed.because
    ]
    yield markup.folded(
        f"{len(lines)} choices",
        markup.table(["library", "image", unit, "because"], markup.rows(lines)),
    )
    yield "<h2>Why each parameter</h2>"
    lines = [[image, p.symbol, p.value, p.because] for image, p in composed.parameters]
    yield markup.folded(
        f"{len(lines)} values",
        markup.table(["image", "parameter", "value", "because"], markup.rows(lines)),
    )
