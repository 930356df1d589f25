"""What a run states while nothing is printed."""

import io
import os
import re
import sys
from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace

import pytest

from tenonos.run import RunOptions, frontend, waiting
from tenonos.run.awaited import state, with_states
from tenonos.run.console import Chunk
from tenonos.run.formats import Reason, State
from tenonos.run.script import parse
from tenonos.run.target import WatchedChannel
from tenonos.run.terminal import Interactive
from tenonos.run.waiting import SILENCE, Waiting


def told(session, until):
    """The lines up to one of this form, after which the run ends; each tick is a silence."""
    lines = []

    class UntilTold(Waiting):
        def tick(self, session):
            super().tick(session)
            if re.fullmatch(until, lines[-1]):
                session.finish()

    session.observers = [UntilTold(lines.append, 0.0)]
    session.run()
    assert re.fullmatch(until, lines[-1]), lines
    return lines


def test_a_linux_that_boots(scenario):
    awaited = r"linux \(running\) to print `tenon-ready` \(key `ready`\), at most \d+ s more(; .*)?"
    told(scenario("silent"), f"waiting for {awaited}; Ctrl-C ends the run")


def test_a_line_that_a_script_expects(scenario, tmp_path):
    file = tmp_path / "steps"
    file.write_text("timeout 200\nexpect never\n")
    session = scenario("", scripts={"linux": parse(file)})
    awaited = (
        rf"linux \([a-z ]+\) to print 'never' \({re.escape(str(file))}:2\), at most \d+ s more"
    )
    assert len(told(session, f"waiting for {awaited}; .*")) == 1, "before the window, too"


def test_a_linux_that_boots_is_told_with_its_last_line(scenario):
    session = scenario("silent")
    for text in ("Run /etc/start", "\x1b[6n/root # ", ""):
        session._chunk(Chunk("linux", 0, text, begins=True, ends=True))
    assert session.awaited().endswith(" s more; linux printed `/root #` last")
    session._chunk(Chunk("linux", 0, "x" * 100, begins=True))
    assert session._late().endswith(f"within 300 s; linux printed `{'x' * 60}…` last")


def test_the_end_of_the_window(scenario):
    told(scenario("", seconds=1e6), r"waiting for the end of the window, \d+\.\d of 1e\+06 s; .*")


def test_a_run_without_an_end(scenario):
    ends = r"motor \(running\) and linux \(running\)"
    told(scenario(""), f"waiting for the end of {ends}, as the run has no --seconds; .*")


def test_a_peer_on_a_channel(scenario):
    session = scenario("late", seconds=1e6)
    used = session.target.channels
    idle = WatchedChannel("idle", 0x4000_6000, 0x4000_6008, "motor", "job")
    session.target = replace(session.target, channels=(*used, idle))
    silent = r"no message yet on channel idle between motor \(running\) and job \(not started\)"
    told(session, rf"waiting for the end of the .* 1e\+06 s, {silent}; Ctrl-C .*")


def test_the_states_of_vms_in_words():
    assert {words: state(status(number)) for number, words in enumerate(STATES)} == {
        words: words for words in STATES
    }
    assert state(None) == "not started"
    assert state(status(3, 1)) == "stopped by data-abort"
    known = {"a": status(2), "b": status(7)}
    assert with_states(["a"], known) == "a (running)"
    assert with_states("ab", known) == "a (running) and b (paused)"
    assert with_states("abcde", known) == ("a (running), b (paused), c (not started) and 2 more")


def status(number, reason=0):
    return SimpleNamespace(state=State(number), reason=Reason(reason))


STATES = (
    *("not started", "starting", "running", "stopped", "off", "restarting"),
    *("created and not started", "paused", "being destroyed", "destroyed"),
    "without its core, which does not answer",
)


