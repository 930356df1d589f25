"""`./tenon run --trace`: the events of a periodic thread."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from itertools import pairwise

import pytest
from conftest import assert_well, until

# Records that a busy host reads too late are overwritten and reported as lost.
pytestmark = pytest.mark.alone


@pytest.fixture(scope="module")
def traced(tenon, tmp_path_factory):
    """One deterministic second of a 1 kHz task with a mark around its body, twice."""
    folder = tmp_path_factory.mktemp("trace")
    assert_well(tenon("-C", folder, "new", "app", "pulse", json_file=False))
    source, system = folder / "pulse/src/lib.rs", folder / "pulse/system.toml"
    text = (
        source.read_text().replace("|_| {", "|_| BODY.during(|| {").replace("    });", "    }));")
    )
    mark = "static BODY: tenon::trace::Mark = tenon::trace::Mark::new();\n\n/// Count of releases"
    source.write_text(text.replace("/// Count of releases", mark))
    system.write_text(re.sub(r"period = .*", 'period = "1ms"', system.read_text()))

    def run(name):
        file = folder / name
        line = ("run", folder / "pulse", "--headless", "--deterministic", "--seconds", 1)
        outcome = tenon(*line, "--trace", file)
        assert_well(outcome)
        return outcome, file

    return run("first.json"), run("again.json")


def events_of(file, vm):
    """The records of a VM, without those of Mortise."""
    events = json.loads(file.read_text())["traceEvents"]
    (process,) = [
        e["pid"] for e in events if e["name"] == "process_name" and e["args"]["name"] == vm
    ]
    return [e for e in events if e["pid"] == process]


@pytest.mark.timeout(300)
def test_a_periodic_thread_event_by_event(traced):
    outcome, file = traced[0]
    events = events_of(file, "pulse")
    tracks = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
    assert list(tracks.values())[:2] == ["core 0", "core 0 interrupts"]
    assert {"main", "idle", "main: pulse::BODY"} == set(tracks.values()) - {
        "core 0",
        "core 0 interrupts",
    }
    pieces = sorted((e for e in events if e["ph"] == "X"), key=lambda e: e["ts"])
    core = [e for e in pieces if tracks[e["tid"]] == "core 0"]
    bodies = [e for e in pieces if e["name"] == "pulse::BODY"]
    # From the first release on, the core switches between both once per release.
    released = outcome.task["completed"]
    assert released == 1000
    assert [e["name"] for e in core[-2 * released - 1 :]] == ["idle", "main"] * released + ["idle"]
    # The last body may extend beyond the end.
    assert len(bodies) in (released, released - 1)
    timer = [e for e in pieces if tracks[e["tid"]] == "core 0 interrupts"]
    assert Counter(e["name"] for e in timer).keys() == {"timer (27)"}
    assert not [e for e in events if e["ph"] == "i" and "lost" in e["name"]]
    # Each body starts within the run after its release's interrupt.
    releases = [e["ts"] for e in timer[-released:]]
    mains = [e for e in core if e["name"] == "main"][-released:]
    for release, run, body in zip(releases, mains, bodies[-released:], strict=False):
        assert release < run["ts"] < body["ts"] < release + 10
    flows = Counter(e["ph"] for e in events if e["ph"] in "sf")
    assert flows["s"] == flows["f"] >= released


@pytest.mark.timeout(300)
def test_two_deterministic_runs_leave_the_same_trace(traced):
    first, again = (file for _, file in traced)
    assert first.read_bytes() == again.read_bytes()


@pytest.mark.timeout(300)
def test_a_release_is_followed_from_the_interrupt_through_mortise_to_the_task(tenon, tmp_path):
    file = tmp_path / "shared.json"
    line = ("run", "one-core", "--headless", "--deterministic", "--seconds", 0.5)
    outcome = tenon(*line, "--trace", file)
    assert_well(outcome)
    events = json.loads(file.read_text())["traceEvents"]
    processes = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
    assert list(processes.values()) == ["mortise", "motor"], "Mortise first; Linux records nothing"
    tracks = {
        (e["pid"], e["tid"]): f"{processes[e['pid']]} {e['args']['name']}"
        for e in events
        if e["name"] == "thread_name"
    }
    pieces = defaultdict(list)
    for event in sorted((e for e in events if e["ph"] in "Xi"), key=lambda e: e["ts"]):
        moment = " moments" if event["ph"] == "i" else ""
        track = tracks[event["pid"], event["tid"]] + moment
        pieces[track].append((event["ts"], event.get("dur", 0), event["name"]))
    assert not [name for _, _, name in pieces["mortise core 0 moments"] if "lost" in name]
    # The runs of all VMs are adjacent, without gap or overlap.
    turns = pieces["mortise core 0"]
    assert {"motor", "linux", "idle 0"} == {name for _, _, name in turns}
    for (start, length, _), (following, _, _) in pairwise(turns):
        assert start + length == pytest.approx(following, abs=1e-3)
    # Each run of the task is within a run of its VM and starts within a microsecond of the recorded
    # injection, which is within the interrupt that Mortise handled.
    released = outcome.task["completed"]
    runs = [piece for piece in pieces["motor core 0"] if piece[2] == "main"][-released:]
    motors = [piece for piece in turns if piece[2] == "motor"]
    injections = [
        at for name in pieces for at, _, what in pieces[name] if what == "timer (27) for motor"
    ]
    assert len(runs) == released == 500
    for start, length, _ in runs:
        turn = next(turn for turn in reversed(motors) if turn[0] <= start)
        assert start + length <= turn[0] + turn[1]
        assert 0 < start - max(at for at in injections if at < start) < 1
    # All counted exits by WFI are recorded, except the last one, which has not ended.
    waits = [name for _, _, name in pieces["mortise core 0 exits"]]
    assert set(waits) <= {
        "interrupt", "doorbell", "WFI", "HVC", "SMC", "data abort", "MSR or MRS", "floating point"
    }  # fmt: skip
    assert waits.count("WFI") >= outcome.vm("motor")["exits"]["wfi"] - 1 >= released


BOUNCE = """
#![no_std]

