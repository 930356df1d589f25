"""Writer of trace files, in the format given by the file name."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tenonos import outputs
from tenonos.errors import InputError
from tenonos.trace import ctf, perfetto
from tenonos.trace.collect import VmTrace
from tenonos.trace.timeline import timeline

FORMATS = ".json for Perfetto, or .ctf for a folder in the Common Trace Format"


def check(file: Path) -> Path:
    """The file, if its name has a known format and its folder exists."""
    if file.suffix not in (".json", ".ctf"):
        raise InputError(f"{file.name} has no known trace format", "--trace", f"write {FORMATS}")
    outputs.check(file, "--trace")
    return file


def write(traces: Sequence[VmTrace], file: Path) -> str:
    """Write it; the result, in words."""
    with outputs.writing(file):
        if file.suffix == ".ctf":
            ctf.write(traces, file)
        else:
            perfetto.write(map(timeline, traces), file)
    events = sum(len(core.events) for trace in traces for core in trace.cores)
    lost = sum(core.lost for trace in traces for core in trace.cores)
    how = "ui.perfetto.dev" if file.suffix == ".json" else "babeltrace2 or Trace Compass"
    gone = f", {lost:,} more were overwritten before they were read" if lost else ""
    return f"{events:,} events in {file}{gone}; open it in {how}"
