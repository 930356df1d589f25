"""The use of budgets, from the words of an image's counters to the table of a run."""

from __future__ import annotations

import struct
from types import SimpleNamespace

import pytest
from rich.console import Console

from tenonos.run import budgets
from tenonos.run.dynamic_vms import DynamicVm
from tenonos.run.formats import BUDGET_SIZE, BUDGETS_AT, NAME_SIZE, STATUS_SIZE, State, Status
from tenonos.run.result import BudgetResult, UsedTime
from tenonos.run.screen import budget_table

MS = 62_500
"""Ticks."""
BUSY = (2 * MS, 10 * MS, 90, 10, 10 * MS, MS)


class Memory:
    """Memory that is zero except for what was written."""

    def __init__(self) -> None:
        self.bytes = bytearray(0x10000)

    def write(self, address: int, data: bytes) -> None:
        self.bytes[address : address + len(data)] = data

    def read(self, address: int, size: int) -> bytes:
        return bytes(self.bytes[address : address + size])


def session(memory: Memory, *watched: budgets.WatchedBudget, late=None) -> SimpleNamespace:
    target = SimpleNamespace(budgets=watched, counter_hz=62_500_000)
    return SimpleNamespace(target=target, memory=memory, late=SimpleNamespace(seen=late or {}))


def words(*values: int) -> bytes:
    return struct.pack("<6Q", *values)


def test_the_counters_of_a_vm_become_times():
    memory = Memory()
    memory.write(0x1000 + BUDGETS_AT, words(*BUSY))
    busy = budgets.WatchedBudget("busy", 0x1000 + BUDGETS_AT, cpu=0)
    assert budgets.results(session(memory, busy), None) == [
        BudgetResult(
            vm="busy",
            cpu=0,
            budget_ns=2_000_000,
            period_ns=10_000_000,
            periods=100,
            exhausted=90,
            used_per_period_ns=UsedTime(mean=1_900_000, max=2_000_000),
        )
    ]


def test_a_deterministic_run_takes_the_words_of_its_last_sample():
    memory = Memory()
    memory.write(0x1000, words(2 * MS, 10 * MS, 91, 10, 10 * MS, MS))
    cut = iter(BUSY)
    (one,) = budgets.results(
        session(memory, budgets.WatchedBudget("busy", 0x1000, 0)), cut.__next__
    )
    assert one.periods == 100 and next(cut, None) is None


def test_a_server_has_the_name_of_its_thread():
    memory = Memory()
    memory.write(0x2000, b"filter\0\0" + bytes(NAME_SIZE - 8) + words(*BUSY))
    records = [
        budgets.WatchedBudget("motor", at + NAME_SIZE, name=at)
        for at in (0x2000, 0x2000 + budgets.SERVER_RECORD_SIZE)
    ]
    (one,) = budgets.results(session(memory, *records), None)
    assert (one.vm, one.server, one.cpu) == ("motor", "filter", None)


@pytest.mark.parametrize(
    "forged",
    [
        (0, 10, 1, 1, 1, 1),
        (11, 10, 1, 1, 1, 1),
        (5, 10, 1, 2, 11, 5),
        (5, 10, 2, 1, 5, 6),
    ],
)
def test_a_guest_that_states_what_cannot_be_is_left_out(forged):
    memory = Memory()
    memory.write(0x2000, b"\xff\x1b[2J" + bytes(NAME_SIZE - 5) + words(*forged))
    record = budgets.WatchedBudget("hostile", 0x2000 + NAME_SIZE, name=0x2000)
    assert budgets.results(session(memory, record), None) is None


def test_a_vm_made_at_run_time_is_counted_once_it_has_started():
    page = bytearray(STATUS_SIZE)
    page[:8] = struct.pack("<II", 0x54534E54, 1)
    page[0x08:0x0C] = b"late"
    page[0x34:0x38] = struct.pack("<I", 1)
    page[0x6C:0x78] = struct.pack("<I8B", 7, 2, *[0xFF] * 7)
    page[BUDGETS_AT : BUDGETS_AT + BUDGET_SIZE] = words(*BUSY) + bytes(16)
    found = {}
    for state in (State.CREATED, State.RUNNING):
        page[0x28:0x2C] = struct.pack("<I", state)
        late = {"late": DynamicVm(0, Status.parse(bytes(page)))}
        found[state] = budgets.results(session(Memory(), late=late), None)
    assert found[State.CREATED] is None
    (one,) = found[State.RUNNING]
    assert (one.vm, one.cpu, one.exhausted) == ("late", 2, 90)


def test_the_table_states_times_and_no_control_characters():
    used = UsedTime(mean=1_900_000, max=2_000_000)
    terms = {"budget_ns": 2_000_000, "period_ns": 10_000_000, "used_per_period_ns": used}
    rows = [
        BudgetResult(vm="busy", cpu=0, periods=1_000, exhausted=900, **terms),
        BudgetResult(vm="motor", server="fil\x1b[2Jter", periods=0, exhausted=0, **terms),
    ]
    console = Console(width=120, record=True, file=open("/dev/null", "w"))  # noqa: SIM115
    console.print(budget_table(rows))
    text = console.export_text()
    assert "1.9 ms of 2 ms" in text and "2 ms of 2 ms" in text and "in 900 of 1,000 periods" in text
    assert "\x1b" not in text and "motor: fil" in text
