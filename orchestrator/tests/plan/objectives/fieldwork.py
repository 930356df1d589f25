"""Objectives in spoken style: places, and reported speech."""

from objectives.case import ALONE, BESIDE, KIB, MS, US, Case, period

TWO = {"motor-1": [2], "motor-2": [3], "linux": [0, 1]}

FIELDWORK = [
    Case(
        "Cores 0 and 1 run Linux, core 2 a 1 kHz pump controller, core 3 a 4 kHz valve controller",
        TWO,
        (period(MS, "motor-1"), period(250 * US, "motor-2"), ("cores", 3, "motor-2")),
    ),
    Case(
        "core 1: Linux; core 2: a 1 kHz control loop; core 3: a shell",
        {"motor": [2], "terminal": [3], "linux": [1]},
    ),
    Case(
        "Three identical winch controllers at 100 Hz, one per core, without Linux",
        {"motor-1": [0], "motor-2": [1], "motor-3": [2]},
    ),
    Case(
        "Three partitions: Linux for us, a 2 kHz loop and a 100 Hz supervisor, each in its own VM",
        TWO,
        (period(500 * US, "motor-1"), period(10 * MS, "motor-2")),
    ),
    Case(
        "Two VMs. In the first, boiler level control; in the second, burner temperature control",
        {"motor-1": [0], "motor-2": [1]},
    ),
    Case(
        "pitch control at 1 kHz and yaw control at 50 Hz. Keep the two loops in two VMs",
        {"motor-1": [0], "motor-2": [1]},
    ),
    Case(
        "Run Linux on two cores and, on a core of its own, a 4 kHz voltage control loop",
        {"motor": [3], "linux": [0, 1]},
    ),
    Case("The system shall host two real-time VMs", {"hello-1": [0], "hello-2": [1]}),
    Case("a 1 kHz control loop w/ tracing", ALONE, (("capability", "trace", "motor"),)),
    Case("Roll control each 4 ms, RT VM", ALONE, (period(4 * MS),)),
    Case("We need a 2 ms roll control loop", ALONE, (period(2 * MS),)),
    Case("a 1 kHz control loop in 256 KiB of RAM", ALONE, (("ram", 256 * KIB, "motor"),)),
    Case(
        "a 1 kHz control loop; we decided against a shell, and tracing we can do without",
        ALONE,
        (("forbid", "shell", None), ("forbid", "trace", None)),
    ),
    Case(
        "a 1 kHz loop, and no floating point, since the maths is all integer",
        ALONE,
        (("forbid", "fp.context", None),),
    ),
    Case(
        "Our competitor ships an RTOS with TCP/IP; we only want a 1 kHz control loop",
        ALONE,
        ignored=("Our competitor ships an RTOS with TCP/IP",),
    ),
    Case(
        "Nobody here has used Zephyr since 2019; we want a control loop every 5 ms",
        ALONE,
        ignored=("Nobody here has used Zephyr since 2019",),
    ),
    Case(
        "After years of fighting with PREEMPT_RT we want a 4 kHz loop beside a stock Linux",
        BESIDE,
        (period(250 * US),),
    ),
    Case(
        "My colleague Peter, who wrote the FreeRTOS port in 2015, wants a 250 Hz control loop",
        ALONE,
        (period(4 * MS),),
        ignored=("My colleague Peter, who wrote the FreeRTOS port in 2015",),
    ),
    Case(
        "Dr. Brown, who ported Linux to our centrifuge, has asked for a control loop at 500 Hz",
        ALONE,
        (period(2 * MS),),
    ),
    Case(
        "Keep semaphores that an interrupt handler signals, and nothing else, for the scanner",
        {"hello": [0]},
        (("capability", "sync.semaphore", "hello"),),
    ),
    Case(
        "Every two milliseconds the valve position has to be recomputed",
        ALONE,
        (period(2 * MS),),
    ),
    Case(
        "a control loop at 20 Hz that tilts the hopper for a clogged chute",
        ALONE,
        (period(50 * MS),),
    ),
    Case(
        "We need speech recognition beside a 1 kHz control loop",
        missing=((None, "speech recognition"),),
    ),
    Case("a 1 kHz control loop that logs to flash", missing=((None, "flash"),)),
]
