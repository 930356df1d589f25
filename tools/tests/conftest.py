"""Shared fixtures of the tools' tests."""

from python_suite import restored_settings, rules_alone

__all__ = ["restored_settings", "rules_alone"]
