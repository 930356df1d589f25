"""Mortise's events: vCPUs, exits, and their texts."""

from __future__ import annotations

from types import SimpleNamespace

from rings import Ring
from test_timeline import of, traced

from tenonos.trace import hypervisor
from tenonos.trace.ring import Event
from tenonos.trace.timeline import timeline

MOTOR, LINUX, IDLE = 0x100, 0x201, 1


def switched():
    """Linux runs until the motor's timer expires; the motor runs and waits; then the core is
    idle."""
    ring = Ring()
    for subject, name in ((MOTOR, "motor"), (LINUX, "linux 1"), (IDLE, "idle 0")):
        ring.name(subject, name)
    for at, (event, subject) in enumerate(
        [
            (Event.RUN, LINUX),
            (Event.RETURN, LINUX),
            (Event.EXIT, 0x100),
            (Event.ENTER, 27),
            (Event.READY, MOTOR),
            (Event.LEAVE, 27),
            (Event.INJECT, MOTOR << 24 | 27),
            (Event.RUN, MOTOR),
            (Event.RETURN, MOTOR),
            (Event.EXIT, 0x16),
            (Event.CALL, 0xC600_0200),
            (Event.RING, 0),
            (Event.RETURN, MOTOR),
            (Event.EXIT, 0x01),
            (Event.SLEEP, MOTOR),
            (Event.STATE, 0x104),
            (Event.RUN, IDLE),
            (Event.EXIT, 0x3F),
        ]
    ):
        ring.record(at * 1000, event, subject)
    trace = traced(ring)
    trace.channels[0] = "telemetry"
    return timeline(trace)


def test_a_virtual_cpu_is_a_subject_like_a_thread():
    made = switched()
    assert of(made, "core 0") == [
        ("linux 1", 0, 112_000),
        ("motor", 112_000, 256_000),
        ("idle 0", 256_000, 272_000),
    ]
    assert [name for name, *_ in of(made, "linux 1")] == ["running", "ready"]
    assert [name for name, *_ in of(made, "motor")] == ["ready", "running", "sleeps"]
    (flow,) = made.flows
    assert (flow.source, flow.target) == ("core 0 interrupts", "motor")


def test_an_exit_ends_when_a_guest_is_entered_or_the_core_idles():
    assert of(switched(), "core 0 exits") == [
        ("interrupt", 32_000, 128_000),
        ("HVC", 144_000, 192_000),
        ("WFI", 208_000, 256_000),
    ]


def test_what_is_said_of_the_rest():
    assert [instant.name for instant in switched().instants] == [
        "timer (27) for motor",
        "calls ring",
        "rings telemetry",
        "linux is off",
    ]


def test_numbers_without_a_name_stay_numbers():
    trace = traced(Ring())
    said = {
        (Event.EXIT, 0x3E): "exception of class 0x3e",
        (Event.EXIT, 0x300): "SError",
        (Event.INJECT, 0x505 << 24 | 40): "interrupt (40) for 0x505",
        (Event.CALL, 0xDEAD): "calls 0xdead",
        (Event.STATE, 0x3FF): "VM 3 is 255",
        (Event.RING, 7): "rings channel 7",
    }
    for (event, subject), words in said.items():
        assert hypervisor.words(trace, event, subject) == words


def test_virtual_cpus_are_called_as_mortise_calls_them():
    motor = SimpleNamespace(index=0, name="motor", cpus=(0,))
    linux = SimpleNamespace(index=1, name="linux", cpus=(1, 2))
    assert hypervisor.vcpus(motor) == {0x100: "motor"}
    assert hypervisor.vcpus(linux) == {0x200: "linux 0", 0x201: "linux 1"}