def test_what_is_awaited_has_the_states_of_vms(scenario, tmp_path):
    """Each state, without an emulator."""
    session = scenario("silent")
    session._ram = SimpleNamespace(read=lambda address, size: bytes(size))
    assert session.awaited().startswith("linux (not started) to print `tenon-ready`")
    session.ready["linux"] = 0
    assert session.awaited().startswith("the first release in motor (not started), at most 300 s")
    session._opened = 0.0
    session.statuses = {"motor": status(7), "linux": status(4)}
    assert session.awaited() == "the end of motor (paused), as the run has no --seconds"
    session.statuses["motor"] = status(4)
    assert session.awaited() == "the end of the console, as the run has no --seconds"
    session.options = replace(session.options, gdb=1234)
    assert session.awaited() == "the debugger at port 1234"


class Host:
    """A run without an emulator, of which the seconds are those of this clock."""

    def __init__(self, scenario, monkeypatch, seconds=95):
        self.now, self.lines, self.seconds = 0.0, [], seconds
        monkeypatch.setattr(waiting, "time", SimpleNamespace(monotonic=lambda: self.now))
        monkeypatch.setattr(frontend, "Session", self.session)
        monkeypatch.setattr(frontend.Target, "of", lambda built: scenario("silent").target)
        monkeypatch.setattr(frontend, "_tell", lambda *_: None)
        monkeypatch.setattr(
            frontend.ui, "message", lambda text: self.lines.append((self.now, text))
        )
        self.scenario = scenario

    def session(self, target, options, observers):
        made = self.scenario("silent", gdb=options.gdb)
        made.run = lambda: self.run(made, observers)
        return made

    def run(self, session, observers):
        for _ in range(self.seconds):
            self.now += 1
            for observer in observers:
                observer.tick(session)

    def silence(self):
        """The longest time without a line."""
        times = [0.0, *(at for at, _ in self.lines), self.now]
        return max(b - a for a, b in pairwise(times))


@pytest.mark.parametrize("gdb", [False, True])
def test_no_run_off_a_terminal_is_silent_for_long(scenario, monkeypatch, gdb):
    """With a clock of its own, as real silences would take minutes."""
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    host = Host(scenario, monkeypatch)
    wishes = frontend.Wishes(headless=True, gdb=gdb)
    frontend.play(None, RunOptions(gdb=1234 if gdb else None), wishes)
    assert host.silence() <= SILENCE + 1
    what = "the debugger at port 1234" if gdb else "linux (not started) to print"
    assert f"waiting for {what}" in host.lines[-1][1]


def test_what_is_printed_puts_it_off(scenario):
    lines = []

    class Printing(Waiting):
        def tick(self, session):
            self.printed()
            super().tick(session)

    session = scenario("", seconds=0.1)
    session.observers = [Printing(lines.append, 60.0)]
    session.run()
    assert not lines


def test_a_terminal_is_told_until_the_window_opens(scenario):
    lines = []
    session = scenario("silent")
    waiting = Waiting(lines.append, 0.0, boots=True, how="Ctrl-T q ends the run")
    waiting.tick(session)
    assert lines[0].endswith("; Ctrl-T q ends the run")
    session.window.open(0)
    waiting.tick(session)
    assert len(lines) == 1, "from here a user at the console decides"


def test_output_and_keys_put_off_what_a_terminal_is_told(scenario, monkeypatch):
    written = []
    monkeypatch.setattr("sys.stdout", SimpleNamespace(write=written.append, flush=lambda: None))
    session, terminal = scenario("silent"), Interactive()
    monkeypatch.setattr(session, "type", lambda data: None)
    put_off = []
    terminal.waiting = Waiting(terminal.tell, 60.0, boots=True)
    monkeypatch.setattr(terminal.waiting, "printed", lambda: put_off.append(len(written)))
    terminal.chunk(Chunk("linux", 0, "half a line", begins=True))
    assert put_off, "output puts it off"
    put_off.clear()
    reading, writing = os.pipe()
    os.write(writing, b"x")
    with os.fdopen(reading, "rb") as keys, os.fdopen(writing, "wb"):
        monkeypatch.setattr("sys.stdin", keys)
        terminal.tick(session)
    assert len(put_off) == 1
    terminal.tell("waiting for linux")
    assert "".join(written) == "linux| half a line\nwaiting for linux\n"
