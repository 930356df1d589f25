"""`./tenon bench regain`: cost of regaining a core from a guest that never yields it."""

import pytest
from conftest import ROOT, assert_well

pytestmark = pytest.mark.long(
    40,
    "pool/mortise/lifecycle",
    "pool/mortise/machine",
    "pool/mortise/run",
)

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
    # A row without a goal would pass.
    goals = {key: row["goal"] for key, row in rows.items()}
    assert all(goals.values()), goals
    missed = {key: row["max"] for key, row in rows.items() if row["max"] > row["goal"]}
    assert not missed
    # The withdrawal and the message contain at least their barriers and writes.
    assert all(row["min"] > 10 for row in rows.values())


@pytest.mark.timeout(400)
def test_who_blocks_the_doorbell_comes_back_from_a_pause(tenon):
    # Its core was in WFI with the highest priority active, so that no interrupt woke it.
    outcome = tenon(
        "run", "bench-regain", "--headless", "--deterministic", "--seconds", 30, limit=350
    )
    assert_well(outcome)
    assert "manager: 0 calls failed" in outcome.said("manager")
    assert [line for line in outcome.said("mortise") if " lost CPU " in line] == []
    for name in ("masked-asleep", "masked", "deaf"):
        vm = outcome.vm(name)
        assert (vm["state"], vm["restarts"]) == ("destroyed", 5)


COLOURED = """\
name = "coloured"
board = "qemu-virt"
pool = "0.1"
mode = "dynamic"

[[vm]]
name = "manager"
kind = "tenon"
app = "{root}/bench/systems/bench-regain/manager"
cpus = [0]
memory = "8M"
interrupts = "shared"

[vm.manages]
vms = ["deaf"]

[[vm]]
name = "deaf"
kind = "tenon"
app = "{root}/tests/support/guests/deaf"
cpus = [2]
memory = "4M"
interrupts = "direct"
colours = 4
"""


@pytest.mark.timeout(300)
def test_a_root_that_the_managers_core_does_not_map_is_withdrawn_too(tenon, tmp_path):
    # Tables of coloured VMs are scattered; Mortise once accessed them on the manager's core.
    file = tmp_path / "system.toml"
    file.write_text(COLOURED.format(root=ROOT))
    outcome = tenon("run", file, "--headless", "--deterministic", "--seconds", 30, limit=250)
    assert_well(outcome)
    assert "manager: 0 calls failed" in outcome.said("manager")
    assert (outcome.vm("deaf")["state"], outcome.vm("deaf")["restarts"]) == ("destroyed", 5)
