"""Training of the reader of objectives, and its figures."""
