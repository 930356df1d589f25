"""`./tenon bench detach`: no other instructions run between those of a detached program."""

import pytest
from conftest import assert_well

LOADS = ("idle", "io", "build")


@pytest.mark.long(32, "pool/mortise/detach", "linux")
@pytest.mark.timeout(450)
def test_goals_hold(tenon):
    # A program that does not end fails the command.
    outcome = tenon("bench", "detach", limit=430)
    assert_well(outcome)
    rows = {(row["name"], *row["params"].values()): row for row in outcome.result}
    names = ("fwq_noise", "loop_jitter", "fwq_attached", "loop_attached")
    assert {(name, load) for name in names for load in LOADS} < rows.keys()
    for load in LOADS:
        noise, jitter = rows["fwq_noise", load], rows["loop_jitter", load]
        assert (noise["samples"], noise["min"], noise["max"]) == (400, 0, 0)
        assert (jitter["samples"], jitter["max"]) == (200, 0)
        # The count detects interference: Linux's timer shows while the program is attached.
        assert rows["fwq_attached", load]["max"] > 1000 < rows["loop_attached", load]["max"]
    assert [entry["paper"] for entry in rows["fwq_noise", "io"]["paper"]] == ["L4Re"]
    for owner in ("polling", "sleeping"):
        call = rows["syscall_forward", owner]
        assert call["samples"] == 1000 and call["median"] <= call["goal"]
    for signal, samples in {"handled": 400, "stop": 400, "kill": 40}.items():
        bound = rows["signal_bound", signal]
        assert bound["samples"] == samples and 0 < bound["max"] <= bound["goal"]
