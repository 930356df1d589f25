"""Progress messages of long activities off a terminal."""

import pytest

from tenonos import silence, ui


@pytest.fixture
def clock(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(silence.time, "monotonic", lambda: now[0])
    return now


def test_a_long_activity_is_reported_periodically(clock, capsys):
    with ui.activity("measuring") as tell:
        tell("one")
        clock[0] = ui.SILENCE
        tell("two")
        tell("three")
        clock[0] = 3 * ui.SILENCE
        tell("[four]")
    assert capsys.readouterr().err.splitlines() == [
        "measuring",
        "measuring: two",
        "measuring: [four]",
    ]
