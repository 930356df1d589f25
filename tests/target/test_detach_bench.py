"""`./tenon bench detach`: nothing comes between a detached program's instructions."""

import pytest
from conftest import assert_well

LOADS = ("idle", "io", "build")


@pytest.mark.timeout(300)
def test_goals_hold(tenon):
    # A program that does not come to its end fails the command.
    outcome = tenon("bench", "detach", limit=280)
    assert_well(outcome)
    rows = {(row["name"], *row["params"].values()): row for row in outcome.result}
    assert rows.keys() == {
        *(("fwq_noise", load) for load in LOADS),
        *(("fwq_attached", load) for load in LOADS),
    }
    assert all(rows["fwq_noise", load]["max"] == 0 for load in LOADS)
    assert all(rows["fwq_noise", load]["samples"] == 400 for load in LOADS)
    # What is counted would have shown: Linux's timer does, where the program is Linux's.
    assert all(rows["fwq_attached", load]["p99"] > 1000 for load in LOADS)
