"""Reference schedules by textbook definitions, for comparison with Mortise's."""
