"""What the bench of detached programs has Linux do, and what it takes for foreign."""

from tenonos.bench.detach import LOADS, Run, foreign, runs
from tenonos.run.plugin import Passage


def test_a_quantum_without_anybody_else_is_the_program_s():
    assert foreign(Passage(0, 3, 0, other=100_001), 100_000) == 0


def test_linux_and_mortise_are_foreign():
    assert foreign(Passage(0, 3, 40, el2=40, other=100_003), 100_000) == 42


def test_the_program_runs_on_the_lent_cpu_beside_a_load_on_each_other():
    lines = Run("io", 20).script(3, (0, 1, 2)).splitlines()
    assert lines[0].startswith("for cpu in 0 1 2; do (") and LOADS["io"] in lines[0]
    assert "tenon-detach --cpu 3 fwq 20" in lines
    assert "taskset 8 fwq 20" in Run("io", 20, attached=True).script(3, (0, 1, 2)).splitlines()


def test_each_load_is_measured_detached():
    for full in (False, True):
        assert {run.load for run in runs(full) if not run.attached} == {*LOADS}
    assert min(run.quanta for run in runs(True) if not run.attached) == 10_000
