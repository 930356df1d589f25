"""Channels between VMs: the self-test of two VMs."""

import pytest
from conftest import assert_well, until

CASES = 11
"""Cases of `tests/guests/channel-test`."""


def judge(outcome):
    assert_well(outcome)
    lines = outcome.said("initiator")
    assert [line for line in lines if "FAILED" in line] == []
    assert len([line for line in lines if line.startswith("ok ")]) == CASES
    assert lines[-1] == "channel-test: all cases hold"
    # It restarted once on request and once after its forged index.
    assert outcome.vm("responder")["restarts"] == 2
    assert outcome.vm("responder")["state"] == outcome.vm("initiator")["state"] == "running"


@pytest.mark.timeout(300)
def test_channels_keep_their_promises_between_cores(tenon, tmp_path):
    """Doorbells are a virtual interrupt for one VM, and an SGI for the other, with direct
    interrupts."""
    last = until(tmp_path, initiator="channel-test: all cases hold")
    judge(tenon("run", "channels", "--headless", "--deterministic", *last))


@pytest.mark.timeout(300)
def test_channels_keep_their_promises_on_one_core(tenon, tmp_path):
    """Both VMs share a core, so that a doorbell causes a switch."""
    last = until(tmp_path, initiator="channel-test: all cases hold")
    judge(tenon("run", "channels-one-core", "--headless", "--deterministic", *last))


@pytest.mark.timeout(300)
def test_a_c_program_talks_by_posix_message_queues(tenon, tmp_path):
    last = until(tmp_path, client="exit status ")
    outcome = tenon("run", "mqueue-channel", "--headless", "--deterministic", *last)
    assert_well(outcome)
    lines = outcome.said("client")
    assert [line for line in lines if "FAILED" in line] == []
    assert len([line for line in lines if line.startswith("ok ")]) == 13
    assert "mqueue-client: 0 failed" in lines
    assert outcome.vm("client")["exit_status"] == 0
