"""Objectives in plain words, in other words, and full of numbers."""

from objectives.case import ALONE, BESIDE, MIB, MS, PROGRAMS, US, Case, period

PLAIN = [
    Case(
        "a 1 kHz motor-control loop with bounded jitter beside Linux on four cores, "
        "smallest footprint",
        BESIDE,
        (
            period(MS),
            ("jitter", MS, "motor"),
            ("deadline", MS, "motor"),
            ("capability", "control.loop", "motor"),
            ("capability", "guest.linux", "linux"),
            ("cores", 4, None),
            ("cores", 1, "motor"),
            ("cores", 3, "linux"),
            ("utility", "footprint", None),
            ("board", "qemu-virt", None),
            ("ram", 16 * MIB, "motor"),
            ("ram", 512 * MIB, "linux"),
        ),
    ),
    Case("a 1 kHz control loop beside Linux", BESIDE, (period(MS),)),
    Case(
        "run an unmodified Linux binary on Tenon",
        PROGRAMS,
        (("capability", "abi.linux", "programs"), period(MS, "programs")),
    ),
    Case(
        "runs my existing Linux binary without Linux",
        PROGRAMS,
        (("capability", "abi.linux", "programs"), ("forbid", "guest.linux", None)),
    ),
    Case(
        "several programs, each protected from the others",
        PROGRAMS,
        (("capability", "process", "programs"),),
    ),
    Case("a busybox shell", PROGRAMS, (("capability", "abi.linux", "programs"),)),
    Case(
        "unmodified Linux programs beside a 2 kHz loop",
        {"motor": [0], "programs": [1]},
        (period(500 * US), ("capability", "abi.linux", "programs")),
    ),
    Case(
        "a 2 kHz control loop beside unmodified Linux programs",
        {"motor": [0], "programs": [1]},
        (period(500 * US), ("capability", "abi.linux", "programs")),
    ),
    Case("a bare-metal 1 kHz control loop", ALONE, (period(MS),)),
    Case("a bare-metal 2 kHz control loop", ALONE, (period(500 * US),)),
    Case("a watchdog that restarts the loop", ALONE, (("capability", "watchdog", "motor"),)),
    Case("a watchdog", ALONE, (("capability", "watchdog", "motor"),)),
    Case(
        "a 1 kHz control loop with a shell",
        {"motor": [0], "terminal": [1]},
        (("capability", "shell", "terminal"), period(MS), ("vms", 2, None)),
    ),
    Case("a 2 kHz control loop alone on one core", ALONE, (period(500 * US), ("cores", 1, None))),
    Case(
        "control loop every 500 us next to Linux with 256 MiB",
        BESIDE,
        (period(500 * US), ("ram", 256 * MIB, "linux")),
    ),
    Case(
        "a cache-coloured 1 kHz control loop beside Linux",
        BESIDE,
        (period(MS), ("capability", "virt.cache-colouring", "mortise")),
    ),
    Case(
        "cache partitioning between a control loop and Linux",
        BESIDE,
        (("capability", "virt.cache-colouring", "mortise"),),
    ),
    Case(
        "a 1 kHz control loop sharing one core with Linux",
        {"motor": [0], "linux": [0]},
        (("capability", "virt.dispatch", "mortise"), ("cores", 1, "motor"), ("cores", 1, "linux")),
    ),
    Case(
        "Linux on four cores, a 1 kHz control loop on the same core",
        {"motor": [3], "linux": [0, 1, 2, 3]},
        (("capability", "virt.irq.shared", "mortise"),),
    ),
    Case("Linux on four cores", {"linux": [0, 1, 2, 3]}, (("cores", 4, "linux"),)),
    Case("hello world", {"hello": [0]}),
    Case("POSIX threads", {"metronome": [0]}, (("capability", "api.posix", "metronome"),)),
    Case("a motor control loop at 1 kHz without Linux", ALONE, (("forbid", "guest.linux", None),)),
    Case("Linux on three cores and a 1 kHz control loop", BESIDE, (("cores", 3, "linux"),)),
    Case("a control loop with message queues", ALONE, (("capability", "sync.queue", "motor"),)),
    Case("event tracing for a 1 kHz loop", ALONE, (("capability", "trace", "motor"),)),
    Case(
        "a control loop with round-robin time slicing",
        ALONE,
        (("capability", "sched.timeslice", "motor"),),
    ),
    Case("a 1 kHz control loop on qemu-virt", ALONE, (("board", "qemu-virt", None),)),
]

