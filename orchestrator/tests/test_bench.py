"""What a measuring run says, made into rows."""

import pytest

from tenonos.bench.machine import Trace
from tenonos.bench.row import Kinds, Row
from tenonos.bench.suites import NAMES, READS, rows_of
from tenonos.errors import WorkError
from tenonos.run.plugin import Passage


def passage(name, instructions, *kinds):
    path = READS if name == "reads" else NAMES.index(name)
    return Passage(path, 0, instructions, *kinds)


def test_lines_and_passages_are_joined():
    lines = (
        "overhead 3",
        "phase irq plain",
        "measured sched yield threads=2 fp=false samples=3",
        "40 x 2",
        "41 x 1",
        "end of bench",
    )
    passages = (
        passage("entry", 21),
        passage("exit", 16, 0, 2, 0),
        passage("boundary", 99),
        passage("reads", 7),
        passage("reads", 43, 0, 2, 0),
        passage("reads", 44, 1, 2, 0),
        passage("boundary", 99),
    )
    entry, leave, turn = rows_of(Trace(lines, passages))
    assert (entry.suite, entry.name, entry.params, entry.median) == (
        "irq",
        "entry",
        {"fp": False},
        21,
    )
    assert leave.median == 17, "the exception return counts"
    assert leave.kinds == Kinds(0, 2, 0)
    assert (turn.params, turn.samples) == ({"threads": 2, "fp": False}, 3)
    assert (turn.min, turn.median, turn.p99, turn.max) == (40, 40, 41, 41)
    assert turn.kinds == Kinds(0, 2, 0), "of a typical passage, found by its length"


def test_a_percentile_is_a_value_that_occurred():
    row = Row.of(("a", "b"), {}, [*range(100)])
    assert (row.min, row.median, row.p99, row.max) == (0, 50, 99, 99)


def test_a_run_cut_short_is_told():
    with pytest.raises(WorkError, match="irq plain"):
        list(rows_of(Trace(("phase irq plain",), ())))
