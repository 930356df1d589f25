"""`./tenon bench exits`: costs of the exits of guests with dedicated cores."""

import pytest
from conftest import assert_well

from tools.bench.exits import KINDS
from tools.bench.figures import figures
from tools.bench.row import Kinds, Row

EXITS = ("hypercall", "gicd_read", "gicd_write_zero", "sgi_self")


@pytest.fixture(scope="module")
def measured(tenon):
    outcome = tenon("bench", "exits", limit=200)
    assert_well(outcome)
    names = ("suite", "name", "params", "samples", "min", "median", "p99", "max")
    return [
        Row(**{name: row[name] for name in names}, kinds=Kinds(row["barriers"]), unit=row["unit"])
        for row in outcome.result
    ]


def test_each_exit_is_made_by_both_kinds_of_guests(measured):
    keys = {(row.name, row.params.get("irq")) for row in measured}
    both = (*EXITS, "doorbell_send", "doorbell_receive", "masked_max")
    assert keys == {(name, irq) for name in both for irq in KINDS} | {
        ("irq_list_register", None),
        ("irq_direct", None),
    }
    assert all(row.samples == 200 for row in measured if row.name != "masked_max")


def test_goals_hold(measured):
    missed = {(row.name, row.params.get("irq")): row.median for row in figures().missed(measured)}
    assert not missed


def test_an_exit_is_seen_where_there_is_one(measured):
    # An empty row would meet any goal.
    none = {(row.name, row.params.get("irq")) for row in measured if row.max == 0}
    assert none == {("irq_direct", None), ("doorbell_receive", "direct")}


def test_short_ways_do_what_the_general_one_does(tenon, tmp_path):
    # With a trace there is no fast path in the vectors, as it records nothing.
    run = ("run", "bench-exits", "--headless", "--deterministic", "--seconds", 2)
    short, general = (tenon(*run, *more) for more in ((), ("--trace", tmp_path / "trace.json")))
    for outcome in (short, general):
        assert_well(outcome)
        exits = {vm["name"]: vm["exits"] for vm in outcome.result["vms"]}
        assert exits["direct"]["irq"] == 0
        # Two hypercalls for its output; the other VMs only ring doorbells.
        assert exits["direct"]["hypercall"] == exits["peer"]["hypercall"] == 202
        # One exit per interrupt that it raised and per doorbell, except the one in progress: a
        # doorbell is counted by its sender before it rings, on the short way after that.
        rung = exits["shared"]["hypercall"] - 202
        assert rung > 10 and abs(exits["peer"]["irq"] - 200 - rung) <= 1, exits
    answers = [
        [line for line in outcome.stderr.splitlines() if " answers " in line]
        for outcome in (short, general)
    ]
    assert len(answers[0]) == 6
    assert sorted(answers[0]) == sorted(answers[1])
