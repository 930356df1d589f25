"""Evaluation of the planner: objectives, and validation of answers."""

import pytest

from tenonos import paths
from tenonos.errors import InputError
from tenonos.explore.oracle import Verdict
from tenonos.plan.compose import compose as composed
from tenonos.plan.planner import planner
from tenonos.plan.pool import Pool
from tools.bench import compose, verdicts
from tools.bench.boots import Boots, Over
from tools.bench.objectives import PARTS, Objective, objectives
from tools.bench.ranking import Ranking

CLASSES = "plain paraphrase numbers negation mention several periods conflict missing smuggled"
TEXT = "a 1 kHz control loop beside Linux"
RIGHT = {
    "must": ("control.loop", "guest.linux"),
    "must_not": ("net.ip",),
    "plan": ("period 1_000_000",),
    "tenon": 1,
    "linux": 1,
}


def objective(text=TEXT, **wanted):
    return Objective(phrasing="plain", part="tuning", text=text, **wanted)


@pytest.fixture(scope="module")
def pool():
    return Pool()


def test_every_class_has_objectives_to_tune_by_and_others_to_test_by(pool):
    every = objectives()
    assert {found.phrasing for found in every} == set(CLASSES.split())
    for part in PARTS:
        for phrasing in CLASSES.split():
            assert sum((o.phrasing, o.part) == (phrasing, part) for o in every) >= 6
    assert len({found.text for found in every}) == len(every)
    named = {name for found in every for name in (*found.must, *found.must_not)}
    assert named <= set(pool.by_name), "each is a capability of the table"


@pytest.mark.parametrize(
    ("wanted", "fault"),
    [
        ({}, None),
        ({"must": ("net.ip",)}, "no net.ip"),
        ({"must_not": ("virt.partition",)}, "virt.partition is there"),
        ({"plan": ("period 2_000_000",)}, "not in the plan: period 2000000"),
        ({"plan": ("period 1_000_000",) * 2}, "not in the plan: period 1000000"),
        ({"tenon": 2}, "1 tenon for 2"),
        ({"answer": "conflict"}, "images for conflict"),
        ({"ignored": ("Zephyr",)}, "not ignored: Zephyr"),
    ],
)
def test_an_answer_is_right_or_what_is_wrong_is_said(pool, wanted, fault):
    answer = composed(TEXT, pool=pool)
    assert objective(**(RIGHT | wanted)).faults(answer) == ([fault] if fault else [])


def test_refusals_are_judged_by_what_they_name(pool):
    refused = composed("a control loop that sends MQTT messages", pool=pool)
    assert objective(answer="missing", missing=("net.mqtt", "MQTT")).faults(refused) == []
    wrong = objective(answer="missing", missing=("CAN",))
    assert wrong.faults(refused) == ["not missing: CAN"]
    clash = composed("a tickless control loop with a periodic tick", pool=pool)
    named = ("capability time.tick", "capability time.tickless")
    assert objective(answer="conflict", conflict=named).faults(clash) == []
    wrong = objective(answer="conflict", conflict=("cores 2",))
    assert wrong.faults(clash) == ["not in the conflict: cores 2"]


def test_a_key_that_means_nothing_is_refused(tmp_path):
    (tmp_path / "plain.toml").write_text('[[tuning]]\ntext = "hello"\nmussed = []\n')
    with pytest.raises(InputError, match=r"plain.toml: mussed: .*not permitted"):
        objectives(tmp_path)


def test_the_rows_count_what_is_right_and_list_what_is_not(pool, capsys):
    asked = [objective(**RIGHT), objective("a control loop", must=("net.ip",))]
    found = compose.answered(asked, pool, planner("offline"))
    rows = [*compose.counted(found, "offline", "tuning")]
    values = {row.name: row.median for row in rows if row.unit == "count"}
    assert values == {"total": 2, "correct": 1, "total_of_class": 2, "correct_of_class": 1}
    for row in rows:
        assert row.params.items() >= {"planner": "offline", "set": "tuning"}.items()
    verdicts.show(rows)
    shown = capsys.readouterr().out
    assert "1 of 2" in shown
    assert "not correct: a control loop (no net.ip)" in shown


