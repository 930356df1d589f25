"""Mortise's start is split by what each instruction was executed for."""

import pytest

from tenonos.run.plugin import NOBODY, Visit
from tools.bench import phases, steps
from tools.bench.row import Kinds

BL, BLR, RET, NOP, DSB = 0x9400_0000, 0xD63F_0100, 0xD65F_03C0, 0xD503_201F, 0xD503_3F9F
ENTER, NEW, WRITE = (
    "mortise_partition::boot::enter",
    "mortise_partition::boot::vms::new_vm",
    "core_log::write",
)

# Assembly from 0 on, which calls a function at 0x100; that creates a VM at 0x200, prints so in its
# middle at 0x300, and enters a guest itself.
WORDS = {
    0: NOP,
    4: BL,
    0x100: BL,
    0x104: BLR,
    0x108: NOP,
    0x200: BL,
    0x204: RET,
    0x300: DSB,
    0x304: RET,
}
CHAINS = {0x100: ("main",), 0x104: ("main",), 0x108: ("main", ENTER), 0x200: (NEW,), 0x204: (NEW,)}
SAID = {0x300: ("say",), 0x304: ("say", WRITE)}
STEPS = (0, 4, 0x100, 0x200, 0x300, 0x304, 0x204, 0x104, 0x200, 0x204, 0x108)


@pytest.fixture
def code(monkeypatch):
    """Code of those words, in those functions."""
    one = object.__new__(steps.Code)
    one.word = WORDS.get
    one._chain = lambda address: (CHAINS | SAID).get(address, ())
    return one


def test_a_step_is_its_callers_too(code):
    callers = [*code.callers(STEPS)]
    assert callers[:2] == [(), ()], "assembly is of no function"
    assert callers[5] == ("main", NEW, "say", WRITE)
    assert callers[6] == ("main", NEW), "back from there"
    assert callers[8] == ("main", NEW), "called by a register"
    assert callers[-1] == ("main", ENTER)


def test_each_step_is_of_one_phase(code):
    visit = Visit(0, NOBODY, 0, 0, len(STEPS), 0, 0, 0, 0, 0, 0, steps=STEPS)
    found = phases.split(code, visit)
    assert [*found] == [*phases.names()]
    counts = {name: count for name, (count, _) in found.items() if count}
    # What is said in the midst of another phase is a line all the same.
    assert counts == {"reset": 2, "rest": 2, "machines": 5, "lines": 1, "core": 1}
    assert sum(counts.values()) == len(STEPS)
    assert found["machines"][1] == Kinds(barriers=1)
