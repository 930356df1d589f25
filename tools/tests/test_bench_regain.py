"""What visits of Mortise become that take a core back: rows for each end and order."""

import pytest

from tenonos.errors import WorkError
from tenonos.run.plugin import IDLE, Visit
from tools.bench.regain import DOORBELL, OTHER, SYNCHRONOUS, Part, Seen, rows_of
from tools.bench.row import Kinds

NOP, SGI, TLBI, DSB = 0xD503201F, 0xD518CBE5, 0xD50C83DF, 0xD5033B9F
MANAGER, ASLEEP, DEAF = 0, 3, 2

WORDS = {7: TLBI, 8: DSB, 11: SGI}
PLACES = {
    "pause": [3],
    "request_hold": range(4, 12),
    "withdraw_in": range(6, 9),
    "mark_off_core": [20],
}
"""The functions of the code, by address; `restart` and `destroy` have the same ones."""


class Code:
    """Code in which an address is an index."""

    def __init__(self, asked):
        self.places = {asked if name == "pause" else name: at for name, at in PLACES.items()}

    def word(self, address):
        return WORDS.get(address, NOP)

    def kinds(self, steps):
        return Kinds(barriers=sum(self.word(step) == DSB for step in steps))

    def of(self, steps, names):
        places = {at for name in names for at in self.places.get(name, ())}
        return [index for index, step in enumerate(steps) if step in places]


def visit(vcpu, steps, entry=0, before=OTHER):
    return Visit(vcpu, before, 0, entry, len(steps), 0, 0, 0, 0, 0, 0, steps=tuple(steps))


def seen(*asked):
    found = Seen(Code("pause"), MANAGER, {ASLEEP: "masked-asleep", DEAF: "deaf"})
    for name in asked:
        found.code = Code(name)
        found.take(visit(MANAGER, range(1, 15)))
    return found


def test_ends_of_an_order_are_told_apart():
    found = seen("pause")
    (order,) = found.orders
    one = Kinds(barriers=1)
    ends = (order.to_doorbell, order.withdrawal, order.call)
    assert (order.name, ends) == ("pause", (Part(8, one), Part(3, one), Part(11, one)))


def test_a_visit_that_rings_nobody_is_no_order():
    found = seen()
    found.take(visit(MANAGER, range(1, 11)))
    found.take(visit(MANAGER, range(9, 15)))
    assert found.orders == []


def test_a_way_ends_where_it_is_taken_down():
    found = seen()
    found.take(visit(DEAF, range(15, 30), SYNCHRONOUS))
    found.take(visit(DEAF, range(15, 30), SYNCHRONOUS, before=IDLE))
    found.take(visit(DEAF, range(15, 19), SYNCHRONOUS))
    assert found.left == {(SYNCHRONOUS, "pause"): [Part(6, Kinds())]}


def test_a_core_that_no_doorbell_reaches_does_not_come_by_it():
    with pytest.raises(WorkError, match="deaf came back by vector 0x500"):
        seen().take(visit(DEAF, range(15, 30), DOORBELL))


def test_what_was_not_seen_is_reported():
    with pytest.raises(WorkError, match="no order to destroy"):
        list(rows_of(seen("pause", "restart")))
    with pytest.raises(WorkError, match="of 1 times that a core was left, 0 were seen"):
        list(rows_of(seen("pause", "restart", "destroy")))
