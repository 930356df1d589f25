"""Shared fixtures of the tools' tests."""

from python_suite import restored_settings

__all__ = ["restored_settings"]
