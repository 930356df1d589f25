"""What a run states while nothing is printed."""

import os
import re
from dataclasses import replace
from types import SimpleNamespace

from tenonos.run.console import Chunk
from tenonos.run.script import parse
from tenonos.run.target import WatchedChannel
from tenonos.run.terminal import Interactive
from tenonos.run.waiting import Waiting


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
    awaited = r"linux to print `tenon-ready` \(key `ready`\), at most \d+ s more"
    told(scenario("silent"), f"waiting for {awaited}; Ctrl-C ends the run")


def test_a_line_that_a_script_expects(scenario, tmp_path):
    file = tmp_path / "steps"
    file.write_text("timeout 200\nexpect never\n")
    session = scenario("", scripts={"linux": parse(file)})
    awaited = rf"linux to print 'never' \({re.escape(str(file))}:2\), at most \d+ s more"
    assert len(told(session, f"waiting for {awaited}; .*")) == 1, "before the window, too"


def test_the_end_of_the_window(scenario):
    told(scenario("", seconds=1e6), r"waiting for the end of the window, \d+\.\d of 1e\+06 s; .*")


def test_a_run_without_an_end(scenario):
    told(scenario(""), "waiting for the end of all VMs, as the run has no --seconds; .*")


def test_a_peer_on_a_channel(scenario):
    session = scenario("late", seconds=1e6)
    used = session.target.channels
    idle = WatchedChannel("idle", 0x4000_6000, 0x4000_6008)
    session.target = replace(session.target, channels=(*used, idle))
    told(session, r"waiting for the end of .* 1e\+06 s, no message on channel idle yet; Ctrl-C .*")


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
