"""Objectives of several clauses, each with a subject, a rate or a denial of its own."""

from objectives.case import ALONE, BESIDE, MS, Case, period

SECOND = 1000 * MS
APART = {"motor-1": [0], "motor-2": [1]}

RATES = [
    Case(
        "The lift's position control loop runs at 200 Hz, and the load of the cabin is weighed "
        "once a second.",
        APART,
        (period(5 * MS, "motor-1"), period(SECOND, "motor-2")),
        ignored=("load", "cabin", "weighed"),
    ),
    Case(
        "A tank's temperature is regulated every thirty seconds, the flow of its coolant ten "
        "times per second.",
        APART,
        (period(30 * SECOND, "motor-1"), period(100 * MS, "motor-2")),
    ),
    Case(
        "The level meters are updated with a period of 16 ms and the servo loop of the faders "
        "runs at 2 kHz.",
        APART,
        (period(16 * MS, "motor-1"), period(MS // 2, "motor-2")),
    ),
    Case("A control loop at 1 kHz whose input is sampled at 1 kHz.", ALONE, (period(MS),)),
    Case(
        "A control loop runs at 1 kHz, and the period is 2 ms.",
        conflict=(("period", "1 kHz"), ("period", "2 ms")),
    ),
]
VERBS = [
    Case("The press needs the weight sampled 50 times a second.", {"sampler": [0]}),
    Case(
        "The phase currents are sampled at 10 kHz.",
        {"sampler": [0]},
        (period(MS // 10, "sampler"),),
    ),
    Case(
        "Toggle a GPIO pin at intervals of 40 ms and run the crane's control loop at intervals "
        "of 16 ms.",
        {"beacon": [0], "motor": [1]},
        (period(40 * MS, "beacon"), period(16 * MS)),
    ),
    Case(
        "The old firmware spoke TCP, which nobody needs any more; just sample the temperature "
        "every 250 ms.",
        {"sampler": [0]},
        (period(250 * MS, "sampler"),),
    ),
]
COUNTS = [
    Case(
        "Two Tenon VMs, one with a control loop at 100 Hz and one with a command shell, and one "
        "Linux guest.",
        {"motor": [2], "hello": [3], "linux": [0, 1]},
        (period(10 * MS),),
    ),
    Case(
        "Beside Linux there are to be two pump VMs, each with a control loop of 5 ms.",
        {"motor-1": [2], "motor-2": [3], "linux": [0, 1]},
        (period(5 * MS, "motor-1"), period(5 * MS, "motor-2")),
    ),
    Case(
        "The control loop has a period of 2 ms, and each of its steps takes 3 ms of CPU time.",
        conflict=(("period", "2 ms"), ("wcet", "3 ms")),
    ),
]
DENIED = [
    Case(
        "A cooperative scheduler, and none of its threads needs floating point.",
        {"hello": [0]},
        (("forbid", "fp.context", None),),
    ),
    Case(
        "Linux and the control loop of the baler must not share a core, and the interrupts of "
        "the loop must not go through the hypervisor.",
        BESIDE,
        (("forbid", "virt.dispatch", None), ("capability", "virt.irq.direct", "mortise")),
    ),
    Case(
        "A control loop that has its interrupts directly from the hardware, and all its "
        "interrupts are injected by the hypervisor.",
        conflict=(
            ("capability", "interrupts directly from the hardware"),
            ("capability", "interrupts are injected by the hypervisor"),
        ),
    ),
]
TURNS = [
    Case(
        "Our technicians have known Linux for years, but the system for the pump is a single "
        "real-time VM whose threads pass messages through queues.",
        {"hello": [0]},
        ignored=("Our technicians have known Linux for years",),
    ),
    Case(
        "Unlike the competitor's, which was presented in May and has Bluetooth, ours passes "
        "messages from thread to thread through a queue.",
        {"hello": [0]},
        (("capability", "sync.queue", "hello"),),
    ),
    Case(
        "She wrote her thesis about cache colouring. A control loop at 1 kHz.",
        ALONE,
        (period(MS),),
        ignored=("her thesis about cache colouring",),
    ),
]
CREW = [
    Case(
        "Two periodic tasks in one and the same VM: stabilising the roll axis 250 times a second "
        "and checking the battery every 5 s.",
        {"task-set": [0]},
        (period(4 * MS, "task-set"), period(5 * SECOND, "task-set"), ("vms", 1, None)),
    ),
    Case(
        "In the real-time VM of our press, one task regulates the temperature every 100 ms and "
        "another prepares the drops every millisecond.",
        {"task-set": [0]},
        (period(100 * MS, "task-set"), period(MS, "task-set")),
    ),
    Case(
        "A control loop at 1 kHz and a sampler at 200 Hz in the same VM, beside Linux.",
        {"task-set": [3], "linux": [0, 1, 2]},
        (
            ("capability", "control.loop", "task-set"),
            ("capability", "sampling", "task-set"),
            period(MS, "task-set"),
            period(5 * MS, "task-set"),
        ),
    ),
    Case(
        "A sampler at 20 kHz together with a control loop at 1 kHz.",
        {"sampler": [0], "motor": [1]},
        (period(MS // 20, "sampler"), period(MS)),
    ),
]
PINS = [
    Case("GPIO and message queues", {"beacon": [0]}, (("capability", "driver.gpio", "beacon"),)),
    Case("a 1 kHz control loop that drives GPIO pins", {"thermostat": [0]}),
    Case("PWM on a GPIO pin", {"dimmer": [0]}),
    Case("blink at 10 Hz", {"beacon": [0]}, (period(100 * MS, "beacon"),)),
]
SENT = [
    Case(
        "A real-time VM samples a strain gauge every 10 ms and sends the values to Linux.",
        {"publisher": [3], "linux": [0, 1, 2]},
        (period(10 * MS, "publisher"), ("capability", "ipc.channel", "publisher")),
    ),
]
CLAUSES = [*RATES, *VERBS, *COUNTS, *DENIED, *TURNS, *CREW, *PINS, *SENT]
