"""Traces: recorded events of each core, as timelines for trace viewers.

`ring` reads the rings of `pool/core/trace`, `names` resolves addresses, `collect` follows the rings
of a run; `timeline` derives states and slices from events, `perfetto` and `ctf` write files.
"""
