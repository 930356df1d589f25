"""Channels between VMs: what two of them find as they try them on each other."""

import pytest
from conftest import assert_well, until

CASES = 11
"""Cases of `tests/guests/parley`."""


def judge(outcome):
    assert_well(outcome)
    lines = outcome.said("asker")
    assert [line for line in lines if "FAILED" in line] == []
    assert len([line for line in lines if line.startswith("ok ")]) == CASES
    assert lines[-1] == "parley: all cases hold"
    # It died once as asked and once as it had lied.
    assert outcome.vm("doer")["restarts"] == 2
    assert outcome.vm("doer")["state"] == outcome.vm("asker")["state"] == "running"


@pytest.mark.timeout(300)
def test_channels_keep_their_promises_between_cores(tenon, tmp_path):
    """One VM is rung by a virtual interrupt, the other, whose interrupts are its own, by an SGI."""
    last = until(tmp_path, asker="parley: all cases hold")
    judge(tenon("run", "parley", "--headless", "--deterministic", *last))


@pytest.mark.timeout(300)
def test_channels_keep_their_promises_on_one_core(tenon, tmp_path):
    """Both VMs share a core, so that a doorbell decides who has it next."""
    last = until(tmp_path, asker="parley: all cases hold")
    judge(tenon("run", "parley-one-core", "--headless", "--deterministic", *last))


@pytest.mark.timeout(300)
def test_a_c_program_talks_by_posix_message_queues(tenon, tmp_path):
    last = until(tmp_path, courier="exit status ")
    outcome = tenon("run", "courier", "--headless", "--deterministic", *last)
    assert_well(outcome)
    lines = outcome.said("courier")
    assert [line for line in lines if "FAILED" in line] == []
    assert len([line for line in lines if line.startswith("ok ")]) == 13
    assert "courier: 0 failed" in lines
    assert outcome.vm("courier")["exit_status"] == 0
