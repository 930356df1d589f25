"""What the tests of the orchestrator share."""

from hypothesis import HealthCheck, settings

# How long an example takes is the host's matter, and says nothing of what is tested.
settings.register_profile("any host", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any host")
