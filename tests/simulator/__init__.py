"""Schedules from the textbook's definitions, to hold Mortise's against."""
