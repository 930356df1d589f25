"""From where a call that is given up counts: its deadline, not what the core was at before."""

import pytest

from tenonos.bench.given_up import clean

NOP, TAKE, LOOK = 0xD503_201F, 0xD538_CC09, 0xD538_C111


@pytest.mark.parametrize(
    ("words", "before"),
    [
        ([], 0),
        ([NOP, NOP, TAKE, NOP, LOOK, LOOK], 0),  # the deadline is what the core came for
        ([NOP, LOOK, TAKE], 0),  # the look that finds it is its own
        ([NOP, LOOK, NOP, LOOK, TAKE, LOOK], 2),  # the first of two found nothing
        ([TAKE, LOOK, NOP, LOOK, LOOK, NOP, TAKE, NOP], 4),  # it came for something else
        ([NOP, LOOK, LOOK], 0),  # nothing was taken
    ],
)
def test_what_came_before_the_deadline_does_not_count(words, before):
    assert clean(words) == before
