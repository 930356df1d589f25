"""C programs: the POSIX interface, builds and exit statuses."""

import json
import re

import pytest
from conftest import assert_well

PROGRAM = """
#include <stdio.h>
#include <stdlib.h>

static _Thread_local int own = 7;
static int constructed;

__attribute__((constructor)) static void construct(void) { constructed = 1; }
static void last(void) { fputs("at exit\\nno end of line", stdout); }

int main(int argc, char *argv[])
{
	char *memory = malloc(100000);
	atexit(last);
	printf("%d %.3f %d %d\\n", own, argc * 1.5, constructed, argv[argc] == NULL);
	printf("%s\\n", memory != NULL ? "memory" : "none");
	fprintf(stderr, "an error\\n");
	if (getenv("NOTHING") == NULL && setenv("SOMETHING", "set", 1) == 0)
		puts(getenv("SOMETHING"));
	return STATUS;
}
"""


@pytest.fixture
def program(tenon, tmp_path):
    """Runs a C program outside of the tree."""

    def run(text):
        folder = tmp_path / "program"
        if not folder.exists():
            made = tenon("-C", tmp_path, "new", "app", "program", "--lang", "c", json_file=False)
            assert_well(made)
        (folder / "main.c").write_text(text)
        return tenon("run", folder, "--headless")

    return run


@pytest.mark.parametrize("status", [0, 3])
def test_a_program_begins_and_ends(program, status):
    outcome = program(PROGRAM.replace("STATUS", str(status)))
    assert outcome.said("program") == [
        "7 1.500 1 1",
        "memory",
        "an error",
        "set",
        "at exit",
        "no end of line",
        f"exit status {status}",
    ]
    assert outcome.status == (1 if status else 0)
    assert outcome.vm("program")["exit_status"] == status
    if status:
        assert "program ended with exit status 3" in outcome.stderr


def test_what_does_not_build_is_said_in_a_line(program):
    outcome = program("int main(void) { return nothing; }\n")
    assert outcome.status == 1
    assert "main.c:1: program: 'nothing' undeclared" in outcome.stderr
    outcome = program("int nowhere(void);\nint main(void) { return nowhere(); }\n")
    assert outcome.status == 1
    assert "program: undefined symbol: nowhere" in outcome.stderr


OVERFLOW = """
#include <pthread.h>

static int deep(int n) { volatile char room[512]; room[0] = 1; return deep(n + room[0]) + room[0]; }
static void *run(void *argument) { return (void *)(long)deep(0); }

int main(void)
{
	pthread_t thread;
	pthread_create(&thread, NULL, run, NULL);
	return pthread_join(thread, NULL);
}
"""


def test_a_stack_that_overflows_is_named(program):
    outcome = program(OVERFLOW)
    assert outcome.status == 1
    assert "fatal: stack overflow in thread pthread" in "\n".join(outcome.said("program"))


FAR = """
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A frame larger than the stack, of which only the far end is touched. */
__attribute__((noinline)) static void deep(int fill)
{
	volatile char frame[SIZE];

	frame[0] = (char)fill;
}

static void *body(void *argument) { deep(0x5a); return argument; }

int main(void)
{
	pthread_attr_t attributes;
	pthread_t thread;
	size_t changed = 0, size = 100000;
	char *block = malloc(size);

	memset(block, 0x11, size);
	if (THREAD) {
		pthread_attr_init(&attributes);
		pthread_attr_setstacksize(&attributes, 16384);
		pthread_create(&thread, &attributes, body, NULL);
		pthread_join(thread, NULL);
	} else {
		body(NULL);
	}
	for (size_t at = 0; at < size; at++)
		changed += block[at] != 0x11;
	printf("%zu bytes changed\\n", changed);
	return 0;
}
"""


@pytest.mark.parametrize(("thread", "size", "name"), [(1, 40000, "pthread"), (0, 200000, "main")])
def test_a_frame_does_not_jump_the_guard_page(program, thread, size, name):
    outcome = program(FAR.replace("SIZE", str(size)).replace("THREAD", str(thread)))
    assert outcome.status == 1
    said = "\n".join(outcome.said("program"))
    assert f"fatal: stack overflow in thread {name}" in said
    assert "bytes changed" not in said


TIMINGS = [
    pytest.param([], id="host", marks=pytest.mark.alone),
    pytest.param(["--deterministic"], id="deterministic"),
]


@pytest.mark.parametrize("timing", TIMINGS)
def test_the_interface_passes_its_tests(tenon, timing):
    outcome = tenon("run", "posix-tests", "--headless", *timing)
    assert_well(outcome)


EXAMPLES = {
    "producer-consumer": ["600 parts of 3 producers, 60 of them urgent, 0 out of order"],
    "metronome": [
        "every 1 ms: 200 releases, 0 early, the latest [0-2] us after its time",
        "every 2 ms: 100 releases, 0 early, the latest [0-2] us after its time",
        "every 5 ms: 40 releases, 0 early, the latest [0-2] us after its time",
    ],
    "priority-inversion": [
        r"the urgent thread waited 5\d{4} us without inheritance",
        r"the urgent thread waited \d{4} us with inheritance",
    ],
}


@pytest.mark.long(40, "pool/tenon/posix", "pool/tenon/pthread", "pool/tenon/c-api")
@pytest.mark.parametrize("system", EXAMPLES)
def test_a_plain_posix_program_runs(tenon, system):
    outcome = tenon("run", system, "--headless", "--deterministic")
    assert_well(outcome)
    *lines, last = outcome.said(system)
    assert last == "exit status 0"
    for line, expected in zip(lines, EXAMPLES[system], strict=True):
        assert re.fullmatch(expected, line), line


def test_what_is_empty_takes_no_room_in_the_image(tenon):
    sizes = json.loads(tenon("size", "priority-inversion", "--json", json_file=False).stdout)
    data = next(image["data"] for image in sizes["images"] if image["name"] == "priority-inversion")
    assert data < 4096
