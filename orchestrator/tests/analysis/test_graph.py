"""The call graph: calls of a function, with its stack in use at each."""

from __future__ import annotations

import pytest
from assembled import BLR, BR, BRK, NOP, RET, Program, down, push, up
from hypothesis import given
from hypothesis import strategies as st

from tenonos.analysis.a64 import NOTHING, Flow, Stack, effect
from tenonos.analysis.graph import Graph


@pytest.mark.parametrize(
    ("word", "flow", "stack", "amount"),
    [  # as GNU as assembles them
        (0xD10103FF, Flow.NEXT, Stack.MOVE, -64),  # sub sp, sp, #64
        (0xD14007FF, Flow.NEXT, Stack.MOVE, -4096),  # sub sp, sp, #1, lsl #12
        (0x910103FF, Flow.NEXT, Stack.MOVE, 64),  # add sp, sp, #64
        (0xA9BF7BFD, Flow.NEXT, Stack.MOVE, -16),  # stp x29, x30, [sp, #-16]!
        (0xA8C17BFD, Flow.NEXT, Stack.MOVE, 16),  # ldp x29, x30, [sp], #16
        (0x6DBE23E9, Flow.NEXT, Stack.MOVE, -32),  # stp d9, d8, [sp, #-32]!
        (0xADBF07E0, Flow.NEXT, Stack.MOVE, -32),  # stp q0, q1, [sp, #-32]!
        (0xF81F0FFE, Flow.NEXT, Stack.MOVE, -16),  # str x30, [sp, #-16]!
        (0xF84107FE, Flow.NEXT, Stack.MOVE, 16),  # ldr x30, [sp], #16
        (0x910043FD, Flow.NEXT, Stack.FRAME, 16),  # add x29, sp, #16
        (0x910003BF, Flow.NEXT, Stack.RESTORE, 0),  # mov sp, x29
        (0x9100003F, Flow.NEXT, Stack.LOAD, 1),  # mov sp, x1
        (0xCB2863FF, Flow.NEXT, Stack.UNKNOWN, 0),  # sub sp, sp, x8
        (0x927AE53F, Flow.NEXT, Stack.UNKNOWN, 0),  # and sp, x9, #-64
        (0xD63F0100, Flow.CALL_REGISTER, None, 0),  # blr x8
        (0xD61F0100, Flow.JUMP_REGISTER, None, 0),  # br x8
        (0xD65F03C0, Flow.RETURN, None, 0),  # ret
        (0xD69F03E0, Flow.RETURN, None, 0),  # eret
        (0xD4200020, Flow.TRAP, None, 0),  # brk #1
    ],
)
def test_instructions_that_matter(word, flow, stack, amount):
    found = effect(word, 0)
    assert (found.flow, found.stack, found.amount) == (flow, stack, amount)


@pytest.mark.parametrize(
    ("word", "target"),
    [(0x17FFFFFF, -4), (0x94000002, 8), (0x54000040, 8), (0xB4FFFFE0, -4), (0x36000060, 12)],
)
def test_branches_say_where_to(word, target):
    assert effect(word, 0x1000).target == 0x1000 + target


@pytest.mark.parametrize(
    "word",
    [
        0x910003E0,  # mov x0, sp
        0xA94103E0,  # ldp x0, x0, [sp, #16]
        0xA9007BFD,  # stp x29, x30, [sp]
        0xF90003E0,  # str x0, [sp]
        0xF8408C01,  # ldr x1, [x0, #8]!
        0x8B000021,  # add x1, x1, x0
        0xD5384241,  # mrs x1, currentel
    ],
)
def test_the_rest_is_nothing(word):
    assert effect(word, 0) == NOTHING


@given(st.integers(0, (1 << 32) - 1))
def test_every_word_has_an_effect(word):
    found = effect(word, 1 << 20)
    assert abs(found.target - (1 << 20)) <= 1 << 27 or found.target < 32


def graph(**functions):
    program = Program({name: list(words) for name, words in functions.items()})
    return program, Graph(program.elf())


def test_depth_is_what_all_ways_need_at_most():
    # The second half is reached by a branch over a return, with the first half's stack given back.
    program, found = graph(
        f=[("b.eq", 4), down(64), up(64), RET, push(32), down(16), ("bl", "g"), up(48), RET],
        g=[RET],
    )
    f = found.functions[program.address("f")]
    assert (f.depth, f.bounded, f.returns) == (64, True, True)
    assert [(call.target, call.depth) for call in f.calls] == [(program.address("g"), 48)]


def test_code_behind_a_call_that_never_returns_is_another_way():
    program, found = graph(
        f=[push(16), ("bl", "ends"), down(1024), RET],
        ends=[BRK],
    )
    f = found.functions[program.address("f")]
    assert f.depth == 16 and not f.returns


def test_a_table_of_jumps_stays_in_its_function_and_a_jump_leaves_it():
    program, found = graph(
        f=[down(32), ("b.eq", 2), BR, down(16), BLR, up(48), ("b", "g")],
        g=[NOP, RET],
    )
    f = found.functions[program.address("f")]
    assert f.depth == 48
    assert {(call.target, call.depth) for call in f.calls} == {
        (None, 48),
        (program.address("g"), 0),
    }


def test_what_only_panics_is_known():
    _, found = graph(
        rust_begin_unwind=[("b", "rust_begin_unwind")],
        _RNv4core9panicking=[push(16), ("bl", "rust_begin_unwind")],
        cold=[push(16), ("bl", "_RNv4core9panicking")],
        # An endless loop that may panic is a program, and so is a function that may return.
        server=[NOP, ("bl", "maybe"), ("loop", 2), ("bl", "cold")],
        maybe=[("b.eq", 2), ("bl", "cold"), RET],
        # So is a function that ends a thread, although it may panic before.
        exit=[("b.eq", 2), ("bl", "cold"), ("bl", "rest")],
        rest=[NOP, ("b", "rest")],
    )
    names = {found.functions[at].name for at in found.panicking}
    assert names == {"rust_begin_unwind", "_RNv4core9panicking", "cold"}