def test_the_baseline_takes_what_ranks_best(pool):
    answer = composed("round robin time slicing", pool=pool, using=Ranking())
    assert answer.planner == "ranking"
    assert "sched.timeslice" in {item.value for item in answer.plan}


class Pretended:
    """Simulated workers: 2 kHz is too much, and less optimised is larger."""

    def __init__(self):
        self.judged = []

    def verdicts(self, asked, seconds):
        for place, files in enumerate(asked):
            self.judged.append(files)
            text = "".join(files.values())
            good = 'period = "500us"' not in text
            size = 1000 - 300 * text.count("OPTIMISE_SIZE=y") + 10 * text.count("TRACE=y")
            why = None if good else "no"
            yield place, Verdict(built=True, booted=good, good=good, why=why, size=size)


def test_equal_systems_are_built_once_and_an_ended_run_goes_on(pool, tmp_path):
    texts = ("a 1 kHz control loop", "a control loop at 1 kHz", "a 2 kHz control loop")
    answers = [composed(text, pool=pool) for text in texts]
    who = Pretended()
    for judged in (2, 3):
        boots = Boots(lambda _: None, who, tmp_path / "journal.jsonl")
        assert [verdict.why for verdict in boots.of(answers)] == [None, None, "no"]
        assert boots.different(answers) == 2
        # What was good is known, what was not is tried again.
        assert len(who.judged) == judged


def test_a_system_is_held_against_the_smallest_of_it(pool, tmp_path):
    who = Pretended()
    boots = Boots(lambda _: None, who, tmp_path / "journal.jsonl")
    first, second, bad = (
        composed(text, pool=pool)
        for text in ("a 1 kHz control loop", "a 4 kHz control loop", "a 2 kHz control loop")
    )
    boots.of([first])
    over = boots.over(first, pool)
    assert (over.bytes, over.smallest) == (600, 400)
    assert over.by == "mortise: OPTIMISE_SIZE, motor: OPTIMISE_SIZE"
    tried = len(who.judged)
    assert boots.over(second, pool) == over
    assert len(who.judged) == tried + 2, "as composed, and with what saved bytes before"
    assert boots.over(bad, pool) is None


def test_bytes_over_the_smallest_are_counted_by_class():
    over = [Over(10, 100, "a"), None, Over(30, 100, "a"), Over(20, 100, "b")]
    rows = [*compose.bytes_over({"set": "test"}, ["plain", "plain", "several", "plain"], over)]
    assert [(r.params.get("class"), r.samples, r.median, r.max) for r in rows] == [
        (None, 3, 20, 30),
        ("plain", 2, 20, 20),
        ("several", 1, 30, 30),
    ]
    assert rows[0].options == {"percent": 20.0, "smallest": {"a": 2, "b": 1}}


def test_what_the_documents_say_of_the_planner_holds(pool):
    asked = [found for found in objectives() if found.part == "test"]
    rows = [*compose.counted(compose.answered(asked, pool, planner("offline")), "offline", "test")]
    counts = {(r.name, r.params.get("class")): r.median for r in rows if r.unit == "count"}
    text = (paths.ROOT / "docs" / "benchmarks.md").read_text()
    for phrasing in CLASSES.split():
        right, total = (counts[f"{n}_of_class", phrasing] for n in ("correct", "total"))
        assert f"| {phrasing} | {right} of {total} |" in text
    total, right = counts["total", None], counts["correct", None]
    assert f"the {total} objectives to test by the offline planner answers {right} rightly" in text
    support = (paths.ROOT / "SUPPORT.md").read_text()
    page = "docs/benchmarks.md#composing"
    assert f"; {right} of {total} [test objectives]({page}) read rightly |" in support