PARAPHRASE = [
    Case(
        "I'd like to have 1000 Hz motor control with low jitter alongside Linux on a four-core "
        "machine; keep it small",
        BESIDE,
        (period(MS), ("utility", "footprint", None), ("jitter", MS, "motor")),
    ),
    Case(
        "Set up a hard real-time motor control loop (period: 1 millisecond) together with a Linux "
        "VM. Use all four cores. Optimize for size.",
        BESIDE,
        (period(MS), ("utility", "footprint", None), ("cores", 4, None)),
    ),
    Case("an embedded controller: 1 kHz loop", ALONE),
    Case(
        "a drive controller that ticks a thousand times per second next to an untouched Linux",
        BESIDE,
        (period(MS),),
    ),
    Case(
        "I would like a servo loop, once every millisecond, with the lowest possible latency",
        ALONE,
        (period(MS), ("utility", "latency", None)),
    ),
    Case(
        "control a motor every 500 microseconds and leave three cores to Linux",
        BESIDE,
        (period(500 * US), ("cores", 3, "linux")),
    ),
    Case(
        "give Linux two cores and 128 MiB, and run a 5 kHz control loop on its own core",
        {"motor": [3], "linux": [0, 1]},
        (period(200 * US), ("ram", 128 * MIB, "linux")),
    ),
    Case(
        "hard real-time motor control at 20 kHz beside a stock Debian Linux with a quarter of a "
        "gigabyte",
        BESIDE,
        (period(50 * US), ("deadline", 50 * US, "motor"), ("ram", 256 * MIB, "linux")),
    ),
    Case("a motr controler at 1kHz beside linux", BESIDE, (period(MS),)),
    Case(
        "please build me a system that runs a PID controller 1000 times per second alongside "
        "vanilla Linux",
        BESIDE,
        (period(MS),),
    ),
    Case(
        "Regulate: closed-loop speed control with a cycle time of 2 ms, together with Linux",
        BESIDE,
        (period(2 * MS),),
    ),
    Case(
        "a control loop for a drone beside Linux at 1 kHz",
        BESIDE,
        (period(MS),),
        ignored=("drone",),
    ),
    Case(
        "we need deterministic motor control, one thousand times a second, and a full Linux "
        "beside it",
        BESIDE,
        (period(MS), ("jitter", MS, "motor")),
    ),
    Case("say hello", {"hello": [0]}),
    Case(
        "as lightweight as possible: motor control at 1 kHz next to Linux",
        BESIDE,
        (("utility", "footprint", None),),
    ),
    Case("a 1 kHz task beside Linux", BESIDE, (period(MS),)),
    Case("Use core 3 for a 1 kHz motor loop, Linux on 0-2", BESIDE),
    Case(
        "Compose a system with the smallest footprint in which Linux and a motor-control loop "
        "with a period of one millisecond share a four-core chip.",
        BESIDE,
        (("cores", 4, None), ("utility", "footprint", None)),
    ),
    Case(
        "Build a partitioned system: partition one runs a 1 kHz motor loop, partition two runs "
        "Linux",
        BESIDE,
    ),
    Case(
        "a loop with a worst-case execution time of 300 us and a period of 1 ms next to Linux",
        BESIDE,
        (("wcet", 300 * US, "motor"),),
    ),
]

