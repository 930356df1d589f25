"""Limits of a run on a busy host."""

import os
import subprocess
import time

import pytest

from tenonos.run import patience


@pytest.mark.parametrize(
    ("host", "processor", "seconds"),
    [
        (10.0, 9.5, 9.5),  # an idle host
        (10.0, 2.0, 2.0),  # a host that is busy with other work
        (10.0, 13.0, 10.0),  # the emulator has more than one thread
        (10.0, 0.0, 1.0),  # an emulator that waits for ever
    ],
)
def test_a_deterministic_run_counts_processor_time(host, processor, seconds):
    assert patience.counted(host, processor) == seconds


def test_the_processor_time_is_the_kernels():
    begun = time.process_time()
    while time.process_time() - begun < 0.1:
        pass
    stated = patience.processor_seconds(os.getpid())
    assert stated == pytest.approx(time.process_time(), abs=0.05)


def test_an_emulator_that_is_gone_took_none():
    gone = subprocess.Popen(["true"])
    gone.wait()
    assert patience.processor_seconds(gone.pid) == 0


def test_a_deterministic_run_that_is_kept_from_the_processor_has_longer(scenario, monkeypatch):
    """The stand-in sleeps all the time, as an emulator that gets no processor."""
    monkeypatch.setattr(patience, "SHARE", 4)
    begun = time.monotonic()
    result = scenario("silent", seconds=0.1, boot_limit=0.3, deterministic=True).run()
    assert result.failure == "linux did not say `tenon-ready` within 0.3 s"
    assert time.monotonic() - begun > 1.1


def test_a_run_by_the_hosts_clock_ends_by_it(scenario, monkeypatch):
    monkeypatch.setattr(patience, "processor_seconds", lambda pid: 0.0)
    begun = time.monotonic()
    assert scenario("silent", seconds=0.1, boot_limit=0.3).run().failure is not None
    assert time.monotonic() - begun < 0.3 * patience.SHARE
