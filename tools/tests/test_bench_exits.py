"""What the marks of a guest that makes exits become: rows by the names that it says in the end."""

import pytest

from tenonos.errors import WorkError
from tenonos.run.plugin import Passage, Visit
from tools.bench.exits import rows_of
from tools.bench.machine import Trace

LINES = (
    "measured irq samples=2",
    "measured hypercall samples=1",
    "measured doorbell_send to-direct samples=1",
    "measured doorbell_receive to-direct samples=1",
    "end of exits",
)


def passage(el2, elsewhere=0, cpu=0):
    return Passage(0, cpu, el2 + 9, 1, 2, 3, el2, 0, el2 + elsewhere)


def visit(section, cpu=0):
    return Visit(cpu, 0, 0, 0x400, section, section, 0, 0, 0, 0, 0)


RECORDS = (
    visit(900),
    passage(30),
    visit(30),
    passage(30),
    visit(500, cpu=1),
    passage(45, 7),
    passage(77, cpu=1),
    passage(120),
    visit(110),
    passage(0, 95),
    visit(901),
)


def test_marks_have_the_names_that_follow_them():
    found = {
        (row.name, row.params.get("irq")): row
        for row in rows_of(Trace(LINES, RECORDS), "shared", 0)
    }
    medians = {key: row.median for key, row in found.items()}
    assert medians == {
        ("irq_list_register", None): 30,
        ("hypercall", "shared"): 45,
        ("doorbell_send", "direct"): 120,
        ("doorbell_receive", "direct"): 95,
        ("masked_max", "shared"): 110,
    }
    assert found["irq_list_register", None].samples == 2
    assert found["hypercall", "shared"].kinds.mmio == 3


def test_what_owns_its_interrupts_has_another_row():
    (row, *_) = rows_of(Trace(LINES, RECORDS), "direct", 0)
    assert row.name == "irq_direct"


def test_marks_that_are_missing_or_nameless_are_told():
    with pytest.raises(WorkError, match="of 1 times `doorbell_receive` 0 were seen"):
        list(rows_of(Trace(LINES, RECORDS[:9]), "shared", 0))
    with pytest.raises(WorkError, match="1 exits have no name"):
        list(rows_of(Trace(LINES[:3], RECORDS), "shared", 0))
