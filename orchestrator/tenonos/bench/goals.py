"""What a figure is compared with: the project's goal, and the best peer.

Peers were measured in November 2026 with the same counter on the same emulator and CPU model, at
their best options: -O2, one CPU, Zephyr 4.3 with its multi-queue scheduler and without slices.
"""

from __future__ import annotations

from dataclasses import dataclass

from tenonos.bench.row import Row

NOTE = "best peer: November 2026 runs of each peer at its best options, same emulator settings"


@dataclass(frozen=True)
class Goal:
    """The most a figure may be, and the best of the others."""

    most: int
    peer: str = ""


GOALS = {
    ("sched", "yield"): Goal(40, "84 Zephyr"),
    ("sched", "resume_preempt"): Goal(80, "102 Zephyr"),
    ("sched", "block_switch"): Goal(80, "115 Zephyr"),
    ("sched", "sem_preempt"): Goal(100, "151 ThreadX"),
    ("sched", "sem_give"): Goal(14, "22 Zephyr"),
    ("sched", "sem_take"): Goal(10, "15 Zephyr"),
    ("sched", "mutex_lock"): Goal(14, "23 Zephyr"),
    ("sched", "mutex_unlock"): Goal(16, "36 Zephyr"),
    ("sched", "queue_put"): Goal(45, "69 ThreadX"),
    ("sched", "queue_get"): Goal(45, "65 ThreadX"),
    ("sched", "message_wake"): Goal(130, "192 ThreadX"),
    ("irq", "entry"): Goal(25, "30 FreeRTOS"),
    ("irq", "exit"): Goal(25, "33 FreeRTOS"),
    ("irq", "wake"): Goal(150, "228 Zephyr"),
    ("timer", "start"): Goal(50, "58 ThreadX"),
    ("timer", "cancel"): Goal(30, "54 ThreadX"),
    ("timer", "expire"): Goal(60, "92 ThreadX"),
    ("timer", "masked_max"): Goal(600),
    ("timer", "periodic_load"): Goal(150_000, "221,240 ThreadX"),
    ("boot", "tenon_reset_to_main"): Goal(8_000, "11,650 FreeRTOS"),
}


def goal(row: Row) -> Goal | None:
    """The goal of a figure, if it has one."""
    return GOALS.get((row.suite, row.name))


def judged(row: Row) -> int:
    """The figure that is held against the goal: the longest where the row is about the longest."""
    return row.max if row.name == "masked_max" else row.median
