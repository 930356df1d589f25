"""The report on a system as one self-contained page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tenonos import markup, paths
from tenonos.explore.oracle import Verdict, unbeaten
from tenonos.plan.models import Item
from tenonos.plan.report import DEMAND, analysis_lines, demand, meanings
from tenonos.report import cores
from tenonos.report.gather import Composed, Found
from tenonos.report.plot import Bar, Frame, Histogram, Line, bars, chart, histogram, linear
from tenonos.run.formats import CAUSES
from tenonos.run.result import PeriodicResult, VmResult
from tenonos.system.units import duration_text, size_text

SECTIONS = (("text", "ours"), ("rodata", "second"), ("data", "third"))
"""The sections of an image, with the colour of each in a bar."""
WIDE = Frame(width=1040, names=260)
MOST = 24
"""Libraries in the plot; the table has all."""


def page(found: Found) -> str:
    """The whole page."""
    name = found.system.name
    owners = _owners(found.sizes)
    return markup.render(
        "report.html",
        title=f"{name}: report",
        name=name,
        failure=found.result.failure,
        tiles=[*_tiles(found)],
        cpus=range(found.system.board.cpus),
        rows=cores.rows(found.system),
        channels=[f"{c.name}: {c.origin} → {c.to}" for c in found.system.channels],
        composed=None if found.composed is None else _composed(found.composed),
        latencies=[*_latencies(found)],
        tasks=[*map(_task, found.result.periodic)],
        vm_heads=["VM", "kind", "CPUs", "state", *map("exits: {}".format, CAUSES), "in the window"],
        vms=[*map(_vm, found.result.vms)],
        images=_images(found.sizes),
        libraries=_libraries(owners),
        owners=[
            [o["name"], o.get("sloc", ""), f"{o['text']:,}", " ".join(o["in"])] for o in owners
        ],
        explored=_explored(found.explored) if found.explored else None,
        command=paths.command(),
        seconds=f"{found.seconds:g}",
    )


def _tiles(found: Found) -> Iterator[tuple[str, str]]:
    """The headline figures with labels."""
    tasks = found.result.periodic
    if tasks:
        worst = max(task.latency_ns.max for task in tasks)
        lost = sum(task.released - task.completed + task.late for task in tasks)
        yield f"{worst:,}", "instructions from a release to its body, at most"
        yield f"{lost:,}", f"of {sum(t.released for t in tasks):,} releases lost or late"
    exits = sum(vm.exits_in_window for vm in found.result.vms if vm.kind == "tenon")
    yield f"{exits:,}", "exits of real-time VMs meanwhile"
    total = sum(image["total"] for image in found.sizes["images"])
    yield f"{total:,}", "bytes of all images, zeroed memory included"


def _composed(composed: Composed) -> dict[str, Any]:
    """The objective, the demands read from it, and the reasons of the choice."""
    record = composed.record
    return {
        "objective": marked(record["objective"], composed.plan),
        "heads": DEMAND,
        "plan": [*map(demand, composed.plan)],
        "images": [
            [
                name,
                image["kind"],
                ",".join(map(str, image["cpus"])),
                size_text(image["memory"]) if image["memory"] else "",
                " ".join(image["capabilities"]),
            ]
            for name, image in record["images"].items()
        ],
        "made": composed.made,
        "guarantees": [line.strip() for line in analysis_lines(composed.analysis)],
        "resources": _resources(composed),
        "unit": record["cost"]["unit"],
        "because": [
            [e.name, e.image, "" if e.cost is None else str(e.cost), e.because]
            for e in composed.because
        ],
        "parameters": [[image, p.symbol, p.value, p.because] for image, p in composed.parameters],
    }


def marked(objective: str, plan: Sequence[Item]) -> str:
    """The objective with the words that became demands marked, each with what it became."""
    return markup.marked(objective, meanings(plan))


def _resources(composed: Composed) -> str | None:
    """Use of the board's resources by the VMs, in percent."""
    percents = {
        resource.name: 100 * resource.used / resource.available
        for resource in composed.analysis.resources
        if resource.available
    }
    shares = [
        Bar(name, [("taken", percent, "ours")], [f"{percent:.3g} %"])
        for name, percent in percents.items()
    ]
    return bars("Resources", shares, 100, WIDE) if shares else None


def _latencies(found: Found) -> Iterator[tuple[str, str, str]]:
    """For each task a histogram of its latency, with title and caption; one value is a figure."""
    for task in found.result.periodic:
        if counts := found.latencies.get((task.vm, task.task)):
            plot = _only(counts) or histogram(
                f"Latency of {task.task}",
                "instructions from release to body",
                Histogram(f"{task.completed:,} releases", counts),
            )
            yield f"{task.vm}: {task.task}", plot, f"Every {duration_text(task.period_ns)}"


def _only(counts: Mapping[int, int]) -> str:
    """The value that all samples have; empty if they differ."""
    if len(counts) > 1:
        return ""
    ((value, count),) = counts.items()
    return markup.single(f"{value:,}", f"instructions, in each of {count:,} releases")


def _task(task: PeriodicResult) -> list[str]:
    spread = task.latency_ns
    numbers = (task.released, task.completed, task.late)
    numbers += (spread.min, spread.p50, spread.p99, spread.max)
    return [f"{task.vm}: {task.task}", *(f"{number:,}" for number in numbers)]


def _vm(vm: VmResult) -> list[str]:
    return [
        vm.name,
        vm.kind,
        ",".join(map(str, vm.cpus)),
        vm.state,
        *(f"{getattr(vm.exits, cause):,}" for cause in CAUSES),
        f"{vm.exits_in_window:,}",
    ]


def _images(sizes: Mapping[str, Any]) -> str:
    drawn = [
        Bar(
            image["name"],
            [(kind, image[kind], style) for kind, style in SECTIONS],
            [f"{sum(image[kind] for kind, _ in SECTIONS):,}"],
        )
        for image in sizes["images"]
    ]
    most = max(sum(value for _, value, _ in bar.pieces) for bar in drawn)
    return bars("Images", drawn, most, WIDE)


def _owners(sizes: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Libraries and crates from outside, the largest first."""
    return sorted([*sizes["libraries"], *sizes["third_party"]], key=lambda one: -one["text"])


def _libraries(owners: Sequence[Mapping[str, Any]]) -> str:
    drawn = [
        Bar(o["name"], [("text", o["text"], _colour(o))], [f"{o['text']:,}"]) for o in owners[:MOST]
    ]
    return bars("Libraries", drawn, owners[0]["text"] or 1, WIDE)


def _colour(owner: Mapping[str, Any]) -> str:
    if "sloc" not in owner:
        return "peer"
    return "fourth" if len(owner["in"]) > 1 else "ours"


def _explored(explored: Mapping[str, Verdict]) -> dict[str, Any]:
    """The alternatives: each measure over the size, and the Pareto front in a table."""
    good = {what: verdict for what, verdict in explored.items() if verdict.good}
    best = unbeaten(explored)
    return {
        "good": len(good),
        "all": len(explored),
        "plots": [
            (f"{name} over size", plot, "The line joins what nothing else beats.")
            for name in ("latency", "boot")
            if (plot := _scatter(name, good, best))
        ],
        "best": [
            [what, *("" if n is None else f"{n:,}" for n in (v.size, v.latency, v.boot))]
            for what, v in best.items()
        ],
    }


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
