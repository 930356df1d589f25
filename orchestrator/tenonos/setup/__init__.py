"""The machine: what must be there, how it gets there, and what state it is in."""
