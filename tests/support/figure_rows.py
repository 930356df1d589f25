"""Rows of `./tenon bench` for tests: measured ones by environment, and the recorded ones."""

import pytest

from tenonos.analysis.recorded import RecordedRows, tools
from tools.bench.row import Kinds, Row

KERNELS = ("sched", "irq", "timer", "thread-metric")
"""The suites of operations with equal cost on the bare machine and in a VM."""


def rows(result, environment="bare"):
    for entry in result:
        if entry["environment"] == environment:
            names = ("suite", "name", "params", "samples", "min", "median", "p99", "max")
            kinds = Kinds(entry["barriers"], entry["sysreg_writes"], entry["mmio"])
            values = {name: entry[name] for name in names}
            yield Row(**values, kinds=kinds, environment=environment)


def recorded_rows():
    """The recorded rows; skips the test if they were measured with other tools."""
    found = RecordedRows.load()
    here = tools()
    other = {key: found.made[key] for key in ("qemu", "rust") if found.made[key] != here[key]}
    if other:
        pytest.skip(f"the recorded rows are of {other}")
    return found
