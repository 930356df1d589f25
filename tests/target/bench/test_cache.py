"""`./tenon bench cache`: cache lines that a neighbour evicts, in a model of a shared cache."""

from conftest import assert_well

LINES = 256 * 1024 // 64
"""Lines of the victim's working set."""
SWEEPS = 50


def test_a_neighbour_displaces_all_that_is_not_partitioned(tenon):
    outcome = tenon("bench", "cache", limit=300)
    assert_well(outcome)
    found = {row["params"]["case"]: row["max"] for row in outcome.result}
    assert found["alone"] == LINES, "what the first sweep does not find"
    assert found["shared"] == SWEEPS * LINES
    assert found["coloured"] <= 1.05 * found["alone"]
    assert all(row["unit"] == "misses" and row["samples"] == SWEEPS for row in outcome.result)
