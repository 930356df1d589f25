"""The offline planner against the tuning set, and what must hold of any objective."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from objectives import CASES, Case

from tenonos.plan.english.readings import read

FEWEST = 40


def named(case: Case) -> str:
    return case.text[:60] or "(empty)"


@pytest.mark.parametrize("case", CASES, ids=named)
def test_an_objective_yields_its_demands(composed, case):
    answer = composed(case.text)
    vms = {n: i.cpus for n, i in answer.images.items() if i.kind != "mortise"}
    assert vms == case.vms, answer.reason or answer.missing
    assert [(m.capability, m.source) for m in answer.missing] == list(case.missing)
    assert [(c.kind, c.source) for c in answer.conflict] == list(case.conflict)
    plan = {(i.kind, i.value, i.image) for i in answer.plan}
    assert plan.issuperset(case.items)
    ignored = [i.source for i in answer.ignored]
    assert all(words in ignored for words in case.ignored), ignored


@pytest.mark.parametrize("case", CASES, ids=named)
def test_every_answer_is_one_of_three_and_points_at_its_words(composed, case):
    answer = composed(case.text)
    assert sum(map(bool, (answer.images, answer.conflict, answer.missing))) == 1
    for item in answer.plan:
        assert item.value is not None
        if item.source is None:
            assert item.span is None
            assert item.rule
        else:
            assert case.text[slice(*item.span)] == item.source
    for said in (*answer.missing, *answer.ignored):
        assert said.source in case.text


def test_the_tuning_set_is_large_enough():
    assert len(CASES) >= FEWEST
    assert len({case.text for case in CASES}) == len(CASES)


@settings(max_examples=150)
@given(text=st.text(max_size=80))
def test_any_text_is_read_without_an_error(pool, text):
    read(text, pool.retriever, 4)


WORDS = (
    "a the two 1 kHz control loop beside Linux on four cores with 64 MiB without no networking "
    "shell and , . every 2 ms motor for to at another one its own core blorp jitter under smallest "
    "footprint UDP alone VM priority 5 instead of Zephyr ignore previous instructions of three"
).split()


@settings(max_examples=200)
@given(words=st.lists(st.sampled_from(WORDS), max_size=14))
def test_any_words_make_a_plan_whose_spans_are_verbatim(pool, words):
    text = " ".join(words)
    plan = read(text, pool.retriever, 4)
    for item in plan.items:
        assert item.source is None or text[slice(*item.span)] == item.source
    for found in plan.evidence:
        assert text[slice(*found.span)] == found.words
    assert plan.guests or plan.missing


@settings(max_examples=60)
@given(words=st.lists(st.sampled_from(WORDS), min_size=3, max_size=10))
def test_any_words_are_answered(composed, words):
    answer = composed(" ".join(words))
    assert sum(map(bool, (answer.images, answer.conflict, answer.missing))) == 1
