"""The pool: the index of its micro-libraries and their one configuration space."""
