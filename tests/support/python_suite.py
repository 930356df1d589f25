"""Settings and fixtures of the tests of the orchestrator and of the developers' tools."""

from dataclasses import asdict

import pytest
from hypothesis import HealthCheck, settings

from tenonos.settings import SETTINGS

# The time of an example depends on the host, not on the tested code.
settings.register_profile("any host", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any host")


@pytest.fixture(autouse=True)
def restored_settings():
    """Global options are of one command line: those of a test must not reach the next test."""
    before = asdict(SETTINGS)
    yield
    for name, value in before.items():
        setattr(SETTINGS, name, value)
