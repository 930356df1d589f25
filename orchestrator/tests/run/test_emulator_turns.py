"""Delays by the emulator's turns, told from delays by the system."""

import io
from pathlib import Path

import pytest
from rich.console import Console

from tenonos.run import plugin
from tenonos.run.emulator_turns import EmulatorTurns, own_cores
from tenonos.run.formats import Sample
from tenonos.run.plugin import Moment, Passage, Passages
from tenonos.run.result import PathResult
from tenonos.run.screen import loop_line, turns_line
from tenonos.run.target import Machine, Target, WatchedTask, WatchedVm
from tenonos.run.window import TaskRecord, Window

MS = 1_000_000
TASK = WatchedTask("motor", "control", MS, MS, 0, 0)


def job(seq, latency, executed, el2=0):
    """A job of a task with period 1 ms, published when its core 3 had executed that much."""
    sample = Sample(seq, seq * MS, seq * MS + latency, 0)
    counts = [0] * plugin.VCPUS
    guest, mortise = list(counts), list(counts)
    guest[3], mortise[3] = executed, el2
    guest[0] = 10**9 * seq  # other cores' instructions are not the task's
    return sample, Moment(0, 3, seq, sample, tuple(mortise), tuple(guest), ())


def delays(jobs):
    turns = EmulatorTurns((3,))
    return [turns.delay(*each) for each in jobs]


def test_a_job_on_time_is_not_delayed():
    assert delays([job(seq, 128, 700 * seq) for seq in range(1, 6)]) == [0] * 5


def test_what_the_core_did_not_execute_is_the_emulators():
    # Its core executes 700 instructions a period; the third begins 50 us late.
    jobs = [job(seq, 50_000 if seq == 3 else 128, 700 * seq) for seq in range(1, 6)]
    assert delays(jobs) == [0, 0, 50_000 - 2 * 700, 0, 0]


def test_own_code_is_never_the_emulators():
    """A job that overruns delays the next one: its core executed all that time."""
    executed, jobs = 0, []
    for seq in range(1, 6):
        executed += 1_500_000
        jobs.append(job(seq, 500_000 * seq, executed))
    assert delays(jobs) == [0] * 5


def test_mortise_on_its_core_is_not_the_emulators():
    jobs = [
        job(seq, 50_000 if seq == 3 else 128, 700 * seq, 49_000 * (seq > 2)) for seq in (1, 2, 3)
    ]
    assert delays(jobs) == [0, 0, 0]


def test_releases_of_one_turn_have_each_their_delay():
    """After a turn of 3 ms several jobs are due at once."""
    jobs = [job(seq, 128, 700 * seq) for seq in (1, 2)]
    jobs += [job(seq, (6 - seq) * MS, 700 * seq) for seq in (3, 4, 5)]
    found = delays(jobs)
    assert found[:2] == [0, 0]
    assert all(
        0.99 * latency <= delay <= latency
        for delay, latency in zip(found[2:], (3 * MS, 2 * MS, MS), strict=True)
    )


def window(*jobs, own=(3,), start=0):
    found = Window((TASK,), 1.0, cores=(own,))
    found.open(start)
    for sample, moment in jobs:
        found.add(0, sample, moment)
    return found.records[0]


def test_lateness_by_the_emulator_is_counted_apart():
    late = window(job(1, 128, 700), job(2, 128, 1_400), job(3, 3 * MS, 2_100))
    assert (late.late, late.delayed, late.delayed_late) == (1, 1, 1)
    assert "1 of them waited for the emulator" in str(turns_line(late))
    assert "1 of 1 late for that alone" in str(turns_line(late))


def test_the_first_job_of_a_window_is_compared_with_those_before_it():
    """A window opens in the midst of jobs: the first one in it may have waited for the emulator."""
    jobs = job(1, 128, 700), job(2, 128, 1_400), job(3, 3 * MS, 2_100)
    late = window(*jobs, start=3 * MS)
    assert (late.completed, late.late, late.delayed_late) == (1, 1, 1)


def test_lateness_of_the_system_stays_its_own():
    late = window(job(1, 128, 700), job(2, 128, 1_400), job(3, 3 * MS, 2_100 + 3 * MS))
    assert (late.late, late.delayed, late.delayed_late) == (1, 0, 0)
    assert turns_line(late) is None


def test_part_of_a_lateness_excuses_nothing():
    # 1 ms by the emulator, 2 ms by the task itself: late without the emulator too.
    late = window(job(1, 128, 700), job(2, 128, 1_400), job(3, 3 * MS, 2_100 + 2 * MS))
    assert (late.late, late.delayed, late.delayed_late) == (1, 1, 0)


def test_on_a_shared_core_nothing_is_said():
    late = window(job(1, 128, 700), job(2, 3 * MS, 1_400), own=None)
    assert late.late == 1 and late.turns is None and turns_line(late) is None


@pytest.mark.parametrize(
    ("cpus", "slots", "own"),
    [((0, 1), (), (3,)), ((0, 3), (), None), ((0, 1), (0x1000,), None)],
)
def test_a_core_is_its_vms_own_if_no_other_may_run_there(cpus, slots, own):
    vms = (
        WatchedVm(0, "motor", "tenon", (3,), 0, range(0), (TASK,)),
        WatchedVm(1, "linux", "linux", cpus, 0, range(0)),
    )
    machine = Machine("virt", "a", (), 4, 0, 0)
    target = Target("x", "b", "static", Path("i"), machine, vms, range(0), slots=slots)
    assert own_cores(target) == [own]


def rendered(what):
    console = Console(file=io.StringIO(), width=120)
    console.print(what)
    return console.file.getvalue()


def test_a_loops_path_is_named_and_told():
    passages = Passages()
    for instructions in [201] * 9 + [420]:
        passages.add(Passage(0, 3, instructions))
    passages.add(Passage(1, 2, 7))
    named, other = passages.results([(0, 4), (8, 12)], ["motor: control"])
    assert (named.name, other.name) == ("motor: control", None)
    assert "201 instructions of CPU 3, 9 of 10 times, 201 to 420 in all" in rendered(
        loop_line(named)
    )
    same = PathResult(start="0", end="4", vcpu=3, count=5, min=201, max=201, histogram={201: 5})
    assert "201 instructions of CPU 3, each of 5 times" in rendered(loop_line(same))


def test_a_record_without_counters_has_no_delays():
    record = TaskRecord(TASK)
    record.add(job(1, 128, 700)[0])
    assert record.delayed == 0 and turns_line(record) is None
