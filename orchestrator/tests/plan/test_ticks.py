"""The system's tick: a number of its own, and no task's period."""

import pytest

from tenonos import system
from tenonos.build.images import images
from tenonos.plan.english.quantities import quantity_at
from tenonos.plan.english.text import tokens
from tenonos.plan.english.ticks import is_tick
from tenonos.plan.explain import Explainer

MS = 1_000_000


def stated(answer, kind):
    return [item.value for item in answer.plan if item.kind == kind and item.stated]


@pytest.mark.parametrize(
    ("objective", "tick", "periods"),
    [
        ("A control loop with a tick of 1 ms", MS, []),
        ("a 100 Hz control loop, system tick 1 kHz, beside Linux", MS, [10 * MS]),
        ("a 1 ms tick, a control loop every 10 ms", MS, [10 * MS]),
        ("Control loop, 20 ms cycle; tick rate: 100 Hz", 10 * MS, [20 * MS]),
        ("preemptive threads with a tick of 1 ms", MS, []),
        ("several threads and a 1000 Hz kernel tick", MS, []),
        ("a 64 Hz control loop with a 1024 Hz system tick", 976_562, [15_625_000]),
        ("a 100 Hz control loop with a tick of 300 Hz", 3_333_333, [10 * MS]),
    ],
)
def test_a_tick_is_the_systems_and_no_tasks_period(composed, objective, tick, periods):
    answer = composed(objective)
    assert stated(answer, "tick") == [tick], answer.missing or answer.reason
    assert stated(answer, "period") == periods
    assert any("time.tick" in image.capabilities for image in answer.images.values())


@pytest.mark.parametrize(
    ("objective", "period"),
    [
        ("a loop that ticks at 1 kHz", MS),
        ("a control loop ticking every 2 ms", 2 * MS),
        ("The control loop must tick at 500 Hz", 2 * MS),
    ],
)
def test_what_ticks_has_a_period(composed, objective, period):
    answer = composed(objective)
    assert (stated(answer, "tick"), stated(answer, "period")) == ([], [period])


def test_a_tick_that_is_denied_is_no_demand(composed):
    answer = composed("a 10 ms control loop without a 1 ms tick")
    assert (stated(answer, "tick"), stated(answer, "period")) == ([], [10 * MS])
    assert "time.tick" not in answer.images["motor"].capabilities


@pytest.mark.parametrize(
    ("text", "answer"),
    [("tick of 1 ms", True), ("ticks of 1 ms", False), ("it must tick at 1 kHz", False)],
)
def test_only_the_noun_is_measured(text, answer):
    words = tokens(text)
    found = next(q for at in range(len(words)) if (q := quantity_at(words, at)))
    assert is_tick(words, found.first, found.last) is answer


def test_the_tick_asked_for_is_that_of_the_image(composed, tmp_path, pool):
    composed("a 10 Hz control loop with a tick of 10 ms").write(tmp_path)
    told = {(image, p.symbol): p for image, p in Explainer(tmp_path, pool).parameters()}
    rate = told["motor", "TENON_TIME_TICK_HZ"]
    assert (rate.value, rate.rule) == ("100", "tick-of-the-plan")
    image = next(i for i in images(system.load(tmp_path)) if i.name == "motor")
    assert image.config.values["TENON_TIME_TICK_HZ"] == 100


@pytest.mark.parametrize(
    ("objective", "kinds", "reason"),
    [
        (
            "a 2 kHz control loop with a tick of 1 ms",
            ["period", "capability", "tick"],
            "a tick of 1ms, and a period of 500us",
        ),
        ("a 100 Hz control loop with a tick of 3 ms", ["tick"], "not one of 10 to 10000"),
        ("threads with a tick of 1 us", ["tick"], "not one of 10 to 10000"),
    ],
)
def test_a_tick_that_cannot_be_is_refused_with_its_words(composed, objective, kinds, reason):
    answer = composed(objective)
    assert [clash.kind for clash in answer.conflict] == kinds
    assert reason in answer.reason
