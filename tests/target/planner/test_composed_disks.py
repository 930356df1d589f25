"""Composed systems with files on a disk: what is synced is there whenever the power is cut."""

import power
import pytest

from tenonos.plan.compose import compose
from tenonos.plan.pool import Pool

pytestmark = pytest.mark.long(90, "orchestrator/tenonos/plan", "pool/apps/historian")


@pytest.fixture(scope="module")
def pool():
    return Pool()


@pytest.mark.timeout(1800)
@pytest.mark.parametrize(
    "text",
    [
        "log the temperature to a file on the SD card, nothing synced may be lost at power loss",
        "a 100 Hz control loop that writes its log to a disk, and a shell in a VM of its own",
    ],
)
def test_acknowledged_records_survive_power_cuts(pool, tmp_path, text):
    compose(text, pool=pool).write(tmp_path)
    power.survives(tmp_path, cuts=(0.2, 1.3))
