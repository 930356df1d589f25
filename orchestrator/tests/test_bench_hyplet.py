"""What a hyplet's timer says of itself, for the bench."""

import pytest

from tenonos.bench.hyplet import Run, judge
from tenonos.errors import WorkError

IDLE, BUSY = Run("idle", 20), Run("cpu", 20)


def test_what_is_right_passes():
    judge(IDLE, 2000, 0, 0, 32, 48, 9000)


@pytest.mark.parametrize(
    ("run", "told"),
    [
        (BUSY, (2000, 1, 0, 32, 48, 48)),
        (BUSY, (1999, 0, 0, 32, 48, 48)),
        (IDLE, (2000, 0, 1, 32, 48, 48)),
        (IDLE, (2000, 0, 0, 32, 240, 240)),
    ],
)
def test_a_release_that_was_not_right_is_an_error(run, told):
    with pytest.raises(WorkError):
        judge(run, *told)


def test_beside_busy_cores_the_clock_does_not_judge():
    judge(BUSY, 2000, 0, 3, 32, 9000, 9000)
