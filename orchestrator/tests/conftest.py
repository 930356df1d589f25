"""Shared fixtures of the orchestrator's tests."""

from python_suite import restored_settings

__all__ = ["restored_settings"]
