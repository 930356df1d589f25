"""Judgement of compositions of labelled objectives, by what their images have."""

import pytest

from tenonos.plan.compose import compose
from tenonos.plan.pool import Pool
from tools.bench.composed import Rules, faults, lines, scores
from tools.bench.labelled import Labelled

TEXT = "a 1 kHz control loop beside Linux"
KNOWN = {"control.loop", "guest.linux", "trace"}


@pytest.fixture(scope="module")
def pool():
    return Pool()


@pytest.fixture(scope="module")
def answer(pool):
    return compose(TEXT, pool=pool, using=Rules())


def marked(words, **more):
    return {"span": words, "at": TEXT.index(words)} | more


def labelled(name="control.loop", polarity="demanded", value=1_000_000, **more):
    return Labelled(
        **{
            "id": "x-1",
            "author": "x",
            "phrasing": "plain",
            "lang": "en",
            "text": TEXT,
            "capabilities": [marked("control loop", name=name, polarity=polarity)],
            "vms": [marked("Linux", kind="linux", count=1, name=None, role=None)],
            "tasks": [],
            "quantities": [marked("1 kHz", role="period", value=value, unit="ns", owner=None)],
            "spans": [],
        }
        | more
    )


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (labelled(vms=[]), []),
        (labelled("trace", vms=[]), ["no trace"]),
        (labelled("trace", "alternative", vms=[]), ["none of trace"]),
        (labelled(polarity="forbidden", vms=[]), ["control.loop is there"]),
        (labelled(value=5, vms=[]), ["no period 5"]),
        (labelled("bus.can"), ["composed what cannot be"]),
        (labelled(phrasing="conflict"), ["composed what cannot be"]),
        (labelled(), ["1 tenon for 0"]),
        (labelled(tasks=[marked("control loop", vm=None, count=1)]), []),
    ],
)
def test_an_answer_is_judged_by_its_images(answer, wanted, found):
    assert [*faults(wanted, answer, KNOWN)] == found


def test_a_refusal_is_right_where_the_pool_lacks_what_is_demanded(pool):
    refused = compose("a CAN bus", pool=pool, using=Rules())
    assert not [*faults(labelled("bus.can"), refused, KNOWN)]
    assert [*faults(labelled(), refused, KNOWN)] == ["refused"]


def test_answers_are_counted_by_class_and_by_end(pool):
    asked = [labelled(vms=[]), labelled("trace", vms=[])]
    found, ends = scores(asked, pool, Rules())
    assert (found["class plain"].right, found["all"].total) == (1, 2)
    assert ends == {"right": 1, "refused": 0, "wrong, told": 0, "wrong, not told": 1}
    assert "| all | 50 % of 2 | 50 % of 2 |" in [*lines(asked, pool)]
