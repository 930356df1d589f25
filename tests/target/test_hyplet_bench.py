"""`./tenon bench hyplet`: how soon a hyplet goes on, whatever Linux does."""

import pytest
from conftest import assert_well


@pytest.mark.timeout(900)
def test_goals_hold(tenon):
    # A release that is early, doubled or lost fails the command.
    outcome = tenon("bench", "hyplet", limit=850)
    assert_well(outcome)
    rows = {(row["name"], *row["params"].values()): row for row in outcome.result}
    loads = ("idle", "cpu", "io")
    assert rows.keys() == {
        *(("timer_jitter", khz, "idle") for khz in (1, 2, 10, 20)),
        *(("timer_jitter", 20, load) for load in loads),
        *(("wait_path", load) for load in loads),
    }
    assert all(row["samples"] == 2000 and row["max"] <= row["goal"] for row in outcome.result)
    # The path is the same, whatever Linux does.
    paths = {(rows["wait_path", load]["min"], rows["wait_path", load]["max"]) for load in loads}
    assert len(paths) == 1
