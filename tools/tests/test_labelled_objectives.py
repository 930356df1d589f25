"""Labelled objectives: every label is right in form, and errors are found."""

import pytest

from tenonos.errors import InputError
from tenonos.plan.pool import Pool
from tools.bench import labelled
from tools.bench.objectives import objectives

TEXT = "a 1 kHz loop beside Linux"
NAMES = frozenset({"control.loop", "guest.linux"})


def entry(**more):
    return labelled.Labelled(
        **{
            "id": "x-0001",
            "author": "x",
            "phrasing": "plain",
            "lang": "en",
            "text": TEXT,
            "capabilities": [
                {"name": "guest.linux", "polarity": "demanded", "span": "Linux", "at": 20}
            ],
            "vms": [],
            "tasks": [{"vm": None, "count": 1, "span": "loop", "at": 8}],
            "quantities": [],
            "spans": [],
        }
        | more
    )


def period(**more):
    values = {"role": "period", "value": 1_000_000, "unit": "ns", "span": "1 kHz", "at": 2}
    return [values | {"owner": [{"task": 0}]} | more]


def test_all_sets_are_valid_and_repeat_nothing():
    every = [found for name in labelled.PARTS for found in labelled.part(name)]
    others = [found.text for found in objectives()]
    assert list(labelled.faults(every, labelled.known(), others)) == []


def test_an_author_is_in_one_part_only():
    authors = [{found.author for found in labelled.part(name)} for name in labelled.PARTS]
    assert authors[0].isdisjoint(authors[1])


def test_the_names_are_those_of_the_planner():
    assert set(labelled.pool_capabilities()) <= set(Pool().by_name)


@pytest.mark.parametrize(
    ("more", "fault"),
    [
        ({}, None),
        ({"quantities": period()}, None),
        ({"quantities": period(at=3)}, "not in the text at 3: '1 kHz'"),
        ({"quantities": period(owner=[{"task": 1}])}, "no task 1"),
        ({"quantities": period(owner=[{"vm": 0}])}, "no VM 0"),
        ({"quantities": period(owner=[{}])}, "an owner is a task or a VM"),
        ({"tasks": [{"vm": 2, "count": 1, "span": "loop", "at": 8}]}, "no VM 2"),
        (
            {"capabilities": [{"name": "gone", "polarity": "demanded", "span": "a", "at": 0}]},
            "no capability: gone",
        ),
        (
            {"spans": [{"kind": "application", "span": "a ", "at": 0}]},
            "an empty or blank-edged span: 'a '",
        ),
        ({"phrasing": "smuggled"}, "smuggled, without an instruction"),
        ({"phrasing": "conflict"}, "a conflict with fewer than two pieces"),
        ({"phrasing": "negation"}, "a negation that forbids nothing"),
    ],
)
def test_a_wrong_label_is_found(more, fault):
    assert next(entry(**more).faults(NAMES), None) == fault


def test_a_repeated_text_is_found_whatever_its_numbers():
    sets = [entry(), entry(id="x-0002", text=TEXT.replace("1 kHz", "2 kHz"))]
    assert list(labelled.faults(sets, NAMES, [])) == ["x-0002: the text of x-0001"]
    assert list(labelled.faults(sets[:1], NAMES, [TEXT])) == [
        "x-0001: the text of bench/objectives"
    ]


def test_what_is_short_is_counted():
    short = labelled.short([entry()], enough=1)
    assert "guest.linux" not in short
    assert short["control.loop"] == 0
    assert short["smuggled"] == 0
    assert "plain" not in short


def test_a_file_that_is_no_set_is_refused(tmp_path):
    (tmp_path / "training").mkdir()
    (tmp_path / "training" / "x.jsonl").write_text("{}\n")
    with pytest.raises(InputError):
        labelled.part("training", tmp_path)
