"""`./tenon bench cache`: what a neighbour displaces, in a model of a shared cache."""

from conftest import assert_well

LINES = 256 * 1024 // 64
"""Of the victim's working set."""


def test_a_neighbour_displaces_all_that_is_not_partitioned(tenon):
    outcome = tenon("bench", "cache", limit=200)
    assert_well(outcome)
    found = {row["params"]["case"]: (row["min"], row["max"]) for row in outcome.result}
    assert found == {"alone": (0, 0), "shared": (LINES, LINES)}
    assert all(row["unit"] == "misses" and row["samples"] == 48 for row in outcome.result)
