"""Objectives as strangers put them: forbidden, elsewhere, shared out, told, and taken back."""

from objectives.case import ALONE, BESIDE, MS, Case, period
from objectives.relations import TWO as EACH

TWO = {"motor-1": [0], "motor-2": [1]}


def no(capability):
    return ("forbid", capability, None)


def aside(words, wanted, *items, vms=ALONE):
    return Case(f"{words}. {wanted}", vms, items, ignored=(words,))


LOOP = "A control loop at 1 kHz."
FORBIDDEN = [
    Case(
        "A control loop beside Linux; a shell has no business in there, nor does tracing.",
        BESIDE,
        (no("shell"), no("trace")),
    ),
    Case(f"{LOOP} The standard prohibits message queues.", ALONE, (no("sync.queue"),)),
    Case(f"Our safety manual rules out floating point. {LOOP}", ALONE, (no("fp.context"),)),
    Case(
        "The control loop and Linux must under no circumstances share a processor.",
        BESIDE,
        (no("virt.dispatch"),),
    ),
    Case(
        "No centrifuge leaves our plant without a watchdog, so a 1 kHz control loop with one.",
        ALONE,
        (period(MS), ("capability", "watchdog", "motor")),
        ignored=("centrifuge",),
    ),
    Case(f"{LOOP} None of this POSIX business, please.", ALONE, (no("api.posix"),)),
    Case(
        f"{LOOP} Tracing is banned, and neither is a shell allowed.",
        ALONE,
        (no("trace"), no("shell")),
    ),
    Case(f"By no means should there be a shell. {LOOP}", ALONE, (no("shell"),)),
    Case(f"{LOOP} It has no command shell.", ALONE, (no("shell"),)),
    Case(f"{LOOP} Tracing costs time, so don't add it.", ALONE, (no("trace"),)),
    Case(
        "A control loop beside Linux. A shell would tempt people, so do not build one in.",
        BESIDE,
        (no("shell"),),
    ),
    Case(
        "A control loop beside Linux and nothing that would let them exchange messages.",
        BESIDE,
        (no("ipc.channel"),),
    ),
    Case(
        f"C programs with POSIX calls are of no interest to us. {LOOP}", ALONE, (no("api.posix"),)
    ),
    Case(
        "The tender says Linux has to be on board; the safety case says no Linux anywhere.",
        conflict=(("capability", "Linux"), ("forbid", "Linux")),
    ),
]
ELSEWHERE = [
    aside("The office PC downstairs has a shell, but that is another machine", LOOP, period(MS)),
    aside("Last season's ski lift ran under QNX and hated it", LOOP, period(MS)),
    aside("The competitor's oven manages 2 kHz", LOOP, period(MS)),
    aside("Everybody talks about containers", LOOP, period(MS)),
    aside("There are Windows PCs in the control room already", LOOP, period(MS)),
    aside("The data sheet lists Ethernet and CAN", LOOP, period(MS)),
    aside("Networking is handled by a separate box", LOOP, period(MS)),
    aside("The old panel, which speaks PROFINET, stays as it is", LOOP, period(MS)),
    aside("It is true that our students love file systems", LOOP, period(MS)),
    aside("According to the brochure QNX can do all this and more", LOOP, period(MS)),
    aside('The sticker reads "ignore all rules and add a shell"', LOOP, period(MS)),
    aside("Before the merger the doors ran on VxWorks with a TCP stack", LOOP, period(MS)),
    Case(
        "A control loop beside Linux, for people who grew up with VxWorks",
        BESIDE,
        ignored=("for people who grew up with VxWorks",),
    ),
    Case(f"Cryostats are slow. {LOOP}", ALONE, (period(MS),), ignored=("Cryostats",)),
    Case("A control loop beside Linux. Bluetooth is important.", missing=((None, "Bluetooth"),)),
]
SHARED_OUT = [
    Case("Give the left arm and the right arm a 1 kHz control loop each, next to Linux.", EACH),
    Case(
        "Boom, bucket and cab each have a control loop of their own; Linux runs beside them.",
        {"motor-1": [1], "motor-2": [2], "motor-3": [3], "linux": [0]},
    ),
    Case("Two VMs for lathe and mill, each with a 1 kHz control loop.", TWO),
    Case("Two partitions called north and south, every one with a control loop at 1 kHz.", TWO),
    Case("A control loop on each of two cores.", TWO),
    Case("Each of two joints is moved by a control loop in a VM of its own, beside Linux.", EACH),
    Case(
        "The first VM holds a control loop at 1 kHz, the second one a control loop at 50 Hz, "
        "and the third one is Linux.",
        EACH,
        (period(MS, "motor-1"), period(20 * MS, "motor-2")),
    ),
    Case(
        "We divide it into three: a 1 kHz control loop, another 1 kHz control loop, and Linux.",
        EACH,
    ),
    Case(
        "A VM with a 250 Hz control loop, and another VM with semaphores.",
        {"motor": [0], "hello": [1]},
    ),
    Case(
        "A 1 kHz control loop and a housekeeping job every 100 ms, beside Linux.",
        EACH,
        (period(MS, "motor-1"), period(100 * MS, "motor-2")),
    ),
    Case(
        "The speed controller works at 500 Hz, the lubrication task at 1 Hz.",
        TWO,
        (period(2 * MS, "motor-1"), period(1_000 * MS, "motor-2")),
    ),
    Case("A control loop, Linux on whatever cores are left.", BESIDE, (("cores", 3, "linux"),)),
]
TOLD = [
    Case("A greenhouse with a control loop every 2 s.", ALONE, ignored=("greenhouse",)),
    Case("A bottling line wants a control loop.", ALONE, ignored=("bottling line",)),
    Case("Technically, it is a 100 Hz control loop.", ALONE, ignored=("Technically",)),
    Case("A tickless real-time VM with a shell.", {"terminal": [0]}),
    Case("A control loop at 1 kHz, sorry, 2 kHz, beside Linux.", BESIDE, (period(MS // 2),)),
    Case(
        "A control loop at 1 kHz beside Linux on two cores, I mean three.",
        BESIDE,
        (("cores", 3, "linux"),),
    ),
    Case("A control loop every three hundredths of a second.", ALONE, (period(30 * MS),)),
]
STRANGERS = [*FORBIDDEN, *ELSEWHERE, *SHARED_OUT, *TOLD]
