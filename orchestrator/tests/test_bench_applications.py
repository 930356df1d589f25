"""The applications: every sentence is composed, and answers are told from what is none."""

import pytest

from tenonos.bench import applications, verdicts
from tenonos.bench.applications import Tried, counted, stepped
from tenonos.plan.compose import compose
from tenonos.plan.pool import Pool
from tenonos.run import script

ALL = applications.applications()


@pytest.fixture(scope="module")
def pool():
    return Pool()


def test_the_steps_are_those_of_the_library():
    # pool/tenon/challenge tests the same two.
    assert (stepped(0, 1), stepped(1, 1)) == (0x6D2B79F5, 0xCFD13175)
    assert stepped(1, 2) == stepped(stepped(1, 1), 1)


@pytest.mark.parametrize("application", ALL, ids=lambda each: each.name)
def test_each_sentence_is_composed(application, pool):
    answer = compose(application.text, pool=pool, name=application.name)
    assert answer.accepted, (answer.missing, answer.reason)
    dialogues = application.dialogues(answer, 4711)
    assert dialogues
    said = [step for text in dialogues.values() for step in script.parse_text(text, "it")]
    answers = [step for step in said if str(stepped(4711, application.steps)) in step.text]
    assert answers
    assert all(step.verb == "expect" for step in answers)


def test_a_vm_that_is_typed_to_has_a_serial_port(pool):
    asked = compose("a greeter beside a control loop", pool=pool).files["system.toml"]
    assert asked.count("input = true") == 1


def test_what_is_wrong_with_which_is_said(capsys):
    right = Tried(ALL[0], composed=True, built=True, booted=True, correct=True, seconds=1.5)
    wrong = Tried(ALL[1], composed=True, fault="it does not build")
    rows = list(counted([right, wrong]))
    assert {row.name: row.median for row in rows} == {
        "total": 2,
        "composed": 2,
        "built": 1,
        "booted": 1,
        "correct": 1,
    }
    verdicts.show(rows)
    said = capsys.readouterr().out
    assert "it does not build" in said
    assert ALL[0].text not in said
