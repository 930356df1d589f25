"""The tuning set: objectives with what they must yield, by class of phrasing.

`vms` maps each VM to its CPUs; `items` are (kind, value, image) that must be in the plan;
`missing` are (capability, words), `conflict` (kind, words), `ignored` words.
"""

from dataclasses import dataclass, field

MS, US, MIB, KIB = 1_000_000, 1_000, 1 << 20, 1 << 10


@dataclass(frozen=True)
class Case:
    text: str
    vms: dict = field(default_factory=dict)
    items: tuple = ()
    missing: tuple = ()
    conflict: tuple = ()
    ignored: tuple = ()


BESIDE = {"motor": [3], "linux": [0, 1, 2]}
ALONE = {"motor": [0]}
PROGRAMS = {"programs": [0]}


def period(nanoseconds, image="motor"):
    return ("period", nanoseconds, image)
