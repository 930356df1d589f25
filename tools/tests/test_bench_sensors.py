"""What is made of polled sensors: of what the program says, and of what is counted of it."""

import pytest

from tenonos.errors import WorkError
from tenonos.run.plugin import Passage
from tools.bench.sensors import (
    ATTACHED,
    HYPLET,
    LOOKS,
    SAMPLES,
    STRAYS,
    Run,
    judge,
    looked,
    runs,
    told,
)

WANTED = [Run(ATTACHED), Run(HYPLET)]


def lines(what, value, count=SAMPLES):
    return "".join(f"{what} {' '.join([str(value)] * 8)}\r\n" for _ in range(count // 8))


def said(*runs):
    return "".join(lines("echo", echo) + lines("light", light) for echo, light in runs)


def test_an_echo_is_a_distance_and_light_a_time():
    rows = {
        (r.name, r.params["by"]): r for r in told(WANTED, said((1000, 7), (1_749_271, 2_122_008)))
    }
    assert (rows["distance", ATTACHED].max, rows["distance", HYPLET].min) == (172, 300_000)
    assert (rows["light", ATTACHED].median, rows["light", HYPLET].median) == (7, 2_122_008)
    assert {row.unit for row in rows.values()} == {"um", "ns"}


@pytest.mark.parametrize("wrong", ["", said((1000, 7)), said((1000, 7), (0, 7))])
def test_a_sensor_that_is_not_heard_is_an_error(wrong):
    with pytest.raises(WorkError):
        [*told(WANTED, wrong)]


def test_a_hyplet_that_is_often_wrong_is_an_error():
    right = [1_749_271] * (SAMPLES - STRAYS)
    judge({"echo": [*right, *[11_750_000] * STRAYS]})
    with pytest.raises(WorkError):
        judge({"echo": [*right[1:], *[1_750_272] * (STRAYS + 1)]})


def test_what_comes_between_looks_is_what_is_beyond_the_least():
    looking = [Run(ATTACHED, "io", looks=True), Run(HYPLET, "io", looks=True)]
    quiet = [Passage(0, 2, 0, other=16 * LOOKS) for _ in range(SAMPLES)]
    disturbed = [Passage(0, 2, 0, el2=50, other=16 * LOOKS + 9), *quiet[1:]]
    look, *noise = looked(looking, [*disturbed, *quiet])
    assert look.median == 16
    assert [(row.params["by"], row.max) for row in noise] == [(ATTACHED, 59), (HYPLET, 0)]


def test_linux_has_all_its_cpus_before_it_lends_one_for_looks():
    by = [run.by for run in runs() if run.looks]
    assert by == sorted(by, reverse=True) and set(by) == {ATTACHED, HYPLET}


def test_the_same_program_polls_either_way():
    attached, own = Run(ATTACHED).script(1, [0, 2]), Run(HYPLET).script(1, [0, 2])
    assert f"taskset 2 hyplet-sensors --attached measure 1 {SAMPLES}" in attached
    assert f"\nhyplet-sensors measure 1 {SAMPLES}\n" in own
