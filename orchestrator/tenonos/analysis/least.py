"""The least period and the least deadline of a task: bounds by the counter and the kernels.

A time shorter than a tick of the counter is not counted, and a release costs instructions before
its body: the interrupt and the switch to the task, afterwards its block and the next timer.
"""

from __future__ import annotations

from tenonos.analysis.costs import Costs
from tenonos.system.board import Board

SECOND = 1_000_000_000
NATIVE_RELEASE = 50
"""Instructions of a release of a native task with an empty body: 41 in `tests/systems/plain` with a
period below that."""


def tick(board: Board) -> int:
    """Nanoseconds of one tick of the board's counter, rounded up."""
    return -(-SECOND // board.timer.frequency)


def deadline(board: Board, kernel: Costs) -> int:
    """The least deadline: what passes from a release to its first instruction."""
    return max(tick(board), _time(board, kernel.wake))


def period(board: Board, kernel: Costs) -> int:
    """The least period: the whole cost of a release with an empty body."""
    return max(tick(board), _time(board, kernel.wake + kernel.leave))


def native_period(board: Board) -> int:
    """The least period of a native task, without any kernel."""
    return max(tick(board), _time(board, NATIVE_RELEASE))


def reasons(board: Board, kernel: Costs) -> str:
    """The two bounds in words."""
    return (
        f"a tick of its counter takes {tick(board)} ns, a release "
        f"{kernel.wake + kernel.leave} instructions, {kernel.wake} of them before its body"
    )


def _time(board: Board, instructions: int) -> int:
    return -(-instructions * SECOND // board.instructions_per_second)
