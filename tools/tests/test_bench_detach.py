"""What the bench of detached programs has Linux do, and how it judges them."""

import pytest

from tenonos.errors import WorkError
from tools.bench.detach import FWQ, LOOP, SIGNALS, Run, judge, runs, signals
from tools.bench.loads import LOADS

CPUS = (3, (0, 1, 2))


def test_a_program_runs_on_the_lent_cpu_beside_a_load_on_each_other():
    lines = Run(FWQ, 20, "io").script(*CPUS).splitlines()
    assert lines[0].startswith("for cpu in 0 1 2; do (") and LOADS["io"] in lines[0]
    assert "tenon-detach --cpu 3 fwq 20" in lines
    attached = Run(LOOP, 20, "io", attached=True).script(*CPUS).splitlines()
    assert "taskset 8 control-loop 20" in attached


def test_who_is_sent_signals_is_a_child_of_the_sender():
    lines = Run(SIGNALS, 20, signal="stop").script(*CPUS).splitlines()
    assert "signal-time 20 stop" in lines


def test_each_load_is_measured_detached_and_all_in_full():
    for full in (False, True):
        detached = [run for run in runs(full) if not run.attached]
        wanted = [(program, load) for program in (FWQ, LOOP) for load in LOADS]
        assert [(run.program, run.load) for run in detached] == [*wanted, *[(SIGNALS, "idle")] * 3]
        often = (run for run in detached if run.signal != "kill")
        assert not full or all(run.samples == 10_000 for run in often)


def test_linux_has_its_cpu_for_the_programs_it_keeps():
    # One that was lent comes back a while after its program's end.
    attached = [run.attached for run in runs(False)]
    assert attached == sorted(attached, reverse=True)


def test_what_is_right_passes():
    judge(Run(FWQ, 20), (20, 100_000, 100_000, 4_100_000))
    judge(Run(LOOP, 20), (20, 0, 0))
    judge(Run(LOOP, 20, "io"), (20, 0, 7))


@pytest.mark.parametrize(
    ("run", "told"),
    [
        (Run(FWQ, 20), (19, 100_000, 0, 0)),
        (Run(LOOP, 20, "io"), (20, 1, 0)),
        (Run(LOOP, 20), (20, 0, 1)),
    ],
)
def test_what_a_program_did_wrong_is_an_error(run, told):
    with pytest.raises(WorkError):
        judge(run, told)


def test_signals_are_told_as_the_program_saw_them():
    row = signals([400, 25_000, 26_000, 28_000, 31_000], "stop")
    assert row.params == {"signal": "stop"}
    assert row.statistics == (25_000, 26_000, 28_000, 31_000) and row.samples == 400
