"""`./tenon bench storm`: what less urgent VMs take from the core of an urgent one."""

import pytest
from conftest import assert_well

pytestmark = pytest.mark.long(
    60, "pool/mortise/machine", "pool/mortise/run", "pool/mortise/dispatch"
)

PATHS = {"sgi", "redistributor", "distributor", "psci", "channel"}


@pytest.mark.timeout(900)
def test_no_path_takes_an_instruction_of_a_more_urgent_vm(tenon):
    outcome = tenon("bench", "storm", limit=800)
    assert_well(outcome)
    stolen = {
        (row["params"]["path"], row["params"]["senders"]): row["max"] for row in outcome.result
    }
    assert stolen == {(path, senders): 0 for path in PATHS for senders in (1, 2, 3)}