use tenon::sync::{Mutex, Semaphore};
use tenon::thread::{Priority, Storage};
use tenon::time::{self, Duration};

static BALL: Semaphore = Semaphore::new(0);
static HITS: Mutex<u32> = Mutex::new(0);
static PLAYERS: [Storage<4096>; 5] = [const { Storage::new() }; 5];

pub fn main() {
    for (player, name) in PLAYERS.iter().zip(["a", "b", "c", "d", "e"]) {
        let _ = player.spawn(name, Priority::new(9), play);
    }
    for round in 1.. {
        time::sleep(Duration::from_micros(200));
        let _ = BALL.give();
        let _ = BALL.give();
        if round == 1000 {
            tenon::log::info!("played");
        }
    }
}

fn play() {
    loop {
        BALL.take();
        if let Ok(mut hits) = HITS.lock() {
            *hits += 1;
        }
    }
}
"""


@pytest.mark.timeout(300)
def test_nobody_runs_on_two_cores_and_a_lock_has_one_holder(tenon, tmp_path):
    assert_well(tenon("-C", tmp_path, "new", "app", "bounce", json_file=False))
    folder = tmp_path / "bounce"
    (folder / "src/lib.rs").write_text(BOUNCE)
    (folder / "bounce.config").write_text("CONFIG_TENON_THREAD_CORES=3\n")
    text = re.sub(r"cpus = .*", "cpus = [1, 2, 3]", (folder / "system.toml").read_text())
    (folder / "system.toml").write_text(re.sub(r"\n\[\[vm.task\]\](\n.+)*", "", text))
    file = tmp_path / "bounce.json"
    last = until(tmp_path, bounce="played")
    assert_well(tenon("run", folder, "--headless", "--trace", file, *last))
    events = events_of(file, "bounce")
    tracks = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
    assert {"core 0", "core 1", "core 2", "lock bounce::HITS"} <= set(tracks.values())
    cores, locks = defaultdict(list), []
    for event in events:
        track = tracks.get(event["tid"], "")
        if event["ph"] == "X" and track in ("core 0", "core 1", "core 2"):
            cores[event["name"]].append((event["ts"], event["ts"] + event["dur"], track))
        elif event["ph"] == "X" and track.startswith("lock "):
            locks.append((event["ts"], event["ts"] + event["dur"], event["name"]))
    for name, runs in cores.items():
        assert_apart(name, runs)
    assert_apart("the lock", locks)
    assert len(locks) > 100
    played = [name for name in "abcde" if len({core for *_, core in cores[name]}) > 1]
    assert played, "free threads run wherever there is room"


def assert_apart(name, pieces):
    pieces.sort()
    for (_, end, before), (start, _, after) in pairwise(pieces):
        # In microseconds, as floating-point numbers.
        assert end <= start + 1e-6, (name, before, after, end, start)


WAITS = """
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static sem_t gate;
static pthread_mutex_t lock;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void *take(void *semaphore)
{
	pthread_setname_np(pthread_self(), "taker");
	sem_wait(semaphore);
	return NULL;
}

static void *wait_for_change(void *unused)
{
	struct timespec soon;

	clock_gettime(CLOCK_REALTIME, &soon);
	soon.tv_nsec = (soon.tv_nsec + 1000000) % 1000000000;
	pthread_mutex_lock(&lock);
	pthread_cond_timedwait(&changed, &lock, &soon);
	pthread_mutex_unlock(&lock);
	return unused;
}

