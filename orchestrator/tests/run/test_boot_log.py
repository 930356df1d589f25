"""The boot log of Linux, which a headless run on a terminal leaves out."""

import sys
from types import SimpleNamespace

import pytest

from tenonos.run import frontend
from tenonos.run.console import Chunk, Transcript
from tenonos.run.frontend import Wishes
from tenonos.run.terminal import BootLog, Printed


class Run:
    """A session and an observer in front of what is printed."""

    def __init__(self):
        self.lines = []
        self.ready, self.transcripts = {}, {}
        self.log = BootLog(Printed(self.lines.append), self.lines.append, ["linux"])

    def say(self, name, text, *, ready=False):
        chunk = Chunk(name, 0, text, begins=True, ends=True)
        self.transcripts.setdefault(name, Transcript()).add(chunk)
        if ready:
            self.ready[name] = 0
        self.log.chunk(chunk)


@pytest.fixture
def run():
    made = Run()
    made.log.tick(made)
    return made


def test_the_log_ends_with_the_line_that_says_ready(run):
    run.say("linux", "Booting Linux")
    run.say("motor", "control")
    run.say("linux", "tenon-ready cpus=3", ready=True)
    run.say("linux", "hello")
    run.log.close(run)
    assert run.lines == ["linux| tenon-ready cpus=3", "motor| control", "linux| hello"]


def test_the_end_of_the_log_of_a_linux_that_never_is_ready_is_printed(run):
    for number in range(30):
        run.say("linux", f"line {number}")
    run.log.close(run)
    assert run.lines[0] == "linux: the last of 30 lines; --boot-log shows all"
    assert run.lines[1:] == [f"linux| line {number}" for number in range(10, 30)]


def test_a_short_log_is_printed_whole(run):
    run.say("linux", "Kernel panic")
    run.log.close(run)
    assert run.lines == ["linux| Kernel panic"]


@pytest.mark.parametrize(
    ("terminal", "wishes", "left_out"),
    [
        (True, Wishes(headless=True), True),
        (False, Wishes(headless=True), False),
        (True, Wishes(headless=True, boot_log=True), False),
        (True, Wishes(headless=True, consoles=["linux"]), False),
    ],
)
def test_only_a_terminal_is_without_it(terminal, wishes, left_out, monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal, raising=False)
    target = SimpleNamespace(vms=[SimpleNamespace(name="linux", kind="linux")])
    waiting = SimpleNamespace(printed=lambda: None)
    found = frontend._consoles(target, wishes, waiting)
    assert isinstance(found, BootLog) == left_out
    said = "linux boots; --boot-log shows its log, --console linux that alone\n"
    assert capsys.readouterr().err == (said if left_out else "")
