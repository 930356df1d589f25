"""Shared fixtures of the orchestrator's tests."""

from hypothesis import HealthCheck, settings

# The time of an example depends on the host, not on the tested code.
settings.register_profile("any host", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any host")
