"""Decoder of A64 instructions: their effect on control flow and on the stack pointer.

The instructions are decoded by capstone. Two of its interfaces are used: the short one, which gives
mnemonic and operands as text, for every word, and the detailed one, four times slower, only for
words that name the stack pointer. Words repeat, so each is decoded once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum, auto
from functools import cache, lru_cache
from typing import Any


class Flow(Enum):
    """Control flow after an instruction."""

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
    """Effect of an instruction on SP or on the frame pointer."""

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
    """Effect of one instruction."""

    flow: Flow = Flow.NEXT
    target: int = 0
    """The address branched to, or the number of the register that holds it."""
    stack: Stack | None = None
    amount: int = 0


NOTHING = Effect()
_DIRECT = {"b": Flow.JUMP, "bl": Flow.CALL}
_CONDITIONAL = {"cbz", "cbnz", "tbz", "tbnz"}
_REGISTER = {"blr": Flow.CALL_REGISTER, "br": Flow.JUMP_REGISTER}
_END = {"ret": Flow.RETURN, "eret": Flow.RETURN, "brk": Flow.TRAP, "udf": Flow.TRAP}
_RELATIVE = {Flow.JUMP, Flow.CALL, Flow.BRANCH}
_MIDDLE = 1 << 32
"""The address at which words are decoded: no branch from it reaches below 0."""


def effect(word: int, address: int) -> Effect:
    """The effect of the instruction `word` at `address`."""
    found = _decoded(word)
    if found.flow in _RELATIVE:
        return replace(found, target=address + found.target)
    return found


@lru_cache(maxsize=1 << 16)
def _decoded(word: int) -> Effect:
    """The effect of a word; the target of a branch is relative to its address."""
    code = word.to_bytes(4, "little")
    _, _, name, operands = next(_decoder().disasm_lite(code, _MIDDLE), (0, 0, "", ""))
    if name in _END:
        return Effect(_END[name])
    if name in _REGISTER:
        return Effect(_REGISTER[name], _number(operands))
    conditional = name in _CONDITIONAL or name.startswith(("b.", "bc."))
    if name in _DIRECT or conditional:
        target = int(operands.split("#")[-1], 16) - _MIDDLE
        return Effect(Flow.BRANCH if conditional else _DIRECT[name], target)
    return _stack(code) if "sp" in operands else NOTHING


def _stack(code: bytes) -> Effect:
    """The effect on the stack pointer of an instruction that names it."""
    from capstone import arm64

    instruction = next(_decoder(detail=True).disasm(code, _MIDDLE))
    _, written = instruction.regs_access()
    kind, operands = instruction.id, instruction.operands
    sp, fp = arm64.ARM64_REG_SP, arm64.ARM64_REG_FP
    if instruction.writeback:
        return _indexed(operands, sp)
    to, source = (operand.reg for operand in operands[:2]) if len(operands) > 1 else (0, 0)
    amount = _amount(kind, operands)
    if to == fp and source == sp and amount is not None:
        return Effect(stack=Stack.FRAME, amount=amount)
    if sp not in written:
        return NOTHING
    if amount is None:
        return Effect(stack=Stack.UNKNOWN)
    if source == sp:
        return Effect(stack=Stack.MOVE, amount=amount)
    if source == fp:
        return Effect(stack=Stack.RESTORE, amount=amount)
    number = _number(instruction.reg_name(source))
    return Effect(stack=Stack.UNKNOWN if amount else Stack.LOAD, amount=number)


def _amount(kind: int, operands: Any) -> int | None:
    """The constant that a move, an addition or a subtraction adds to its source register."""
    from capstone import arm64

    if kind == arm64.ARM64_INS_MOV and operands[1].type == arm64.ARM64_OP_REG:
        return 0
    if kind not in (arm64.ARM64_INS_ADD, arm64.ARM64_INS_SUB):
        return None
    last = operands[2]
    if last.type != arm64.ARM64_OP_IMM:
        return None
    amount = last.imm << last.shift.value
    return amount if kind == arm64.ARM64_INS_ADD else -amount


def _indexed(operands: Any, sp: int) -> Effect:
    """The effect of a load or store that writes its base register back."""
    from capstone import arm64

    *_, last = operands
    base = next(operand.mem for operand in operands if operand.type == arm64.ARM64_OP_MEM)
    if base.base != sp:
        return NOTHING
    if last.type == arm64.ARM64_OP_REG:  # post-indexed by a register
        return Effect(stack=Stack.UNKNOWN)
    amount = last.imm if last.type == arm64.ARM64_OP_IMM else base.disp
    return Effect(stack=Stack.MOVE, amount=amount)


def _number(register: str) -> int:
    """The number of a general-purpose register."""
    return {"fp": 29, "lr": 30, "xzr": 31}.get(register) or int(register[1:])


@cache
def _decoder(*, detail: bool = False) -> Any:
    # Loaded here: only builds that analyse an image need the library.
    import capstone

    decoder = capstone.Cs(capstone.CS_ARCH_ARM64, capstone.CS_MODE_LITTLE_ENDIAN)
    decoder.detail = detail
    return decoder
