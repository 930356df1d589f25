"""The account of a shared core, from records as the counting plugin sends them."""

import struct

import pytest

from tenonos.errors import WorkError
from tenonos.run.formats import Sample
from tenonos.run.plugin import FIRST, IDLE, NOBODY, OTHER, Moment, Passage, Visit
from tenonos.run.target import WatchedTask
from tenonos.run.window import Window
from tools.bench import marker
from tools.bench.account import Account
from tools.bench.row import Kinds

PERIOD = 1_000_000
VECTOR, SWITCH = 0x4020_0480, 0x4020_1000


def visit(before, after, instructions, section=None):
    longest = (section or instructions, SWITCH, SWITCH + 4)
    return Visit(0, before, after, VECTOR, instructions, *longest, 1, 2, 3)


def moment(number, latency=480):
    sample = Sample(number, number * PERIOD, number * PERIOD + latency, 0)
    return Moment(0, 0, number + 1, sample, (), (), ())


def account(start=None, seconds=0.003):
    window = Window((WatchedTask("motor", "control", PERIOD, PERIOD, 0, 0),), seconds)
    if start is not None:
        window.open(start)
    return Account(window=window)


def release(number, instructions=500):
    """What a release brings: from Linux to the task, and back when it waits."""
    yield Passage(1, 0, 300)
    yield visit(OTHER, FIRST, 200)
    yield Passage(0, 0, instructions)
    yield moment(number)
    yield visit(FIRST, OTHER, 250, 90)


def test_what_lies_in_the_window_counts():
    taken = account(start=2 * PERIOD)
    for number in range(8):
        for record in release(number):
            taken.take(record)
    assert [delay.instructions for delay in taken.delays] == [500] * 3, "releases 2, 3 and 4"
    assert len(taken.handled) == 3
    ways = {(way.before, way.after, way.instructions): n for way, n in taken.ways.items()}
    assert ways == {(OTHER, FIRST, 200): 3, (FIRST, OTHER, 250): 3}
    assert all(way.switches and way.kinds == Kinds(1, 2, 3) for way in taken.ways)
    (section,) = taken.sections.values()
    assert (section.count, section.longest) == (6, 200)


def test_what_comes_before_the_window_is_known_waits():
    early, late = account(), account(start=2 * PERIOD)
    for number in range(8):
        for record in release(number):
            early.take(record)
            late.take(record)
        if number == 4:
            early.window.open(2 * PERIOD)
    assert early.delays == late.delays and early.ways == late.ways


@pytest.mark.parametrize("who", [IDLE, NOBODY, OTHER])
def test_a_switch_is_from_one_guest_to_another(who):
    taken = account(start=0)
    for record in (visit(OTHER, who, 10), Passage(0, 0, 500), moment(1)):
        taken.take(record)
    (way,) = taken.ways
    assert not way.switches


def test_who_came_while_mortise_was_at_work_waited_less_than_that():
    taken = account(start=0)
    for number, counted in ((1, 500), (2, 700)):
        for record in release(number, counted):
            taken.take(record)
    assert taken.clock == [480, 480]
    assert taken.waited() == [500, 516], "20 behind the clock, and a tick that may have begun"


def test_two_witnesses_must_agree():
    taken = account(start=0)
    taken.take(Passage(0, 0, 463))
    with pytest.raises(WorkError, match="clock says 480 instructions and the plugin 463"):
        taken.take(moment(1, latency=480))


def test_a_release_that_nobody_saw_come_is_reported():
    with pytest.raises(WorkError, match="release 1"):
        account(start=0).take(moment(1))


def test_the_marker_is_a_program_that_linux_can_start():
    program = marker.program()
    identity, kind, machine, _, entry = struct.unpack_from("<16sHHIQ", program)
    assert identity[:7] == b"\x7fELF\x02\x01\x01" and (kind, machine) == (2, 183)
    offset, address = struct.unpack_from("<QQ", program, 64 + 8)
    assert struct.unpack_from("<I", program, entry - address + offset) == (marker.CODE[0],)
    assert len(program) == entry - address + 4 * len(marker.CODE)