NUMBERS = [
    Case("Linux on cpu0 and a 1 kHz loop on cpu1", {"motor": [1], "linux": [0]}),
    Case(
        "a 1 kHz motor-control loop, unaffected by what Linux does, on its own core",
        BESIDE,
        (("cores", 1, "motor"),),
    ),
    Case("Linux on its own core beside a 1 kHz loop", {"motor": [3], "linux": [0]}),
    Case(
        "a 1 kHz control loop on a quad-core Cortex-A53 board beside Linux",
        BESIDE,
        (("board", "qemu-virt", None), ("cores", 4, None)),
    ),
    Case("a control loop every half millisecond beside Linux", BESIDE, (period(500 * US),)),
    Case("a control loop with a period of 250 µs beside Linux", BESIDE, (period(250 * US),)),
    Case(
        "a quad-core board: a control loop twice per millisecond beside Linux",
        BESIDE,
        (period(500 * US), ("cores", 4, None)),
    ),
    Case(
        "a 1 kHz loop with jitter below 5 us, deadline 800 us, next to Linux",
        BESIDE,
        (period(MS), ("jitter", 5 * US, "motor"), ("deadline", 800 * US, "motor")),
    ),
    Case(
        "a control loop at 250 Hz with 8 MiB of RAM, WCET 200 us",
        ALONE,
        (period(4 * MS), ("ram", 8 * MIB, "motor"), ("wcet", 200 * US, "motor")),
    ),
    Case(
        "a control loop that takes at most 100 us every millisecond beside Linux",
        BESIDE,
        (period(MS), ("wcet", 100 * US, "motor")),
    ),
    Case(
        "a 1 kHz loop on core 2, Linux gets the rest",
        {"motor": [2], "linux": [0, 1, 3]},
        (("cores", 2, "motor"), ("cores", 3, "linux")),
    ),
    Case(
        "a motor controller; no more than 128 MiB of RAM for Linux; three of the four cores go to "
        "Linux",
        BESIDE,
        (("ram", 128 * MIB, "linux"), ("cores", 3, "linux"), ("cores", 4, None)),
    ),
    Case(
        "a control loop on one core beside Linux on two cores",
        {"motor": [3], "linux": [0, 1]},
        (("cores", 1, "motor"), ("cores", 2, "linux")),
    ),
    Case(
        "a 1 kHz control loop beside Linux on two cores",
        {"motor": [1], "linux": [0]},
        (("cores", 2, None),),
    ),
    Case(
        "Linux on three, motor control on one core at 1 kHz",
        BESIDE,
        (("cores", 3, "linux"), ("cores", 1, "motor")),
    ),
    Case(
        "a 1 kHz control loop on core 0 and Linux on cores 1 to 3",
        {"motor": [0], "linux": [1, 2, 3]},
        (("cores", 0, "motor"), ("cores", 2, "linux")),
    ),
    Case("Linux on cores 0, 1 and 2 with a 1 kHz control loop on core 3", BESIDE),
    Case("with 2 CPUs 64 MiB Linux, and a loop at 1 kHz", {"motor": [3], "linux": [0, 1]}),
    Case(
        "control loop, period 1 ms, deadline 0.5 ms, jitter under 10 us; Linux with 3 cores and "
        "384 MiB",
        BESIDE,
        (
            period(MS),
            ("deadline", 500 * US, "motor"),
            ("jitter", 10 * US, "motor"),
            ("ram", 384 * MIB, "linux"),
        ),
    ),
    Case(
        "two cores: one for Linux, one for a 1 kHz control loop",
        {"motor": [1], "linux": [0]},
        (("cores", 2, None),),
    ),
    Case(
        "a control loop with a period of 1 ms and a budget of 200 us per period",
        ALONE,
        (("wcet", 200 * US, "motor"),),
    ),
    Case("motor control with a sampling rate of 8 kHz beside Linux", BESIDE, (period(125 * US),)),
    Case(
        "a 1 kHz control loop beside Linux with three out of four cores",
        BESIDE,
        (("cores", 3, "linux"), ("cores", 4, None)),
    ),
    Case("a control loop whose cycle lasts 800 us", ALONE, (period(800 * US),)),
    Case(
        "a control loop at 1 kHz using no more than 100 000 ns per cycle",
        ALONE,
        (period(MS), ("wcet", 100 * US, "motor")),
    ),
]
