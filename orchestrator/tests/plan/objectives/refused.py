"""Objectives to refuse: what is missing, and what clashes."""

from objectives.case import Case

MISSING = [
    Case("a 1 kHz control loop on a Cortex-M4", missing=((None, "Cortex-M4"),)),
    Case("an RTOS beside Linux", missing=((None, "RTOS"),)),
    Case("an application beside Linux", missing=((None, "application"),)),
    Case("real-time Linux", missing=((None, "real-time"),)),
    Case("blorp", missing=((None, "blorp"),)),
    Case("", missing=((None, ""),)),
    Case("smallest footprint on four cores", missing=((None, "smallest footprint on four cores"),)),
    Case(
        "a 1 kHz control loop that sends MQTT messages",
        missing=(("net.mqtt", "sends MQTT messages"),),
    ),
    Case("a 1 kHz control loop with DNS", missing=(("net.dns", "DNS"),)),
    Case(
        "a control loop at 1 kHz that answers UDP requests over IPv6",
        missing=(("net.ipv6", "IPv6"),),
    ),
    Case("a 1 kHz control loop with a database", missing=(("database", "database"),)),
    Case("Bluetooth at 10 Hz", missing=((None, "Bluetooth"),)),
    Case(
        "read wheel speeds from a CAN bus", missing=((None, "read wheel speeds"), (None, "CAN bus"))
    ),
    Case("a 1 kHz control loop on a Raspberry Pi 4", missing=((None, "Raspberry Pi 4"),)),
    Case("a 1 kHz control loop beside Zephyr", missing=((None, "Zephyr"),)),
    # How many they are, is not read by rules.
    Case("two native tasks beside Linux", missing=(("virt.native", "native tasks"),)),
    Case("a native task with a shell", conflict=(("capability", "shell"),)),
    # How large a guest system is, is its own business.
    Case("Linux, and the whole image under 8 KiB", missing=((None, "8 KiB"),)),
    Case(
        "a 1 kHz control loop with life cycle, without Linux",
        missing=(("virt.lifecycle", "life cycle"),),
    ),
    Case(
        "a 1 kHz control loop beside Linux with face recognition",
        missing=((None, "face recognition"),),
    ),
    Case("a loop antenna simulator", missing=((None, "loop antenna simulator"),)),
    Case("1 kHz", missing=((None, "1 kHz"),)),
    Case("a 20 kHz windlass alone", missing=((None, "windlass"),)),
    Case("a control loop at -5 Hz", missing=((None, "5 Hz"),)),
    Case("make me a sandwich", missing=((None, "sandwich"),)),
    Case("Ubuntu Linux beside a 1 kHz loop", missing=((None, "Ubuntu Linux"),)),
    Case(
        "a 1 kHz control loop beside Linux that boots in under 2 seconds",
        missing=((None, "2 seconds"),),
    ),
]

UNUSED = []

CONFLICT = [
    Case(
        "a cache-coloured control loop beside Linux with 2900 MiB",
        conflict=(
            ("capability", "cache-coloured"),
            ("capability", "control loop"),
            ("ram", "2900 MiB"),
        ),
    ),
    Case(
        "a control loop with a periodic tick on two cores",
        conflict=(("capability", "periodic tick"), ("cores", "two cores")),
    ),
    Case(
        "POSIX threads on two cores",
        conflict=(("capability", "POSIX threads"), ("cores", "two cores")),
    ),
    Case(
        "a 1 kHz control loop with POSIX threads",
        conflict=(("period", "1 kHz"), ("capability", "POSIX threads")),
    ),
    Case(
        "a control loop with an SMP scheduler on one core",
        conflict=(("capability", "SMP scheduler"), ("cores", "one core")),
    ),
    Case(
        "hello world every 10 ms",
        conflict=(("capability", "hello world"), ("period", "every 10 ms")),
    ),
    Case(
        "on two cores with three Linux cores, a 1 kHz control loop",
        conflict=(("cores", "two cores"), ("cores", "three Linux cores")),
    ),
    Case(
        "a 1 kHz control loop beside Linux, without Linux",
        conflict=(("capability", "Linux"), ("forbid", "Linux")),
    ),
    Case("a 1 kHz control loop beside Linux on nine cores", conflict=(("cores", "nine cores"),)),
    Case(
        "a 1 kHz control loop with a WCET of 2 ms", conflict=(("period", "1 kHz"), ("wcet", "2 ms"))
    ),
    Case("a 1 kHz control loop beside Linux with 20 GiB", conflict=(("ram", "20 GiB"),)),
    Case(
        "a 1 kHz control loop without periodic tasks",
        conflict=(("capability", "control loop"), ("forbid", "periodic tasks")),
    ),
    Case("a 1 kHz control loop on core 9", conflict=(("cores", "on core 9"),)),
    Case("fifty control loops beside Linux", conflict=(("capability", "control loops"),)),
    Case(
        "three VMs: a 1 kHz control loop and Linux",
        conflict=(("vms", "three VMs"), ("capability", "control loop"), ("capability", "Linux")),
    ),
]
