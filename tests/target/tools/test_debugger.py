"""The commands of `run --gdb`, on two VMs of the same image that share a core."""

import json
import re
import shutil
import subprocess

import pages
import pytest

pytestmark = [
    pytest.mark.skipif(shutil.which("gdb-multiarch") is None, reason="no gdb-multiarch here"),
    pytest.mark.long(30, "orchestrator/tenonos/debugger", "pool/tenon/kernel", "pool/tenon/wait"),
    pytest.mark.timeout(900),
]

PROGRAM = """
#include <pthread.h>
#include <semaphore.h>
#include <time.h>

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t filled;
static const struct timespec pause_time = { .tv_nsec = 1000000 };

__attribute__((noinline)) void step(int number)
{
	__asm__ volatile("" : : "r"(number) : "memory");
}

static inline __attribute__((always_inline)) void note(int value)
{
	__asm__ volatile("nop" : : "r"(value) : "memory");
	__asm__ volatile("nop" : : "r"(value) : "memory");
}

static void *hold(void *unused)
{
	pthread_mutex_lock(&table_lock);
	sem_wait(&filled);
	return unused;
}

static void *want(void *unused)
{
	pthread_mutex_lock(&table_lock);
	return unused;
}

int main(void)
{
	pthread_t thread;

	sem_init(&filled, 0, 0);
	pthread_create(&thread, NULL, hold, NULL);
	nanosleep(&pause_time, NULL);
	pthread_create(&thread, NULL, want, NULL);
	nanosleep(&pause_time, NULL);
	for (int number = 0;; number++) {
		step(number);
		note(number);
		nanosleep(&pause_time, NULL);
	}
}
"""

SYSTEM = """
name = "twins"
board = "qemu-virt"
pool = "0.1"
mode = "dynamic"
"""

TWIN = """
[[vm]]
name = "{name}"
kind = "tenon"
app = "."
cpus = [0]
memory = "4M"
interrupts = "shared"
priority = {priority}
"""


@pytest.fixture(scope="module")
def twins(tmp_path_factory):
    folder = tmp_path_factory.mktemp("twins")
    done = pages.shell("tenon new app twins --lang c", folder)
    assert done.returncode == 0, done.stderr
    (folder / "twins" / "main.c").write_text(PROGRAM)
    vms = [
        TWIN.format(name=name, priority=number) for name, number in (("left", 40), ("right", 20))
    ]
    (folder / "twins" / "system.toml").write_text(SYSTEM + "".join(vms))
    done = pages.shell("tenon build twins", folder)
    assert done.returncode == 0, done.stderr
    return folder


def debug(folder, script):
    """What gdb prints for a script; the run ends with it."""
    (folder / "script.gdb").write_text(script)
    done = pages.shell(
        """
: >run.log
tenon run twins --headless --gdb >>run.log 2>&1 &
while kill -0 $! && ! grep -q 'target remote' run.log; do sleep 0.2; done
status=0
eval "timeout 120 $(grep '^gdb' run.log) -batch -x script.gdb" || status=$?
kill $! 2>/dev/null
wait || true
exit $status
""",
        folder,
        stderr=subprocess.STDOUT,
    )
    print(done.stdout)
    return done.returncode, done.stdout


def rows(said, vm):
    """The rows of the table of a VM's threads."""
    table = said.split(f"threads of {vm}\n")[1]
    lines = [re.split(r"  +", line) for line in table.split("\n\n")[0].splitlines()]
    return [dict(zip(lines[0], line, strict=True)) for line in lines[1:]]


def test_a_breakpoint_is_of_one_vm(twins):
    """Both VMs have the same function at the same address, and run on the same core."""
    status, said = debug(
        twins,
        "tenon-break right step if number == 40\n"
        "continue\ntenon-vm\nprint number\n"
        "tenon-break left step if number > 60 && number % 7 == 0\n"
        "continue\nprint number\ntenon-break\ntenon-vm right\ntenon-follow\nkill\n",
    )
    assert status == 0, said
    hits = re.findall(r"^(\w+), core 0, breakpoint (\d)$", said, re.MULTILINE)
    assert hits == [("right", "1"), ("left", "2")]
    first, second = map(int, re.findall(r"^\$\d = (\d+)$", said, re.MULTILINE))
    assert first == 40 and second > 60 and second % 7 == 0
    assert "core 0 executes right\n" in said and re.search(r"\* +right +0 +0 ", said)
    assert re.search(r"1 +right +step +number == 40 +1\n2 +left +step +.* +1\n", said)
    assert re.search(r"right, core 0, which executes left\n", said)
    assert said.rstrip().count("left, core 0\n") == 1
    assert "Error" not in said and "Traceback" not in said


def test_a_breakpoint_may_name_an_inlined_function(twins):
    """Its condition and the place shown are those of that function, not of its caller."""
    script = "tenon-break right note if value == 20\ncontinue\nprint value\nkill\n"
    status, said = debug(twins, script)
    assert status == 0, said
    assert re.findall(r"^(\w+), core 0, breakpoint (\d)$", said, re.MULTILINE) == [("right", "1")]
    assert re.findall(r"^\$\d = (\d+)$", said, re.MULTILINE) == ["20"], said
    assert "No symbol" not in said


