"""Scheduling of processes as it takes place, beside a loop at 1 kHz."""

import re

import pytest
from conftest import SUPPORT, until
from process.test_processes import compiled, system, unharmed


def shares(said, title, count):
    """The shares of the lines behind a title, in 1,000 parts."""
    lines = said[said.index(title) + 1 :][:count]
    return [int(re.fullmatch(r" share of 1000: (\d+)", line)[1]) for line in lines]


@pytest.mark.timeout(300)
def test_policies_and_nice_values_have_effect(tenon, tmp_path):
    folder = system(tmp_path / "scheduling", "scheduling")
    compiled(SUPPORT / "scheduling.c", folder / "files/init")
    last = until(tmp_path, programs="init has ended")
    outcome = tenon("run", folder, "--headless", "--deterministic", *last)
    unharmed(outcome)
    said = outcome.said("programs")
    # By the weights of Linux: 1024, 335 and 3121 of 4480; 1024 and 3.
    for title, expected in [
        ("alike", [333, 333, 333]),
        ("nice values 0, 5, -5", [229, 75, 696]),
        ("idle", [997, 3]),
    ]:
        measured = shares(said, title, len(expected))
        for share, right in zip(measured, expected, strict=True):
            # One slice more or less of a few dozens.
            assert abs(share - right) <= max(3, right // 12), (title, measured)
    assert [line for line in said if "share" not in line and ": " in line] == [
        "the lower one runs: 1",
        "beside the next priority it runs: 0",
        "the higher one runs: 1",
        "it goes on: 1",
        "fifo: both run: 0",
        "round robin: both run: 1",
        "a loop of the highest priority lasted: 1",
        "a descriptor's timer beside a loop: 1",
        "an alarm beside a loop: 1",
        "an alarm ends a loop of the highest priority: 1",
        "timers of others take less than a tenth: 1",
        "an alarm beside them: 1",
        "a budget: 0",
        "a loop has its budget: 1",
        "jobs beside it are in time: 1",
        "changes of priorities: done",
    ]
