"""`./tenon bench exits`: what the exits cost of guests that have their cores for themselves."""

import pytest
from conftest import assert_well

from tenonos.bench.exits import KINDS
from tenonos.bench.figures import figures
from tenonos.bench.row import Kinds, Row

EXITS = ("hypercall", "gicd_read", "gicd_write_zero", "sgi_self")

OPEN = {
    *((name, irq) for name in (*EXITS, "doorbell_send") for irq in KINDS),
    ("irq_list_register", None),
    ("doorbell_receive", "shared"),
}
"""Goals that are not reached yet; what is reached is taken out, and stays reached."""


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
    assert missed.keys() == OPEN, missed


def test_an_exit_is_seen_where_there_is_one(measured):
    # A row that counts nothing would meet any goal.
    none = {(row.name, row.params.get("irq")) for row in measured if row.max == 0}
    assert none == {("irq_direct", None), ("doorbell_receive", "direct")}
