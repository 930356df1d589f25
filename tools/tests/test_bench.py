"""Rows from the output of a measuring run, with goals and peers."""

import os
import re
import threading
from types import SimpleNamespace

import pytest

from tenonos.errors import InputError, WorkError
from tenonos.run.console import RAW
from tenonos.run.plugin import Passage
from tools.bench import choose
from tools.bench.figures import figures, with_sums
from tools.bench.machine import Trace, heard
from tools.bench.reading import MARKED, NAMES, Setting, rows_of
from tools.bench.row import Kinds, Row
from tools.bench.show import compared, groups
from tools.bench.suites import SUITES
from tools.commands.bench import command

BARE = Setting("bench-bare")
LINES = (
    "overhead 3",
    "phase irq plain",
    "measured sched yield threads=2 samples=3",
    "40 x 2",
    "41 x 1",
    "end of bench",
)


def passage(name, instructions, *kinds):
    path = MARKED if name == "marked" else NAMES.index(name)
    return Passage(path, 0, instructions, *kinds)


def passages(*turns):
    """Those of `LINES`: the overhead from outside is 5."""
    return (
        passage("marked", 5),
        passage("marked", 6),
        passage("boundary", 99),
        passage("entry", 21),
        passage("exit", 16, 0, 2, 0),
        passage("boundary", 99),
        *turns,
        passage("marked", 77),
        passage("boundary", 99),
    )


SAME = (
    passage("marked", 45, 0, 2, 0),
    passage("marked", 45, 0, 2, 0),
    passage("marked", 46, 1, 2, 0),
)


def test_lines_and_passages_are_joined():
    entry, leave, turn = rows_of(Trace(LINES, passages(*SAME)), BARE)
    assert entry.key == ("irq", "entry", '{"fp": false}')
    assert entry.median == 21
    assert leave.median == 17, "the exception return counts"
    assert leave.kinds == Kinds(0, 2, 0)
    assert (turn.params, turn.samples) == ({"threads": 2, "fp": False}, 3)
    assert (turn.min, turn.median, turn.p99, turn.max) == (40, 40, 41, 41)
    assert turn.kinds == Kinds(0, 2, 0), "of a typical passage"


def test_two_witnesses_must_agree_on_the_bare_machine():
    other = (*SAME[:2], passage("marked", 49, 1, 2, 0))
    with pytest.raises(WorkError, match="yield: the core counts 41 and the plugin 44"):
        list(rows_of(Trace(LINES, passages(*other)), BARE))
    under = Setting("bench-bare", "mortise-static")
    *_, turn = rows_of(Trace(LINES, passages(*other)), under)
    assert turn.max == 44, "what exits take is seen from outside only"


def test_a_sample_that_nobody_saw_is_reported():
    few = (passage("marked", 45),)
    with pytest.raises(WorkError, match="yield: 3 samples, 3 read, 2 seen"):
        list(rows_of(Trace(LINES, passages(*few)), BARE))


def test_a_percentile_is_a_value_that_occurred():
    row = Row.of(("a", "b"), {}, [*range(100)])
    assert (row.min, row.median, row.p99, row.max) == (0, 50, 99, 99)


def test_several_operations_of_a_sample_share_it():
    row = BARE.row(("thread-metric", "preemptive"), {}, [612, 622], Kinds())
    assert (row.min, row.max) == (122.4, 124.4)


def test_a_run_cut_short_is_reported():
    with pytest.raises(WorkError, match="irq plain"):
        list(rows_of(Trace(("phase irq plain",), ()), BARE))


def test_a_row_is_held_against_its_goal():
    row = BARE.row(("sched", "yield"), {"threads": 2}, [39, 39, 41], Kinds())
    figure = figures().of(row)
    assert figure.goal == 40 and figure.met(row), "the median"
    values = [peer.value for peer in figure.peers]
    assert values == sorted(values) and len(values) > 2, "the best first"
    longest = BARE.row(("timer", "masked_max"), {"pending": 1}, [100, 100, 601], Kinds())
    assert figures().missed([row, longest]) == [longest], "the maximum"
    assert figures().of(Row.of(("sched", "nothing"), {}, [1])) is None
    assert figures().of(Row.of(("sched", "sem_preempt"), {"fp": True}, [1])) is None


def test_the_parts_of_a_size_have_a_sum():
    sizes = {"text": 4, "rodata": 3, "data": 2, "bss": 9_000}
    rows = [Row.of(("size", "tenon_hello"), {"part": part}, [n]) for part, n in sizes.items()]
    total = with_sums(rows)[-1]
    assert total.median == 9 and figures().of(total).goal == 8192
    assert with_sums(rows[1:]) == rows[1:], "no sum of a part that is missing"


def test_environments_are_compared():
    bare = Row.of(("a", "b"), {}, [1, 2, 3])
    same, other = (Row.of(("a", "b"), {}, [1, 2, n], environment="vm") for n in (3, 5))
    assert compared(bare, same) == "="
    assert compared(bare, other) == "p99 +2, max +2"
    assert [len(group) for group in groups([bare, other])] == [2]


def test_every_figure_names_what_can_be_measured():
    suites = choose([]).suites
    assert {figure.suite for figure in figures().all} <= suites
    keys = [(figure.suite, figure.name, str(figure.params)) for figure in figures().all]
    assert len(keys) == len({*keys})


def test_what_is_not_known_is_refused():
    with pytest.raises(InputError, match='no suite "speed"'):
        choose(["speed"])
    with pytest.raises(InputError, match='no environment "hardware"'):
        choose([], ["hardware"])


def test_the_last_line_is_heard_to_its_end():
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb", buffering=0) as output, os.fdopen(writing, "wb", 0) as serial:
        process = SimpleNamespace(kill=serial.close)
        machine = SimpleNamespace(output=output, process=process)
        serial.write(b"[    0.1] begin\n[    0.2] end of")
        later = threading.Timer(0.2, serial.write, [b" soak, late_ns=1..2\nmore"])
        later.start()
        lines = heard(machine, RAW, "end of", 10)
        later.join()
    assert lines == ["begin", "end of soak, late_ns=1..2"]


def test_the_help_lists_the_suites():
    text = " ".join((command.__doc__ or "").split())
    listed = re.search(r"Suites: ([^.]*)\.", text)
    assert listed and tuple(listed[1].split(", ")) == SUITES