static void *receive(void *queue)
{
	char byte;
	sigset_t none;

	mq_receive(*(mqd_t *)queue, &byte, 1, NULL);
	sigemptyset(&none);
	sigsuspend(&none);
	return NULL;
}

static void run(void *(*routine)(void *), void *argument, sem_t *posted)
{
	const struct timespec pause = { .tv_nsec = 2000000 };
	pthread_t thread;

	pthread_create(&thread, NULL, routine, argument);
	nanosleep(&pause, NULL);
	if (posted != NULL)
		sem_post(posted);
	pthread_join(thread, NULL);
}

int main(void)
{
	struct mq_attr attributes = { .mq_maxmsg = 1, .mq_msgsize = 1 };
	mqd_t queue = mq_open("/a-queue-of-31-bytes-in-its-name", O_RDWR | O_CREAT, 0600, &attributes);
	sem_t *named = sem_open("/named", O_CREAT, 0600, 0), *made = malloc(sizeof *made);
	struct sched_param parameters = { .sched_priority = 9 };
	pthread_t receiver;

	sem_init(&gate, 0, 0);
	sem_init(made, 0, 0);
	pthread_setname_np(pthread_self(), "conductor");
	run(take, &gate, &gate);
	run(take, named, named);
	run(take, made, made);
	run(wait_for_change, NULL, NULL);
	pthread_create(&receiver, NULL, receive, &queue);
	run(wait_for_change, NULL, NULL);
	pthread_setschedparam(receiver, SCHED_FIFO, &parameters);
	mq_send(queue, "!", 1, 0);
	run(wait_for_change, NULL, NULL);
	parameters.sched_priority = 0;
	pthread_setschedparam(receiver, SCHED_OTHER, &parameters);
	pthread_cancel(receiver);
	pthread_join(receiver, NULL);
	puts("played");
	for (;;)
		sleep(1);
}
"""


@pytest.mark.timeout(300)
def test_a_program_in_c_has_the_names_and_priorities_of_its_source(tenon, tmp_path):
    assert_well(tenon("-C", tmp_path, "new", "app", "waits", "--lang", "c", json_file=False))
    (tmp_path / "waits/main.c").write_text(WAITS)
    file = tmp_path / "waits.json"
    line = ("run", tmp_path / "waits", "--headless", "--deterministic")
    assert_well(tenon(*line, "--trace", file, *until(tmp_path, waits="played")))
    events = events_of(file, "waits")
    tracks = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
    states = defaultdict(set)
    for event in events:
        if event["ph"] == "X":
            states[tracks[event["tid"]]].add(re.sub("0x[0-9a-f]+", "ADDRESS", event["name"]))
    # One block of the table of threads serves the threads that follow each other.
    assert "waits for gate" in states["taker"]
    assert "waits for /named" in states["taker 2"]
    assert "waits for semaphore ADDRESS" in states["taker 3"]
    assert "waits for changed" in states["wait_for_change"]
    assert {"waits for /a-queue-of-31-bytes-in-its-name", "waits for a signal"} <= states["receive"]
    ends = {f"waits for the end of {name}" for name in ("taker", "receive")}
    assert ends | {"sleeps"} <= states["conductor"]
    changes = [e["args"] for e in events if e["name"] == "receive priority"]
    assert [(each["base"], each["effective"]) for each in changes] == [(1, 1), (10, 10), (1, 1)]


@pytest.mark.timeout(300)
def test_tasks_have_the_priorities_that_their_system_states(tenon, tmp_path):
    system = tmp_path / "pair"
    system.mkdir()
    tasks = (("quick", "1ms", 20), ("slow", "5ms", 30))
    described = [
        f'[[vm.task]]\nname = "{name}"\nperiod = "{period}"\npriority = {priority}\n'
        for name, period, priority in tasks
    ]
    head = 'name = "pair"\nboard = "qemu-virt"\npool = "0.1"\n\n[[vm]]\nname = "pair"\n'
    vm = 'kind = "tenon"\napp = "task-set"\ncpus = [0]\nmemory = "4M"\n\n'
    (system / "system.toml").write_text(head + vm + "\n".join(described))
    file = tmp_path / "pair.json"
    line = ("run", system, "--headless", "--deterministic", "--seconds", 0.1)
    assert_well(tenon(*line, "--trace", file))
    curves = [e for e in events_of(file, "pair") if e["ph"] == "C"]
    last = {e["name"]: (e["args"]["base"], e["args"]["effective"]) for e in curves}
    assert (last["quick priority"], last["slow priority"]) == ((20, 20), (30, 30))


def test_a_file_without_a_format_is_refused_before_anything_is_built(tenon):
    outcome = tenon("run", "hello", "--trace", "trace.txt", json_file=False)
    assert outcome.status == 2
    assert outcome.stderr.startswith("tenon: --trace: trace.txt has no known trace format")
