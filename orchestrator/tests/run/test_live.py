"""The live screen: a pane for each console, and keys for the selected one."""

import io
import re
from dataclasses import replace

import pytest
from rich.console import Console as Screen

from tenonos.errors import InputError
from tenonos.run import frontend, live
from tenonos.run.console import Chunk, Transcript
from tenonos.run.screen import rows_now
from tenonos.run.terminal import Keyboard


def drawn(session, width=80, height=24, selected=None):
    console = Screen(file=io.StringIO(), width=width, height=height)
    view = live.screen(session, rows_now(session), "the title", width, height, selected)
    console.print(view)
    return console.file.getvalue().splitlines()


def printed(session, name, count):
    for number in range(count):
        chunk = Chunk(name, 0, f"line {number} of {name}", begins=True, ends=True)
        session.transcripts.setdefault(name, Transcript()).add(chunk)


def test_each_console_has_a_pane_with_the_key_that_selects_it(scenario):
    lines = drawn(scenario(""), height=40, selected="motor")
    for title in ("─ mortise ", "─ 0 motor ", "─ 1 linux "):
        assert any(title in line for line in lines), title


@pytest.mark.parametrize("selected", ["motor", "linux"])
def test_the_selected_pane_gets_what_the_others_leave(scenario, selected):
    session = scenario("")
    for name in ("motor", "linux"):
        printed(session, name, 30)
    text = "\n".join(drawn(session, height=40, selected=selected))
    assert text.count(f" of {selected}") > 10
    assert text.count(" of ") - text.count(f" of {selected}") == live.PANE - 2


@pytest.mark.parametrize("height", [24, 40, 80])
def test_a_screen_is_never_higher_than_the_terminal(scenario, height):
    session = scenario("")
    vms = session.target.vms
    more = (replace(vms[0], index=at, name=f"motor-{at}") for at in range(2, 8))
    session.target = replace(session.target, vms=(*vms, *more))
    lines = drawn(session, height=height, selected="motor-7")
    assert len(lines) <= height
    assert any("7 motor-7" in line for line in lines)
    text = "\n".join(lines)
    more = re.search(r"(\d) more: m", text)
    panes = len(re.findall(r"╭─ (?:\d )?(?:mortise|motor|linux|motor-\d) ─", text))
    assert panes + (int(more[1]) if more else 0) == 9
    assert (more is None) == (height == 80)


@pytest.mark.parametrize(("width", "height"), [(80, 24), (120, 40)])
def test_the_figures_of_a_task_fit_the_screen(scenario, width, height):
    """No figure or name is cut, the noise of the host is named, and the frame is closed."""
    session = scenario("", seconds=0.1)
    session.run()
    (record,) = session.window.records
    for latency in range(18):
        for _ in range(10000):
            record.latency.add(7 << latency)
    lines = drawn(session, width, height)
    assert len(lines) <= height
    panel = [line[width // 2 :] for line in lines if "│" in line[width // 2 :] or "╰" in line]
    text = "\n".join(panel)
    for name in ("released", "completed", "missing", "twice", "late", "p99.9", "max", "█"):
        assert name in text
    assert "…" not in text
    assert any("╰─ with the host's noise ─" in line for line in lines)


def test_a_guest_draws_inside_its_pane_only(scenario):
    session = scenario("")
    printed(session, "linux", 1)
    chunk = Chunk("linux", 0, "\x1b[2J\x1b[1;1Hred", begins=True)
    session.transcripts["linux"].add(chunk)
    assert "\x1b" not in "".join(drawn(session, selected="linux"))


def test_keys_go_to_the_selected_vm(scenario, monkeypatch):
    session, keyboard, typed = scenario(""), Keyboard(), []
    monkeypatch.setattr(session, "type", typed.append)
    ended = []
    monkeypatch.setattr(session, "finish", lambda: ended.append(True))
    assert keyboard.selected(session.target) == "motor"
    for key in (b"a", b"\x14", b"1", b"b", b"\x14", b"\x14", b"\x14", b"7"):
        keyboard.press(session, key)
    assert b"".join(typed) == b"a\x141b\x14\x14\x147"
    assert keyboard.selected(session.target) is None, "there is no VM 7"
    keyboard.press(session, b"\x14")
    keyboard.press(session, b"1")
    assert keyboard.selected(session.target) == "linux" and not ended
    keyboard.press(session, b"\x14")
    keyboard.press(session, b"Q")
    assert ended


def test_it_needs_a_terminal_to_itself(monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO())
    with pytest.raises(InputError, match="no terminal"):
        frontend.check_live([])
    with pytest.raises(InputError, match="not with --gdb"):
        frontend.check_live(["--gdb"])
