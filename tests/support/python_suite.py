"""Settings and fixtures of the tests of the orchestrator and of the developers' tools."""

from dataclasses import asdict

import pytest
from hypothesis import HealthCheck, settings

from tenonos.errors import InputError
from tenonos.plan.reader import load
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


@pytest.fixture(autouse=True)
def rules_alone(request, monkeypatch, tmp_path_factory):
    """The rules read objectives alone, with or without a base model on this machine, except in
    tests that are marked `trained`."""
    if "trained" in request.keywords:
        return

    def missing():
        raise InputError("the reader's base model is missing")

    monkeypatch.setattr(load, "FILE", tmp_path_factory.getbasetemp() / "no base model")
    monkeypatch.setattr(load, "provide", missing)
