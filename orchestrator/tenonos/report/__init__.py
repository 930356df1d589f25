"""Report of a system on one page: objective, choice, guarantees, measurements.

`gather` builds and runs, `page` renders.
"""
