"""What the bench of forwarded calls has Linux do, and what it takes them to cost."""

from tenonos.run.plugin import Passage
from tools.bench.forward import CALLS, RUNS, Path, Run, told


def test_a_path_has_an_end_on_the_program_s_core_and_one_on_the_others():
    counted = Passage(0, 3, 400, el2=400, other=4, el2_everywhere=700, other_everywhere=2_004)
    assert Path.of(counted) == Path(core=404, others=2_300)
    assert Path.of(counted).whole == 2_704


def test_the_first_of_the_programs_is_linux_s():
    first, *others = (run.script(3) for run in RUNS)
    assert first == f"taskset 8 forwarded {CALLS} 0\n"
    assert all(line.startswith("tenon-detach --cpu 3 forwarded ") for line in others)
    assert Run("sleeping", pause=1).script(2).endswith(f" {CALLS} 1\n")


def test_what_linux_takes_by_itself_is_taken_off():
    native = [Path(300 + (call % 7 == 0) * 1000, 0) for call in range(CALLS)]
    polling, sleeping = [Path(450, 2_000)] * CALLS, [Path(580, 7_000)] * CALLS
    rows = {tuple(row.params.values()): row for row in told([*native, *polling, *sleeping])}
    assert rows["polling",].median == 2_150
    assert rows["sleeping",].max == 7_280
    assert rows["sleeping", "core"].median == 580
    assert rows["sleeping", "linux"].median == 7_000
