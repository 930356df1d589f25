"""Timelines in the trace event format, which ui.perfetto.dev and chrome://tracing open.

A VM is a process. Its tracks are threads of that process: for each core the running thread and the
interrupt being served, for each thread its states, for each mark its slices, for each lock its
holder. The priorities of a thread are curves, and arguments of its slices. Times are microseconds,
with nanoseconds as decimals.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from tenonos.trace.descriptions import Priorities
from tenonos.trace.timeline import Timeline

_COLOURS = {"running": "thread_state_running", "ready": "thread_state_runnable"}


def write(timelines: Iterable[Timeline], file: Path) -> None:
    """Write a file, one event to a line."""
    lines = (json.dumps(event, ensure_ascii=False) for each in _all(timelines) for event in each)
    with file.open("w", encoding="utf-8") as out:
        out.write('{"displayTimeUnit": "ns", "traceEvents": [\n')
        out.write(",\n".join(lines))
        out.write("\n]}\n")


def _all(timelines: Iterable[Timeline]) -> Iterator[Iterator[dict[str, Any]]]:
    flows = 0
    for process, made in enumerate(timelines, 1):
        yield events(made, process, flows)
        flows += len(made.flows)


def events(made: Timeline, process: int, flows: int = 0) -> Iterator[dict[str, Any]]:
    """The events of one timeline; the numbers of its flows begin after `flows`."""
    order = [*made.cores, *made.threads, *made.marks, *made.locks]
    tracks = {name: at for at, name in enumerate(order, 1)}
    yield _meta("process_name", process, 0, name=made.name)
    for name, track in tracks.items():
        yield _meta("thread_name", process, track, name=name)
        yield _meta("thread_sort_index", process, track, sort_index=track)
    for piece in sorted(made.slices, key=lambda piece: (piece.start, -piece.end)):
        event = _event("X", piece.name, process, tracks[piece.track], piece.start)
        event["dur"] = (piece.end - piece.start) / 1000
        if piece.name in _COLOURS:
            event["cname"] = _COLOURS[piece.name]
        if piece.priorities is not None:
            event["args"] = _priorities(piece.priorities)
        yield event
    for instant in made.instants:
        yield _event("i", instant.name, process, tracks[instant.track], instant.at) | {"s": "t"}
    for number, flow in enumerate(made.flows, flows + 1):
        start = _event("s", "wakes", process, tracks[flow.source], flow.start)
        finish = _event("f", "wakes", process, tracks[flow.target], flow.end)
        yield start | {"id": number, "cat": "wake"}
        yield finish | {"id": number, "cat": "wake", "bp": "e"}
    for sample in made.samples:
        yield _event("C", sample.name, process, 0, sample.at) | {"args": {"value": sample.value}}
    for change in made.changes:
        curve = _event("C", f"{change.track} priority", process, 0, change.at)
        yield curve | {"args": _priorities(change.priorities)}


def _priorities(known: Priorities) -> dict[str, int]:
    return {"base": known.base, "effective": known.effective}


def _event(kind: str, name: str, process: int, track: int, time: int) -> dict[str, Any]:
    return {"ph": kind, "name": name, "pid": process, "tid": track, "ts": time / 1000}


def _meta(what: str, process: int, track: int, **values: Any) -> dict[str, Any]:
    return {"ph": "M", "name": what, "pid": process, "tid": track, "args": values}
