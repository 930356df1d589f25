"""What Linux says of its round trips, as a row."""

import pytest

from tenonos.errors import WorkError
from tools.bench import messages

SAID = "/ # \n1000 round trips: 40100 ns least, 43328 median, 46000 99 of 100, 70001 most\n/ # "


def test_a_message_is_half_a_round_trip():
    row = messages.told(SAID)
    assert row.key == ("channel", "message", '{"ends": "linux", "size": 64}')
    assert (row.samples, row.environment) == (1000, "mortise-static+linux")
    assert row.statistics == (20050, 21664, 23000, 35000)


def test_silence_is_an_error():
    with pytest.raises(WorkError, match="exchanged no messages"):
        messages.told("tenonctl: the other end does not answer")
