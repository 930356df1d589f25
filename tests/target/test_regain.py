"""`./tenon bench regain`: what it takes to have a core back from a guest that never yields it."""

import pytest
from conftest import assert_well

ASKING = ("decision_to_doorbell", "withdrawal", "call_to_doorbell")
LEAVING = ("doorbell_to_stopped", "abort_to_left")


@pytest.mark.timeout(600)
def test_goals_hold(tenon):
    outcome = tenon("bench", "regain", limit=550)
    assert_well(outcome)
    rows = {(row["name"], row["params"]["order"]): row for row in outcome.result}
    asked = {(name, order) for name in ASKING for order in ("pause", "restart", "destroy")}
    left = {(name, order) for name in LEAVING for order in ("pause", "restart")}
    assert rows.keys() == asked | left
    # A row without a goal would hold any.
    goals = {key: row["goal"] for key, row in rows.items()}
    assert all(goals.values()), goals
    missed = {key: row["max"] for key, row in rows.items() if row["max"] > row["goal"]}
    assert not missed
    # Of the whole, what is withdrawn and the message take no less than their barriers and writes.
    assert all(row["min"] > 10 for row in rows.values())


@pytest.mark.timeout(400)
def test_who_blocks_the_doorbell_comes_back_from_a_pause(tenon):
    # Its core rested with the highest priority claimed to be active, so that nothing woke it.
    outcome = tenon(
        "run", "bench-regain", "--headless", "--deterministic", "--seconds", 30, limit=350
    )
    assert_well(outcome)
    assert "manager: 0 calls failed" in outcome.said("manager")
    assert [line for line in outcome.said("mortise") if " lost CPU " in line] == []
    for name in ("masked-asleep", "masked", "deaf"):
        vm = outcome.vm(name)
        assert (vm["state"], vm["restarts"]) == ("destroyed", 5)
