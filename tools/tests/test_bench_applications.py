"""The applications: every sentence is composed, and answers are told from what is none."""

import pytest

from tenonos import system
from tenonos.build import images
from tenonos.plan.compose import compose
from tenonos.plan.pool import Pool
from tenonos.run import script
from tools.bench import applications, library_ablation, verdicts
from tools.bench.applications import Tried, counted, stepped

ALL = applications.applications()


@pytest.fixture(scope="module")
def pool():
    return Pool()


def test_the_steps_are_those_of_the_library():
    # tests/support/challenge tests the same two.
    assert (stepped(0, 1), stepped(1, 1)) == (0x6D2B79F5, 0xCFD13175)
    assert stepped(1, 2) == stepped(stepped(1, 1), 1)


@pytest.fixture(scope="module", params=ALL, ids=lambda each: each.name)
def composed(request, pool):
    """An application, and what is composed of its sentence."""
    application = request.param
    return application, compose(application.text, pool=pool, name=application.name)


def test_each_sentence_is_composed(composed):
    application, answer = composed
    assert answer.accepted, (answer.missing, answer.reason)
    dialogues = application.dialogues(answer, 4711)
    assert dialogues
    said = [step for text in dialogues.values() for step in script.parse_text(text, "it")]
    answers = [step for step in said if str(stepped(4711, application.steps)) in step.text]
    assert answers
    assert all(step.verb == "expect" for step in answers)


def test_without_what_provides_a_demanded_capability_it_is_refused(composed, tmp_path):
    """Of what the sentence demands, each library that an image has for it is needed there."""
    _, answer = composed
    answer.write(tmp_path)
    loaded = system.load(tmp_path)
    libraries = library_ablation.providers(answer, images.space(loaded))
    assert libraries
    assert all(library_ablation.refused(loaded, image, symbol) for image, symbol in libraries)
    assert images.images(loaded)


def test_a_vm_that_is_typed_to_has_a_serial_port(pool):
    asked = compose("a greeter beside a control loop", pool=pool).files["system.toml"]
    assert asked.count("input = true") == 1


def test_what_is_wrong_with_which_is_said(capsys):
    right = Tried(ALL[0], composed=True, built=True, booted=True, correct=True, card_error=-2.5)
    wrong = Tried(ALL[1], composed=True, fault="it does not build")
    rows = list(counted([right, wrong]))
    assert {row.name: row.median for row in rows} == {
        "total": 2,
        "composed": 2,
        "built": 1,
        "booted": 1,
        "card_error": 2.5,
        "correct": 1,
    }
    verdicts.show(rows)
    said = capsys.readouterr().out
    assert "it does not build" in said
    assert "-2.5" in said
    assert ALL[0].text not in said
