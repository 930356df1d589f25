"""Each capability of the scheduler, time, synchronisation and C, asked for in plain English."""

import pytest

ASKED = [
    ("threads with priorities and a 1 kHz control loop", "sched.preemptive"),
    ("a cooperative scheduler with a 1 kHz control loop", "sched.cooperative"),
    ("a 1 kHz control loop whose threads share the CPU round robin", "sched.timeslice"),
    ("a 1 kHz control loop with symmetric multiprocessing", "sched.smp"),
    ("a 1 kHz control loop on two cores", "sched.smp"),
    ("a 1 kHz control loop on a tickless kernel", "time.tickless"),
    ("a 1 kHz control loop with a periodic tick", "time.tick"),
    ("a 1 kHz control loop with counting semaphores", "sync.semaphore"),
    ("a 1 kHz control loop with mutexes and priority inheritance", "sync.mutex"),
    ("a 1 kHz control loop with message queues", "sync.queue"),
    ("a 1 kHz control loop with a floating-point filter", "fp.context"),
    ("a C program with pthreads", "api.posix"),
    ("a 1 kHz control loop with event tracing", "trace"),
    ("the faults application under a watchdog", "watchdog"),
]
EXCLUSIVE = [
    ("sched.preemptive", "sched.cooperative"),
    ("time.tickless", "time.tick"),
]


@pytest.mark.parametrize(("objective", "capability"), ASKED)
def test_what_is_asked_for_is_what_the_image_has(composed, objective, capability):
    answer = composed(objective)
    assert answer.images, (answer.missing, answer.reason)
    (image,) = (image for image in answer.images.values() if image.kind == "tenon")
    assert capability in image.capabilities
    for pair in EXCLUSIVE:
        assert len(set(pair) & set(image.capabilities)) == 1


def test_what_costs_something_is_there_only_if_it_is_asked_for(composed):
    has = composed("a 1 kHz control loop").images["motor"].capabilities
    dear = "sched.smp sched.timeslice time.tick fp.context api.posix trace watchdog".split()
    assert not set(dear) & set(has)


@pytest.mark.parametrize("cores", [2, 4])
def test_several_cores_are_in_the_configuration_too(composed, cores):
    word = {2: "two", 4: "four"}[cores]
    motor = composed(f"a 1 kHz control loop on {word} cores").images["motor"]
    assert motor.cpus == list(range(cores))
    assert motor.config["CONFIG_TENON_THREAD_CORES"] == str(cores)


def test_a_program_in_c_is_the_lightest_there_is(composed, pool):
    (name,) = set(composed("POSIX threads").images) - {"mortise"}
    programs = [app for app in pool.apps if pool.in_c(app) and pool.is_whole(app, ())]
    assert pool.entries[min(programs, key=pool.costs.__getitem__)].name == name
    assert all(pool.costs[app] > 20 for app in programs)


def test_a_library_that_no_code_of_the_image_calls_meets_no_demand(pool):
    assert pool.uses(["APP_FAULTS"], "watchdog")
    assert pool.uses(["APP_MOTOR"], "watchdog"), "its periodic task is watched"
    assert not pool.uses(["APP_GREETER", "APP_HELLO"], "watchdog")
    assert not pool.uses(["APP_MOTOR", "APP_HELLO"], "ipc.channel")
    assert pool.uses(["APP_MOTOR"], "sync.queue")
