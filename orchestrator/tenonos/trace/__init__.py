"""Traces: the events that each core recorded, as timelines that viewers open.

`ring` reads what `pool/core/trace` writes, `names` knows what addresses stand for, `collect`
follows the rings of a run; `timeline` makes states and stretches of events, `perfetto` and `ctf`
write files.
"""
