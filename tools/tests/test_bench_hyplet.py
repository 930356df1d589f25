"""What a hyplet's timer says of itself, and what is counted of it and of changing hands."""

import time

import pytest

from tenonos.errors import WorkError
from tenonos.run.plugin import IDLE as WAITING
from tenonos.run.plugin import NOBODY, OTHER, Passage, Visit
from tools.bench import handover
from tools.bench.hyplet import FULL, LOADS, RATES, SETTING, Run, Watch, judge, of, runs

IDLE, BUSY = Run("idle", 20), Run("io", 20)
CPU, WAIT = 3, 0x400


def test_what_is_right_passes():
    judge(IDLE, 2000, 0, 0, 32, 48, 9000)


@pytest.mark.parametrize(
    ("run", "told"),
    [
        (BUSY, (2000, 1, 0, 32, 48, 48)),
        (BUSY, (1999, 0, 0, 32, 48, 48)),
        (IDLE, (2000, 0, 1, 32, 48, 48)),
        (IDLE, (2000, 0, 0, 32, 240, 240)),
    ],
)
def test_a_release_that_was_not_right_is_an_error(run, told):
    with pytest.raises(WorkError):
        judge(run, *told)


def test_beside_busy_cores_the_clock_does_not_judge():
    judge(BUSY, 2000, 0, 3, 32, 9000, 9000)


def way(instructions, *, cpu=CPU, before=WAITING, entry=WAIT):
    return Visit(cpu, before, OTHER, entry, instructions, instructions, 0, 0, 1, 2, 3)


def test_the_full_form_has_every_rate_beside_every_load():
    full = [*runs(full=True)]
    assert {(run.load, run.khz) for run in full} == {(load, khz) for load in LOADS for khz in RATES}
    assert {run.releases for run in full if run.khz == 20} == {FULL}
    assert {(run.load, run.khz) for run in runs(full=False)} < {(r.load, r.khz) for r in full}


def test_only_ways_out_of_the_wait_count_and_a_long_run_says_how_far_it_is():
    told = []
    watch = Watch([Run("idle", 1, 2), Run("io", 20, 50_000)], told.append, CPU)
    others = (way(9, cpu=1), way(9, before=OTHER), way(9, before=NOBODY), way(9, entry=0x80))
    for record in (*others, way(37), way(37), *(way(38) for _ in range(45_000))):
        watch.take(record)
    assert len(watch.ways) == 45_002
    assert [line.partition(", ")[2] for line in told][-3:] == [
        "20 kHz beside io",
        "20 kHz beside io, 20000 of 50000",
        "20 kHz beside io, 40000 of 50000",
    ]


def test_a_full_run_becomes_its_rows_at_once():
    began = time.process_time()
    jitter, path = of(Run("io", 20, FULL), [way(37 + n % 2) for n in range(FULL)])
    assert (jitter.samples, jitter.min, jitter.max) == (FULL, 0, 1)
    assert (path.min, path.max, path.kinds.barriers) == (37, 38, 1)
    assert time.process_time() - began < 20, "not by the square of its releases"


def change(mortise, linux):
    return Passage(0, 0, 0, el2_everywhere=mortise, other_everywhere=linux)


def test_a_change_of_hands_is_reported_in_parts():
    passages = [change(10, 700), change(20, 600), change(12, 800), change(22, 500)]
    rows = {tuple(row.params.values()): row for row in handover.rows(SETTING, 2, passages)}
    assert (rows["to_mortise",].min, rows["to_mortise",].max) == (710, 812)
    assert rows["to_linux", "mortise"].max == 22
    assert rows["to_linux", "linux"].min == 500
    with pytest.raises(WorkError, match="of 2 changes"):
        [*handover.rows(SETTING, 2, passages[:3])]
