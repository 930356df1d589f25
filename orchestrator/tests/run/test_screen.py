"""Output of a run: summary, live screen and picture."""

import io
import shlex
from pathlib import Path

import pytest
from rich.console import Console

from tenonos.debugger.model import DebuggedSystem
from tenonos.errors import InputError
from tenonos.run import frontend, gdb
from tenonos.run.console import Chunk, Transcript
from tenonos.run.latency import Distribution
from tenonos.run.result import PathResult
from tenonos.run.screen import console_panel, histogram, summary
from tenonos.run.target import Machine, Target


def rendered(what, width=100):
    console = Console(file=io.StringIO(), width=width)
    console.print(what)
    return console.file.getvalue()


def test_a_summary_is_complete(scenario):
    session = scenario("", seconds=0.1)
    result = session.run()
    text = rendered(summary(result, session.window.records, 100))
    for part in (
        "motor",
        "linux",
        "running",
        "0,1,2",
        "released",
        "100 ns",
        "host's noise",
        "####",
    ):
        assert part in text


def test_a_summary_begins_a_task_with_its_path(scenario):
    session = scenario("", seconds=0.1)
    result = session.run()
    path = {"vcpu": 3, "count": 9, "min": 201, "max": 201, "histogram": {201: 9}}
    named = PathResult(name="motor: control", start="0x0", end="0x4", **path)
    result.paths = [named, named.model_copy(update={"name": None})]
    text = rendered(summary(result, session.window.records, 100))
    told = "interrupt to first instruction of the job: 201 instructions of CPU 3, each of 9 times"
    assert text.index("motor: control every") < text.index(told) < text.index("released")
    assert text.count("201 instructions") == 2 and "path 0x0 to 0x4 on CPU 3" in text


def test_the_picture_is_svg(scenario, tmp_path):
    from tenonos.run.live import picture

    session = scenario("", seconds=0.1)
    result = session.run()
    picture(session, result, "the objective", "./tenon run x", tmp_path / "demo.svg")
    svg = (tmp_path / "demo.svg").read_text()
    assert svg.startswith("<svg") and "run&#160;x" in svg and "objective" in svg and "motor" in svg
    assert 'url("http' not in svg and "@font-face" not in svg
    with pytest.raises(InputError):
        picture(session, result, "", "", tmp_path / "none" / "demo.svg")


def test_the_bar_of_a_rare_value_is_seen():
    distribution = Distribution()
    for _ in range(10_000):
        distribution.add(100)
    distribution.add(900)
    lines = histogram(distribution, 20, "#").plain.splitlines()
    assert lines[0].endswith("#" * 20 + " 10,000")
    assert lines[-1].endswith("# 1")


def test_a_guest_cannot_move_our_cursor():
    transcript = Transcript()
    transcript.add(Chunk("linux", 0, "\x1b[2J\x1b[31mred\x07\x1b]0;title\x07", begins=True))
    assert "\x1b" not in rendered(console_panel("linux", transcript, 3))


def test_the_debugger_gets_the_commands_and_every_image(tmp_path):
    target = Target(
        *("x", "b", "static", tmp_path / "i", Machine("virt", "a", (), 1, 0, 0), (), range(0)),
        elf_files=(("mortise", Path("/mortise")), ("motor", Path("/m y/motor"))),
    )
    line = gdb.command(target, 1234)
    assert 'file "/m y/motor"' in line and "target remote 127.0.0.1:1234" in line
    described = tmp_path / "debugger.json"
    assert line[-1].startswith("python ") and f"commands.load({str(described)!r})" in line[-1]
    assert DebuggedSystem.from_json(described.read_text()).mortise == "/mortise"
    assert shlex.split(gdb.shown(target, 1234)) == line


def test_seconds_are_checked():
    assert frontend.seconds(None) is None and frontend.seconds(0.5) == 0.5
    for bad in (0.0, -1.0, float("nan"), float("inf")):
        with pytest.raises(InputError):
            frontend.seconds(bad)
