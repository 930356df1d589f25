"""What an application does wrong: each is reported with who did it, and ends the image."""

import re

from conftest import assert_well

SAID = (
    ("overflow of a thread", "fatal: stack overflow in thread deep: "),
    ("overflow of a handler", "fatal: stack overflow in a handler: "),
    ("overflow of a packed thread", "fatal: stack overflow in thread packed"),
    ("write to code", "fatal: write to code or constants in thread main: "),
    ("write to a constant", "fatal: write to code or constants in thread main: "),
    ("execution of data", "fatal: execution of data in thread main: "),
    ("null pointer", "fatal: use of a null pointer in thread main: "),
    ("wild pointer", "fatal: use of an address that is nothing in thread main: "),
    ("watchdog", "fatal: no check-in with the watchdog in thread hung"),
    ("panic", "panic: an application gave up (./apps/faults/src/lib.rs:"),
)
SYNDROME = re.compile(r"esr=0x[0-9a-f]+ far=0x[0-9a-f]+ elr=0x[0-9a-f]+$")


def test_each_fault_is_named_and_ends_in_a_restart(tenon):
    outcome = tenon("run", "systems/faults", "--headless", "--seconds", 3, "--deterministic")
    assert_well(outcome)
    *lines, last = outcome.said("faults")
    assert last == "faults: all tried"
    tried = list(zip(lines[::2], lines[1::2], strict=True))
    assert [name.removeprefix("trying: ") for name, _ in tried] == [name for name, _ in SAID]
    for (_, line), (_, start) in zip(tried, SAID, strict=True):
        assert line.startswith(start), line
        assert SYNDROME.search(line) or not start.endswith(": ")
    assert outcome.vm("faults")["restarts"] == len(SAID)
