"""`./tenon bench hyplet`: how soon a hyplet goes on, whatever Linux does."""

import pytest
from conftest import assert_well


@pytest.mark.timeout(900)
def test_goals_hold(tenon):
    # A release that is early, doubled or lost fails the command.
    outcome = tenon("bench", "hyplet", limit=850)
    assert_well(outcome)
    rows = {(row["name"], *row["params"].values()): row for row in outcome.result}
    loads, ways = ("idle", "io", "build"), ("to_mortise", "to_linux")
    timed = {
        *(("timer_jitter", khz, "idle") for khz in (1, 2, 10, 20)),
        *(("timer_jitter", 20, load) for load in loads),
        *(("wait_path", load) for load in loads),
    }
    pollers = ("hyplet", "linux")
    polled = {
        *((name, by) for name in ("distance", "light") for by in pollers),
        *(("look_noise", by, load) for by in pollers for load in loads),
    }
    assert rows.keys() == timed | polled | {("look",)} | {
        ("handover", way, *part) for way in ways for part in ((), ("mortise",), ("linux",))
    }
    assert all(rows[key]["samples"] == 2000 for key in timed)
    assert all(rows[key]["max"] <= rows[key]["goal"] for key in timed)
    # The path is the same, whatever Linux does.
    paths = {(rows["wait_path", load]["min"], rows["wait_path", load]["max"]) for load in loads}
    assert len(paths) == 1
    # Linux's hot-plug is nearly all of a change of hands.
    for way in ways:
        assert rows["handover", way]["samples"] == 20
        assert 0 < rows["handover", way, "mortise"]["max"] < rows["handover", way]["min"] / 10
    # A hyplet finds known delays, to a microsecond by the clock, or the command fails; nobody comes
    # between its looks, and Linux does between those of its own programs.
    assert all(rows[key]["samples"] == 40 for key in polled)
    assert abs(rows["distance", "hyplet"]["median"] - 300_000) <= 172
    assert abs(rows["light", "hyplet"]["median"] - 2_122_000) <= 1_000
    assert all(rows["look_noise", "hyplet", load]["max"] == 0 for load in loads)
    # Its tick always does; whether another process does, for a millisecond and more, is chance.
    assert all(rows["look_noise", "linux", load]["max"] > 1_000 for load in loads)
