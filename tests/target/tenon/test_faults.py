"""Faults of an application: each is reported with its thread and ends the image."""

import re
import shutil

import pytest
from conftest import ROOT, assert_well, until

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
    ("overflow in a line", "fatal: stack overflow in thread writer: "),
    ("panic", "panic: an application gave up (./tests/guests/faults/src/lib.rs:"),
)
SYNDROME = re.compile(r"esr=0x[0-9a-f]+ far=0x[0-9a-f]+ elr=0x[0-9a-f]+$")


@pytest.fixture(params=["[1]", "[1, 2]"], ids=["one core", "two cores"])
def system(request, tmp_path):
    """The system with an image for one core, or for two cores with locks."""
    folder = tmp_path / "faults"
    shutil.copytree(ROOT / "tests/systems/faults", folder)
    description = folder / "system.toml"
    text = description.read_text()
    assert "cpus = [1]" in text
    description.write_text(text.replace("cpus = [1]", f"cpus = {request.param}"))
    return folder


def test_each_fault_is_named_and_ends_in_a_restart(tenon, system, tmp_path):
    last = until(tmp_path, faults="faults: all tried")
    outcome = tenon("run", system, "--headless", "--deterministic", *last)
    assert_well(outcome)
    # The stack overflowed within such a line.
    *lines, last = [line for line in outcome.said("faults") if not "deeper".startswith(line)]
    assert last == "faults: all tried"
    tried = list(zip(lines[::2], lines[1::2], strict=True))
    assert [name.removeprefix("trying: ") for name, _ in tried] == [name for name, _ in SAID]
    for (_, line), (_, start) in zip(tried, SAID, strict=True):
        assert line.startswith(start), line
        assert SYNDROME.search(line) or not start.endswith(": ")
    assert outcome.vm("faults")["restarts"] == len(SAID)
