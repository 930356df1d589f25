"""`./tenon bench lifecycle`: what life cycles cost that Linux asks for, and that nobody notices."""

import pytest
from conftest import assert_well


@pytest.mark.timeout(500)
def test_goals_hold(tenon):
    # A neighbour that exits or loses a release fails the command.
    outcome = tenon("bench", "lifecycle", limit=450)
    assert_well(outcome)
    rows = {row["name"]: row for row in outcome.result}
    assert rows.keys() == {"create_to_first_instruction", "pause", "resume", "destroy"}
    assert all(row["samples"] == 10 for row in rows.values())
    # Every byte is loaded and every page scrubbed: less would be a figure of something else.
    assert rows["create_to_first_instruction"]["min"] > 200_000
    assert rows["destroy"]["min"] > 200_000
    missed = {name for name, row in rows.items() if row["goal"] and row["median"] > row["goal"]}
    assert not missed, {name: rows[name]["median"] for name in missed}
