"""Objectives with longer noun phrases than the pool's names, with tasks and titles."""

from objectives.case import ALONE, BESIDE, MS, US, Case, period

OBJECTS = [
    Case("a valve controller with a 20 ms period", ALONE, (period(20 * MS),), ignored=("valve",)),
    Case("an anti-lock braking controller every 2 ms beside Linux", BESIDE, (period(2 * MS),)),
    Case("a wind turbine's pitch controller at 50 Hz", ALONE, (period(20 * MS),)),
    Case(
        "the customer's Linux beside a 1 kHz loop", BESIDE, (period(MS),), ignored=("customer's",)
    ),
    Case(
        "a watchdog-supervised pump controller at 10 Hz",
        ALONE,
        (period(100 * MS), ("capability", "watchdog", "motor")),
    ),
    Case("a USB host controller at 1 kHz", missing=((None, "USB"),)),
    Case("a CAN controller at 1 kHz", missing=((None, "CAN controller"),)),
    Case("a network controller at 1 kHz", {"gateway": [0]}, (period(MS, "gateway"),)),
    Case("a spam filter at 1 kHz", missing=((None, "spam filter"),)),
    Case("a 1 kHz loop beside Linux under heavy load", BESIDE, (period(MS),)),
    Case("an infusion pump: a 1 kHz control loop beside Linux", BESIDE, ignored=("infusion pump",)),
    Case("a CAN gateway: a 1 kHz control loop beside Linux", missing=((None, "CAN gateway"),)),
]

TASKS = [
    Case(
        "two tasks, one with a period of 1 ms and a WCET of 100 us, "
        "the other with a period of 10 ms and a WCET of 2 ms",
        {"motor-1": [0], "motor-2": [1]},
        (
            period(MS, "motor-1"),
            ("wcet", 100 * US, "motor-1"),
            period(10 * MS, "motor-2"),
            ("wcet", 2 * MS, "motor-2"),
        ),
    ),
    Case(
        "Linux gets all four cores, and the control loop a core of its own",
        conflict=(("cores", "four cores"), ("capability", "control loop")),
    ),
    Case(
        "use no more than two of the four cores: a 1 kHz control loop and Linux",
        {"motor": [1], "linux": [0]},
        (("cores", 2, None),),
    ),
    Case(
        "one VM runs a 1 kHz controller, a second one a serial shell, a third one Linux",
        {"motor": [2], "terminal": [3], "linux": [0, 1]},
        (period(MS), ("capability", "shell", "terminal")),
    ),
    Case(
        "Like the old PLC with its Ethernet fieldbus, but just a 100 Hz regulator",
        ALONE,
        (period(10 * MS),),
    ),
]

COMPOUNDS = [*OBJECTS, *TASKS]
