"""Execution of a foreground VM: its runs on a core, from Mortise's visits."""

from tenonos.run.plugin import FIRST, IDLE, NOBODY, OTHER, Visit
from tools.bench.foreground import turns


def visit(before, between=0):
    """A visit, by the previous guest and its instructions."""
    return Visit(0, before, NOBODY, 0x480, 10, 10, 0, 0, 0, 0, 0, between=between)


def test_a_turn_is_all_that_one_executes_until_another_has_the_core():
    seen = [
        *(visit(FIRST, 100), visit(NOBODY), visit(FIRST, 20)),
        *(visit(OTHER, 7), visit(OTHER, 8), visit(FIRST, 5), visit(IDLE)),
    ]
    assert turns(seen) == [120, 5]


def test_a_turn_that_has_not_ended_is_none():
    assert turns([visit(OTHER, 7), visit(FIRST, 100), visit(NOBODY)]) == []