def test_threads_of_a_vm_that_no_core_executes_are_listed(twins):
    """Its memory is in no translation of the stopped core. `left` is more urgent: while `right`
    executes, all threads of `left` wait."""
    status, said = debug(
        twins,
        "tenon-break right step if number == 20\ncontinue\n"
        "echo threads of right\\n\ntenon-threads\necho \\n\n"
        "echo threads of left\\n\ntenon-threads left\necho \\n\n"
        "tenon-backtrace left main\nkill\n",
    )
    assert status == 0, said
    left, right = rows(said, "left"), rows(said, "right")
    main = next(row for row in right if row["name"] == "main")
    assert main["state"] == "runs on core 0" and main["place"].startswith("step at ")
    main = next(row for row in left if row["name"] == "main")
    assert main["state"] == "sleeps or waits for a signal"
    assert re.match(r"main at .*main\.c:\d+$", main["place"])
    idle = next(row for row in left if row["name"] == "idle")
    assert idle["state"] == "runs on core 0, which has descheduled the VM"
    for table in (left, right):
        hold = next(row for row in table if row["place"].startswith("hold at "))
        want = next(row for row in table if "mutex" in row["state"])
        assert hold["state"] == "waits for filled"
        owner = f"owned by {hold['name']} ({hold['number']})"
        assert want["state"] == f"waits for mutex table_lock, {owner}"
        assert "pthread_mutex_lock at " in want["place"]
        assert int(hold["priority"].split()[0]) >= int(want["priority"].split()[0])
    assert re.search(r"#\d+ +0x\w+ in main \(\) at .*main\.c:\d+\n", said)
    assert "in ?? ()" not in said.split("threads of left")[1]


def test_threads_have_the_names_of_a_trace(twins):
    """Those of C have that of their start routine until they are named."""
    status, said = debug(
        twins,
        "tenon-break right step if number == 2\ncontinue\n"
        "echo threads of right\\n\ntenon-threads\necho \\n\ntenon-backtrace right hold\nkill\n",
    )
    assert status == 0 and " in hold (" in said, said
    line = "tenon run twins --headless --deterministic --seconds 0.1 --trace names.json"
    assert pages.shell(line, twins).returncode == 0
    events = json.loads((twins / "names.json").read_text())["traceEvents"]
    processes = {e["args"]["name"]: e["pid"] for e in events if e["name"] == "process_name"}
    right = processes["right"]
    tracks = {e["args"]["name"] for e in events if e["name"] == "thread_name" and e["pid"] == right}
    names = {row["name"] for row in rows(said, "right")}
    assert names == {"idle", "main", "hold", "want"} <= tracks


NOISE = r"""
python
import random
import re
from tenonos.debugger import commands, model, probing, segments, threads

file = re.search(r"commands\.load\([^/]*(/[^']*)'", open("run.log").read())[1]
left = model.DebuggedSystem.from_json(open(file).read()).vm("left")
layout = threads.Layout.parse(probing.probe(left.elf, "layout"))
noise = random.Random(5)


def write(address, data):
    commands._physical_mode(True)
    for physical, size in left.pieces(address, len(data)):
        gdb.selected_inferior().write_memory(physical, data[:size])
        data = data[size:]
    commands._physical_mode(False)


def tried(command):
    try:
        said = gdb.execute(command, to_string=True)
        print(said.count("\n"), "lines")
        return said
    except gdb.error as error:
        print("refused:", error)


for start, size in segments.writable(left.elf, 1 << 22):
    write(start, noise.randbytes(size))
# Stacks in RAM: their frames are noise.
at, size = layout.thread["stack_pointer"]
for address in layout.storage[:20]:
    stack = left.memory[0].guest + noise.randrange(0, 1 << 22, 16)
    write(address + at, stack.to_bytes(size, "little"))
listed = tried("tenon-threads left")
for line in listed.splitlines()[1:4]:
    tried(f"tenon-backtrace left {line.split()[0]}")
tried("tenon-backtrace left main")
tried("tenon-threads right")
end
"""


def test_garbage_in_a_vms_memory_costs_one_line(twins):
    """All of a VM's data is overwritten: names, lists, stack pointers and states are noise."""
    script = f"tenon-break right step if number == 5\ncontinue\n{NOISE}\nkill\n"
    status, said = debug(twins, script)
    assert status == 0 and "Traceback" not in said, said
    outcomes = re.findall(r"^(?:\d+ lines|refused: .*)$", said, re.MULTILINE)
    assert len(outcomes) == 6
    assert int(outcomes[0].split()[0]) > 20, "storages with noise"
    assert outcomes[4] == "refused: left has no thread main; see tenon-threads left"
    assert outcomes[5] == "5 lines", "the other VM's threads"


def test_errors_are_one_line(twins):
    wrong = {
        "tenon-vm middle": "no VM middle; there are left, right, mortise",
        "tenon-break left": "give a VM and a location: tenon-break VM LOCATION [if CONDITION]",
        "tenon-break middle step": "no VM middle; there are left, right, mortise",
        "tenon-break left nowhere": 'Function "nowhere" not defined.',
        "tenon-break left step if nothing > 1": 'No symbol "nothing" in current context.',
        "tenon-threads mortise": "mortise is no VM: it has no threads",
        "tenon-backtrace": "give a thread: tenon-backtrace [VM] THREAD [full]",
        "tenon-backtrace left 9": "left has no thread 9; see tenon-threads left",
        "tenon-vm left missing.elf": "no file missing.elf",
    }
    tries = "".join(
        f"try:\n    gdb.execute({command!r})\nexcept gdb.error as error:\n    print('E:', error)\n"
        for command in wrong
    )
    status, said = debug(twins, f"python\n{tries}end\nhelp tenon-break\nkill\n")
    assert status == 0, said
    assert re.findall(r"^E: (.*)$", said, re.MULTILINE) == list(wrong.values())
    assert "Example: tenon-break motor control_loop if error > 10" in said
