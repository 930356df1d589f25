"""Objectives in the idiom of engineers: what is turned off, what pronouns stand for, what hurts."""

from objectives.case import BESIDE, MS, Case, period

HELLO = {"hello": [0]}

IDIOMS = [
    Case(
        "a 1 kHz control loop beside Linux, but please leave tracing off",
        BESIDE,
        (period(MS), ("forbid", "trace", None)),
    ),
    Case(
        "turn the shell off and keep a 1 kHz control loop",
        {"motor": [0]},
        (period(MS), ("forbid", "shell", None)),
    ),
    Case(
        "Two threads update the same table; the low-priority one must not hold up the "
        "high-priority one.",
        HELLO,
        (("capability", "sync.mutex", "hello"),),
    ),
    Case(
        "Linux on four cores and a control loop on two cores",
        {"motor": [4, 5], "linux": [0, 1, 2, 3]},
        (("cores", 4, "linux"), ("cores", 2, "motor")),
    ),
    Case(
        "Linux on four cores and a control loop on one core",
        {"motor": [4], "linux": [0, 1, 2, 3]},
        (("cores", 4, "linux"), ("cores", 1, "motor")),
    ),
    Case("a thread of priority one", missing=((None, "priority one"),)),
    Case(
        "the vector registers of a thread have to survive a context switch",
        HELLO,
        (("capability", "fp.context", "hello"),),
    ),
    Case(
        "Our signal processing runs in two threads.",
        HELLO,
        (("capability", "fp.context", "hello"),),
    ),
    Case(
        "Linux floods the DRAM during video playback; cap what it may pull from memory.",
        {"linux": [0, 1, 2, 3]},
        (("capability", "virt.bandwidth", "mortise"),),
    ),
]
