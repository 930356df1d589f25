"""Targets and figures of the reader; training itself is not run by tests."""

import pytest

from tenonos.plan.models import Guest, Item, Missing, Plan
from tenonos.plan.reader import heads
from tenonos.plan.reader.pieces import Piece
from tenonos.plan.reader.reading import Amount, Owner, Reading, Span, Statement, Task, Vm
from tools.bench import reader
from tools.bench.labelled import Labelled
from tools.bench.objectives import Objective
from tools.reader import data

TEXT = "two pump guests each regulate at 1 kHz beside Linux"


def marked(words, **more):
    return {"span": words, "at": TEXT.index(words)} | more


def labelled(**more):
    return Labelled(
        **{
            "id": "x-1",
            "author": "x",
            "phrasing": "plain",
            "lang": "en",
            "text": TEXT,
            "capabilities": [
                marked("Linux", name="guest.linux", polarity="demanded"),
                marked("beside", name="trace", polarity="mentioned"),
            ],
            "vms": [
                marked("two pump guests", kind="tenon", count=2, name="pump", role=None),
                marked("Linux", kind="linux", count=1, name=None, role=None),
            ],
            "tasks": [marked("regulate", vm=0, count=1)],
            "quantities": [
                marked("1 kHz", role="period", value=1_000_000, unit="ns", owner=[{"task": 0}])
            ],
            "spans": [marked("pump", kind="application")],
        }
        | more
    )


def pieces(text=TEXT):
    spans = [(text.index(word), text.index(word) + len(word)) for word in text.split()]
    return [Piece(0, *span) for span in [(0, 0), *spans, (len(text), len(text))]]


def test_labels_become_targets_of_tokens():
    target = data.of_labelled(labelled(), pieces())
    assert target.polarities == {"guest.linux": 1, "trace": 3}
    assert target.evidence == {"guest.linux": [10], "trace": [9]}
    group = heads.GROUPS.index
    assert {(1, group("vm.tenon"), 1), (3, group("vm.tenon"), 2), (2, group("name"), 1)} <= {
        *target.marks
    }
    assert target.counts == [(1, 0, 1), (10, 0, 0), (5, 1, 0)]
    relation = heads.RELATIONS.index
    held = {(r, start, end) for r, start, end, holds in target.relations if holds}
    assert held == {
        (relation("task-vm"), 5, 1),
        (relation("name-vm"), 2, 1),
        (relation("quantity-task"), 7, 5),
        (relation("quantity-vm"), 7, 0),
    }
    roles = [heads.ROLES[role] for _, role in target.quantities]
    assert roles == ["none", "period"]


def test_of_an_answer_only_its_capabilities_are_targets():
    known = {"part": "tuning", "text": TEXT, "must": ("guest.linux",), "must_not": ("trace",)}
    found = data.of_objective(Objective(phrasing="plain", **known), pieces())
    assert found.polarities == {"trace": data.NOT_DEMANDED, "guest.linux": 1}
    assert not found.full
    found = data.of_objective(Objective(phrasing="negation", **known), pieces())
    assert found.polarities["trace"] == heads.POLARITIES.index("forbidden")


def of_labels(found):
    """The reading that agrees with labels."""
    sure = {"confidence": 0.9}
    return Reading(
        text=found.text,
        capabilities=tuple(Statement(**each.model_dump(), **sure) for each in found.capabilities),
        vms=tuple(Vm(**each.model_dump(), **sure) for each in found.vms),
        tasks=tuple(Task(**each.model_dump(), **sure) for each in found.tasks),
        quantities=tuple(
            Amount(
                **{**each.model_dump(), "owner": [Owner(**o.model_dump()) for o in each.owner]},
                **sure,
            )
            for each in found.quantities
        ),
        spans=tuple(Span(**each.model_dump(), **sure) for each in found.spans),
    )


def test_what_is_demanded_and_forbidden_is_one_target_with_the_evidence_of_both():
    said = [
        {"name": "shell", "polarity": polarity, "span": "x", "at": at}
        for polarity, at in (("forbidden", 0), ("demanded", 2))
    ]
    found = labelled(text="x x", capabilities=said, vms=[], tasks=[], quantities=[], spans=[])
    target = data.of_labelled(found, [Piece(0, at, at + 1) for at in range(3)])
    assert target.polarities["shell"] == heads.POLARITIES.index(heads.CONTRADICTED)
    assert target.evidence["shell"] == [0, 2]


def test_a_reading_like_the_labels_is_right_in_all():
    wanted = labelled()
    figures = reader.of_reader(lambda _: of_labels(wanted), [wanted])
    assert figures.capabilities["class plain"].right == figures.vms["language en"].right == 1
    for part in (figures.statements, *figures.parts.values()):
        assert part.both == part.found == part.wanted
    assert figures.sure[4].right == 1
    assert "| statements | precision 100 %, recall 100 % of 1 |" in [*reader.lines({"it": figures})]


@pytest.mark.parametrize(
    ("change", "part"),
    [
        ({"capabilities": ()}, "evidence of statements"),
        ({"tasks": (), "quantities": ()}, "tasks: number"),
        ({"quantities": ()}, "quantities: with owner"),
        ({"spans": ()}, "spans: application"),
    ],
)
def test_what_a_reading_lacks_is_counted(change, part):
    wanted = labelled()
    found = of_labels(wanted).model_copy(update=change)
    figures = reader.of_reader(lambda _: found, [wanted])
    assert figures.parts[part].both < figures.parts[part].wanted


def test_the_planner_is_counted_by_its_plan():
    wanted = labelled()
    stated = {"source": "Linux", "span": (46, 51)}
    plan = Plan(
        objective=TEXT,
        planner="offline",
        guests=[Guest(name=n, kind=k) for n, k in (("a", "tenon"), ("b", "tenon"), ("c", "linux"))],
        items=[
            Item(kind="capability", value="guest.linux", **stated),
            Item(kind="capability", value="trace", rule="a default"),
            Item(kind="period", value=1_000_000, unit="ns", **stated),
        ],
        missing=[Missing(source="pump")],
    )
    figures = reader.of_planner(lambda _: plan, [wanted])
    assert figures.capabilities["all"].right == figures.vms["all"].right == 1
    assert figures.parts["quantities: role and value"].both == 1
    assert figures.parts["refused for a word"].both == 1
