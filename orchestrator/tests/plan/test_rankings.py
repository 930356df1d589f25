"""The rankings that decide between equals, and what composing loads for them."""

import subprocess
import sys

import pytest

from tenonos.paths import ROOT
from tenonos.plan.retrieval.rankings import Grams, Words

TEXTS = [
    "messages wait in a queue",
    "a queue of messages, and messages again",
    "threads wait for units",
    "interrupts",
]


def first(scores):
    return scores.index(max(scores))


def test_more_of_a_word_and_a_rarer_word_count_more():
    words = Words([text.replace(",", "").split() for text in TEXTS])
    assert first(words.scores(["messages"])) == 1
    assert first(words.scores(["wait", "units"])) == 2
    assert words.scores(["interrupts"])[3] > words.scores(["messages"])[1]
    assert words.scores(["nothing", "of", "this"])[2:] == [0, 0]


def test_n_grams_know_other_forms_of_a_word():
    grams = Grams(TEXTS)
    assert first(grams.scores("waiting threaded unit")) == 2
    assert grams.scores("interrupt")[0] < grams.scores("interrupt")[3] < 1
    assert grams.scores("qqq") == [0, 0, 0, 0]


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_is_most_like_itself(text):
    grams = Grams(TEXTS)
    assert max(grams.scores(text)) == pytest.approx(grams.scores(text)[TEXTS.index(text)])
    assert max(grams.scores(text)) == pytest.approx(1)


TIE = """
import sys
from tenonos.plan.compose import compose
from tenonos.plan.retrieval.retrieve import Retriever
from tenonos.plan.pool import Pool
from tenonos.plan.reader import load
load.there = lambda: False
fused, decide = [], Retriever._fused
Retriever._fused = lambda self, words, *rest: fused.append(words) or decide(self, words, *rest)
assert compose("preemptive threads with message queues", pool=Pool()).images and fused
print(*sorted({name.partition(".")[0] for name in sys.modules} & {"numpy", "scipy", "sklearn"}))
"""


def test_a_tie_is_decided_without_loading_what_takes_longer_than_composing():
    run = [sys.executable, "-c", TIE]
    found = subprocess.run(run, cwd=ROOT / "orchestrator", capture_output=True, text=True)
    assert (found.returncode, found.stdout.split()) == (0, []), found.stderr
