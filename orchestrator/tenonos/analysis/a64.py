"""What an A64 instruction does to control and to the stack pointer; of the rest nothing.

A call graph needs the branches and the few forms that change SP, which are regular enough to decode
here (Arm ARM, C4.1): a disassembler would be a dependency for twenty lines of masks.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

SP = 31
FP = 29


class Flow(Enum):
    """Where execution goes on after an instruction."""

    NEXT = auto()
    JUMP = auto()
    BRANCH = auto()
    """To the target or to the next instruction."""
    CALL = auto()
    CALL_REGISTER = auto()
    JUMP_REGISTER = auto()
    RETURN = auto()
    TRAP = auto()


class Stack(Enum):
    """What an instruction does to SP or to the frame pointer."""

    MOVE = auto()
    """SP changes by `amount`."""
    FRAME = auto()
    """The frame pointer becomes SP + `amount`."""
    RESTORE = auto()
    """SP becomes the frame pointer + `amount`."""
    LOAD = auto()
    """SP becomes the register `amount`."""
    UNKNOWN = auto()


@dataclass(frozen=True, slots=True)
class Effect:
    """What one instruction does."""

    flow: Flow = Flow.NEXT
    target: int = 0
    stack: Stack | None = None
    amount: int = 0


NOTHING = Effect()
_RETURN, _TRAP = Effect(Flow.RETURN), Effect(Flow.TRAP)


def effect(word: int, address: int) -> Effect:
    """The effect of the instruction `word` at `address`."""
    group = word >> 25 & 0xF  # op0, C4.1
    if group & 0b1110 == 0b1010:
        return _branch(word, address)
    if group & 0b1110 == 0b1000:
        return _immediate(word)
    if group & 0b0101 == 0b0100:
        return _indexed(word)
    if word & 0x3FE0001F == 0x0B20001F:  # ADD, SUB SP, SP, Xm
        return Effect(stack=Stack.UNKNOWN)
    return _TRAP if word >> 16 == 0 else NOTHING  # UDF


def _branch(word: int, address: int) -> Effect:
    if word >> 26 == 0b000101:
        return Effect(Flow.JUMP, address + _signed(word, 26) * 4)
    if word >> 26 == 0b100101:
        return Effect(Flow.CALL, address + _signed(word, 26) * 4)
    if word >> 24 == 0x54 or word & 0x7E000000 == 0x34000000:  # B.cond; CBZ, CBNZ
        return Effect(Flow.BRANCH, address + _signed(word >> 5, 19) * 4)
    if word & 0x7E000000 == 0x36000000:  # TBZ, TBNZ
        return Effect(Flow.BRANCH, address + _signed(word >> 5, 14) * 4)
    if word & 0xFFFFFC1F == 0xD63F0000:
        return Effect(Flow.CALL_REGISTER, word >> 5 & 31)
    if word & 0xFFFFFC1F == 0xD61F0000:
        return Effect(Flow.JUMP_REGISTER, word >> 5 & 31)
    if word & 0xFFFFFC1F == 0xD65F0000 or word == 0xD69F03E0:  # RET, ERET
        return _RETURN
    return _TRAP if word & 0xFFE0001F == 0xD4200000 else NOTHING  # BRK


def _immediate(word: int) -> Effect:
    """ADD, SUB and AND with an immediate, where they read or write SP."""
    to, source = word & 31, word >> 5 & 31
    if word & 0xFF800000 == 0x92000000 and to == SP:  # AND SP, Xn: a stack that is aligned anew
        return Effect(stack=Stack.UNKNOWN)
    if word & 0xBF800000 != 0x91000000 or (to != SP and source != SP):
        return NOTHING
    amount = (word >> 10 & 0xFFF) << (12 if word & 1 << 22 else 0)
    amount = -amount if word & 1 << 30 else amount
    if source == SP:
        if to == SP:
            return Effect(stack=Stack.MOVE, amount=amount)
        return Effect(stack=Stack.FRAME, amount=amount) if to == FP else NOTHING
    if source == FP:
        return Effect(stack=Stack.RESTORE, amount=amount)
    return Effect(stack=Stack.LOAD if amount == 0 else Stack.UNKNOWN, amount=source)


def _indexed(word: int) -> Effect:
    """Loads and stores that write their base back, where the base is SP."""
    if word >> 5 & 31 != SP:
        return NOTHING
    if word & 0x3A800000 == 0x28800000:  # LDP, STP: post-indexed 0b001, pre-indexed 0b011
        vector, size = word >> 26 & 1, word >> 30
        scale = 4 << size if vector else 8 if size == 2 else 4
        return Effect(stack=Stack.MOVE, amount=_signed(word >> 15, 7) * scale)
    if word & 0x3B200400 == 0x38000400:  # LDR, STR: post-indexed 0b01, pre-indexed 0b11
        return Effect(stack=Stack.MOVE, amount=_signed(word >> 12, 9))
    return NOTHING


def _signed(value: int, bits: int) -> int:
    value &= (1 << bits) - 1
    return value - (value >> bits - 1 << bits)
