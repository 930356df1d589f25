"""The pace of long activities, by a clock of the test's own."""

import pytest

from tenonos.pace import Pace, length


def test_what_is_left_takes_as_long_as_what_is_done():
    now = 100.0
    pace = Pace(80, lambda: now)
    assert pace.at(0) == "0 of 80 done"
    now += 60
    assert pace.at(20) == "20 of 80 done, about 3 min left"
    assert pace.at(79) == "79 of 80 done, about 1 s left"
    assert pace.at(80) == "80 of 80 done"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.2, "1 s"), (89, "89 s"), (90, "2 min"), (301, "5 min"), (5399, "90 min"), (9000, "2.5 h")],
)
def test_an_estimate_has_one_unit(seconds, text):
    assert length(seconds) == text
