"""Objectives as notes and letters: labels, symbols, lists of what is not wanted, greetings."""

from objectives.case import ALONE, BESIDE, MIB, MS, US, Case, period
from objectives.relations import FAST_AND_SLOW, TWO

NOTES = [
    Case(
        "control loop A: T = 500 us, C = 100 us. control loop B: T = 5 ms, D = 4 ms. Linux besides",
        TWO,
        (
            period(500 * US, "motor-1"),
            ("wcet", 100 * US, "motor-1"),
            period(5 * MS, "motor-2"),
            ("deadline", 4 * MS, "motor-2"),
        ),
    ),
    Case("a control loop, f = 2 kHz, beside Linux", BESIDE, (period(500 * US),)),
    Case(
        "VM 1 is Linux with 128 MiB, VM 2 is Linux with 256 MiB",
        {"linux-1": [0, 1], "linux-2": [2, 3]},
        (("ram", 128 * MIB, "linux-1"), ("ram", 256 * MIB, "linux-2")),
    ),
    Case("partition a: Linux; partition b: a control loop", BESIDE),
    Case(
        "a control loop beside Linux. Don't want: a shell, tracing.",
        BESIDE,
        (("forbid", "shell", None), ("forbid", "trace", None)),
    ),
    Case(
        "not needed: a shell; needed: a control loop beside Linux",
        BESIDE,
        (("forbid", "shell", None),),
    ),
    Case("a hypervisor-free control loop", ALONE, (("forbid", "virt.partition", None),)),
    Case("for 2027 a control loop beside Linux is planned", BESIDE),
    Case("a control loop in 2000 bytes of RAM", conflict=(("ram", "2000 bytes"),)),
    Case("a control loop, i.e. a regulator, beside Linux. Many thanks!", BESIDE),
    Case("a control loop and Linux; the two must not share a core", BESIDE),
    Case("a control loop every hundred milliseconds", ALONE, (period(100 * MS),)),
    Case(
        "a control loop (see the manual of the shell)",
        ALONE,
        ignored=("(see the manual of the shell)",),
    ),
    Case(
        "The last project needed a shell. A control loop, please.",
        ALONE,
        ignored=("The last project needed a shell",),
    ),
    Case(
        "a control loop and a shell",
        {"motor": [0], "terminal": [1]},
        (("capability", "control.loop", "motor"), ("capability", "shell", "terminal")),
    ),
    Case(
        "a control loop and a shell, without a hypervisor",
        conflict=(("capability", "control loop"), ("capability", "shell")),
    ),
    Case(
        "two loops, a fast one (4 kHz) and a slow one (100 Hz), Linux besides", TWO, FAST_AND_SLOW
    ),
    Case("a control loop, tracing disabled", ALONE, (("forbid", "trace", None),)),
    Case("a control loop in 2 TB of RAM", conflict=(("ram", "2 TB"),)),
    Case(
        "Good morning, a control loop beside Linux. Regards, the trace team",
        BESIDE,
        ignored=("Regards, the trace team",),
    ),
    Case(
        "a control loop with a cycle of 250 us ± 5 us",
        ALONE,
        (period(250 * US), ("jitter", 5 * US, "motor")),
    ),
    Case("a control loop (ticket 4711)", ALONE, ignored=("(ticket 4711)",)),
    Case(
        "one periodic task every 250 us and another every 10 ms beside Linux",
        TWO,
        (*FAST_AND_SLOW, ("capability", "sched.periodic", "motor-2")),
    ),
]
