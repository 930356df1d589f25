"""Processes that use up what they wait for and send, beside a loop at 1 kHz."""

import re

import pytest
from conftest import SUPPORT, until
from process.test_calls import built
from process.test_processes import system, unharmed

PARTS = (
    "warm",
    "pipes",
    "sockets",
    "flight",
    "full flight",
    "connections",
    "watches",
    "timers",
    "signal timers",
    "operations",
    "words",
    "locked memory",
    "children",
    "lock waits",
    "locks",
    "names",
    "waits",
)


@pytest.mark.timeout(300)
def test_what_is_used_up_by_waiting_and_sending_is_free_again(tenon, tmp_path):
    folder = system(tmp_path / "exhaust-events", "exhaust-events")
    built(SUPPORT / "exhaust_events.c", folder / "files/init")
    last = until(tmp_path, programs="init has ended")
    outcome = tenon("run", folder, "--headless", "--deterministic", *last)
    unharmed(outcome)
    said = outcome.said("programs")
    lost = dict(re.findall(r"^(.*): 0, lost (-?\d+)$", "\n".join(said), re.MULTILINE))
    assert set(PARTS) <= set(lost), said
    # The first parts have what the program itself and the first socket take once.
    assert {part: lost[part] for part in PARTS[1:]} == dict.fromkeys(PARTS[1:], "0")
