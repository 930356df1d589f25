"""Objectives as engineers write them: threads uncounted, and tasks that are only verbs."""

from objectives.case import ALONE, BESIDE, MS, Case, period

THREADS = ("capability", "tenon/thread", "hello")

ENGINEERS = [
    Case("several threads", {"hello": [0]}, (THREADS,)),
    Case("an application with several threads", {"hello": [0]}, (THREADS,)),
    Case("many threads beside Linux", {"hello": [3], "linux": [0, 1, 2]}, (THREADS,)),
    Case("multiple semaphores", {"hello": [0]}, (("capability", "sync.semaphore", "hello"),)),
    Case("several CAN buses", missing=((None, "several CAN buses"),)),
    Case(
        "Sample at 1 kHz, control at 100 Hz",
        {"sampler": [0], "motor": [1]},
        (period(MS, "sampler"), period(10 * MS)),
    ),
    Case(
        "Sampling at 5 kHz and controlling at 500 Hz beside Linux",
        {"sampler": [2], "motor": [3], "linux": [0, 1]},
        (period(MS // 5, "sampler"), period(2 * MS)),
    ),
    Case(
        "Control at 1 kHz, poll at 10 Hz",
        {"motor-1": [0], "motor-2": [1]},
        (period(MS, "motor-1"), period(100 * MS, "motor-2")),
    ),
    Case("a loop, sampling at 1 kHz, beside Linux", BESIDE, (period(MS),)),
    Case(
        "two control loops, sampling at 1 kHz and at 4 kHz",
        {"motor-1": [0], "motor-2": [1]},
        (period(MS, "motor-1"), period(MS // 4, "motor-2")),
    ),
    Case(
        "Fast task: 1 ms. Slow task: 50 ms. Linux on the rest.",
        {"motor-1": [2], "motor-2": [3], "linux": [0, 1]},
        (period(MS, "motor-1"), period(50 * MS, "motor-2")),
    ),
    Case(
        "(1) Linux on three cores; (2) a 4 kHz loop on the fourth core",
        BESIDE,
        (period(MS // 4), ("cores", 3, "linux"), ("cores", 3, "motor")),
    ),
    Case(
        "a loop at 1 kHz on the second core, Linux on the others",
        {"motor": [1], "linux": [0, 2, 3]},
    ),
    Case("Shell: no. Tracing: none. A control loop.", ALONE, (("forbid", "shell", None),)),
    Case(
        "Background: our customer uses Zephyr. Wanted: a trace and a mutex.",
        {"hello": [0]},
        ignored=("Background: our customer uses Zephyr",),
    ),
    Case(
        "A later release may add networking. For now: a control loop, 1 kHz.",
        ALONE,
        (period(MS),),
        ignored=("A later release may add networking",),
    ),
    Case(
        "The old system crashed because of TCP/IP, so this one is a 500 Hz loop.",
        ALONE,
        (period(2 * MS),),
        ignored=("The old system crashed because of TCP/IP",),
    ),
    Case(
        "As described in the Jailhouse documentation, Linux and a 1 kHz loop",
        BESIDE,
        (period(MS),),
        ignored=("As described in the Jailhouse documentation",),
    ),
    Case(
        "Primary and backup controller, both at 200 Hz, plus Linux",
        {"motor-1": [2], "motor-2": [3], "linux": [0, 1]},
        (period(5 * MS, "motor-1"), period(5 * MS, "motor-2")),
    ),
    Case(
        "Two loops beside Linux: position at 250 Hz, torque at 4 kHz.",
        {"motor-1": [2], "motor-2": [3], "linux": [0, 1]},
        (period(4 * MS, "motor-1"), period(MS // 4, "motor-2")),
        ignored=("position", "torque"),
    ),
    Case("POSIX threads, tracing switched on", {"metronome": [0]}),
    Case("A serial shell, nothing more.", {"terminal": [0]}),
]
