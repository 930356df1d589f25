"""One page of a system: what was asked for, what was chosen and why, what is guaranteed, what was
measured.

`gather` builds and runs, `page` writes.
"""
