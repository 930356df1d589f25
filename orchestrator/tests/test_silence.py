"""Lines about long waits, by a clock of the tests' own."""

import os
import subprocess
import sys
import threading
import time

import pytest

from tenonos import cli, silence, ui
from tenonos.locks import FILE, exclusive
from tenonos.paths import ROOT
from tenonos.silence import LIMIT, Silence


class Clock:
    """A clock, and the waits that it is the clock of."""

    def __init__(self):
        self.now, self.lines = 0.0, []
        self.waits = Silence(self.lines.append, lambda: self.now)

    def go(self, seconds):
        """Time passes, second by second."""
        for _ in range(round(seconds)):
            self.now += 1
            self.waits.check()


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def told(monkeypatch):
    """The lines of this process, at one hundredth of the usual limit."""
    lines = []
    waits = Silence(lines.append)
    monkeypatch.setattr(silence, "LIMIT", LIMIT / 100)
    monkeypatch.setattr(ui, "WAITS", waits)
    waits.watch(0.01)
    return lines


def test_no_ten_seconds_pass_without_a_line(clock):
    with clock.waits.awaiting("building"):
        clock.go(35)
    assert clock.lines == [f"building: {n} s so far; Ctrl-C ends it" for n in (9, 18, 27)]


def test_a_line_of_another_kind_counts(clock):
    with clock.waits.awaiting("building"):
        clock.go(8)
        clock.waits.spoke()
        clock.go(8)
    clock.go(100)
    assert clock.lines == []


@pytest.mark.parametrize("verbose", [False, True])
def test_a_line_that_is_not_printed_does_not_count(clock, monkeypatch, verbose):
    monkeypatch.setattr(ui, "WAITS", clock.waits)
    monkeypatch.setattr(ui.SETTINGS, "verbose", verbose)
    with clock.waits.awaiting("building"):
        clock.go(8)
        ui.detail("linking")
        clock.go(1)
    assert bool(clock.lines) is not verbose


def test_the_innermost_wait_is_named_with_how_to_go_on(clock):
    with clock.waits.awaiting("outer"):
        clock.go(4)
        with clock.waits.awaiting("inner", "type q"):
            clock.go(5)
        clock.go(10)
        with clock.waits.awaiting("", shown=True):
            clock.go(60)
            with clock.waits.awaiting("below the screen", "q"):
                clock.go(9)
    assert clock.lines == [
        "inner: 5 s so far; type q",
        "outer: 18 s so far; Ctrl-C ends it",
        "below the screen: 1 s so far; q",
    ]


def test_a_failure_ends_a_wait(clock):
    with pytest.raises(ValueError), clock.waits.awaiting("failing"):
        raise ValueError
    clock.go(20)
    assert clock.lines == []


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_each_command_states_that_it_is_at_work(name, clock, monkeypatch):
    monkeypatch.setattr(ui, "WAITS", clock.waits)
    monkeypatch.setattr(clock.waits, "watch", lambda: None)
    monkeypatch.setattr(cli, "run", lambda: clock.go(11) or 0)
    monkeypatch.setattr(sys, "argv", ["tenon", "-q", name, "--json"])
    with pytest.raises(SystemExit):
        cli.main()
    assert clock.lines == [f"{name}: 9 s so far; Ctrl-C ends it"]


def test_a_step_off_a_terminal_repeats_itself(told, capsys):
    with ui.step("Building mortise"):
        time.sleep(0.25)
    assert told[0].startswith("Building mortise: 0 s so far; ")
    assert capsys.readouterr().err == "Building mortise\n"


def test_an_activity_names_what_it_is_at(told):
    with ui.activity("measuring") as tell:
        tell("yield")
        time.sleep(0.25)
    assert told[0].startswith("measuring: yield: 0 s so far; ")


def test_a_held_lock_names_its_holder(told, tmp_path):
    inside, leave = threading.Event(), threading.Event()

    def hold():
        with exclusive(tmp_path):
            inside.set()
            leave.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    inside.wait()
    assert (tmp_path / FILE).read_text() == str(os.getpid())
    threading.Timer(0.3, leave.set).start()
    with exclusive(tmp_path):
        pass
    thread.join()
    assert told[0].startswith(f"waiting for another ./tenon (process {os.getpid()}), which uses ")
    assert told[0].endswith("; this one goes on after it, or ends by Ctrl-C")


def test_a_command_of_another_process_says_it_on_stderr(tmp_path):
    """As users see it: the command waits for a lock that another process holds."""
    program = (
        "import sys; from tenonos import silence, cli, ui, locks; silence.LIMIT = 0.1;"
        "from pathlib import Path;"
        "cli.run = lambda: locks.exclusive(Path(sys.argv[2])).__enter__() and 0;"
        "sys.argv = ['tenon', 'build', sys.argv[1]]; cli.main()"
    )
    program = program.replace("sys.argv[2]", repr(str(tmp_path)))
    with exclusive(tmp_path):
        line = [sys.executable, "-c", program, "x"]
        process = subprocess.Popen(
            line, cwd=ROOT / "orchestrator", stderr=subprocess.PIPE, text=True
        )
        assert process.stderr is not None
        said = process.stderr.readline()
        process.kill()
        process.wait()
    assert said.startswith("waiting for another ./tenon (process "), said
