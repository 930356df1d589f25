"""Stack bounds of threads: the deepest path, and unknown parts."""

from __future__ import annotations

import pytest
from assembled import BLR, NOP, RET, Program, down, push, up

from tenonos.analysis.graph import Graph
from tenonos.analysis.stacks import Need, Stacks

SPSEL_0, SPSEL_1, ERET = 0xD50040BF, 0xD50041BF, 0xD69F03E0
SAVED, KEPT, RESCHEDULED = 176, 16, 96


def stacks(threads=(), handlers=(), **functions):
    program = Program(
        {
            "tenon_interrupt.v3": [SPSEL_0, push(SAVED), SPSEL_1, push(KEPT), BLR, ERET],
            "reschedule": [push(RESCHEDULED), RET],
            **{name: list(words) for name, words in functions.items()},
        },
        {
            ".tenon.threads": [((e, 0), (e, 0), size, taken) for e, size, taken in threads],
            ".tenon.handlers": [((name, 0),) for name in handlers],
        },
    )
    return program, Stacks(Graph(program.elf()))


ABOVE = SAVED + RESCHEDULED


def test_a_thread_needs_its_deepest_way_its_closure_and_an_interruption():
    _, found = stacks(
        [("thread", 1024, 32)],
        thread=[push(16), ("bl", "shallow"), ("bl", "deep"), RET],
        shallow=[down(64), up(64), RET],
        deep=[push(16), down(48), ("bl", "shallow"), up(64), RET],
    )
    (thread,) = found.threads()
    assert thread.need == Need(32 + 16 + 64 + 64 + ABOVE)
    assert (thread.size, thread.need.bounded) == (1024, True)
    assert list(found.short()) == []


def test_a_storage_that_may_be_too_small_is_reported():
    _, found = stacks([("thread", 256, 0)], thread=[push(16), RET])
    (line,) = found.short()
    assert line.endswith(f"may need {16 + ABOVE} bytes of stack and has 256; give it more")


def test_a_way_that_panics_needs_nothing():
    _, found = stacks(
        [("thread", 1024, 0)],
        rust_begin_unwind=[down(2048), ("b", "rust_begin_unwind")],
        _RNv4core9panicking=[push(64), ("bl", "rust_begin_unwind")],
        thread=[push(16), ("b.eq", 2), ("bl", "_RNv4core9panicking"), RET],
    )
    assert found.threads()[0].need == Need(16 + ABOVE)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ([push(16), BLR, RET], "calls through pointers in thread"),
        ([push(16), ("bl", "thread"), RET], "recursion in thread"),
        ([push(16), 0xCB2863FF, RET], "a computed stack in thread"),
    ],
)
def test_unknown_bounds_are_reported(words, why):
    _, found = stacks([("thread", 1024, 0)], thread=words)
    need = found.threads()[0].need
    assert need.size == 16 + ABOVE and not need.bounded
    assert found.why(need) == [why]


def test_expiries_call_what_timers_were_made_with():
    program, _ = stacks(
        handlers=["serve"],
        serve=[push(32), BLR, RET],
        timer=[push(48), NOP, RET],
    )
    program.sections |= {".tenon.expiries": [(("serve", 1),)], ".tenon.timers": [(("timer", 0),)]}
    found = Stacks(Graph(program.elf()))
    assert found.handlers() == Need(32 + 48 + KEPT)


def test_the_start_of_the_image_runs_on_the_stack_of_interrupts():
    _, found = stacks(handlers=["serve"], serve=[push(32), RET], tenon_main=[down(512), RET])
    assert found.handlers() == Need(512)


def test_two_functions_that_call_each_other_are_not_bounded():
    _, found = stacks(
        [("thread", 1024, 0)],
        thread=[push(16), ("bl", "even"), RET],
        even=[push(16), ("b.eq", 2), ("bl", "odd"), RET],
        odd=[push(32), ("bl", "even"), RET],
    )
    need = found.threads()[0].need
    assert need.recursive == {"even"} and need.size == 16 + 16 + 32 + ABOVE
