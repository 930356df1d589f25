"""The live screen of `./tenon demo` and of `./tenon run --live`, and the picture of it."""

from __future__ import annotations

import io
import re
import time
from pathlib import Path

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from tenonos import outputs
from tenonos.run.console import Chunk
from tenonos.run.formats import State
from tenonos.run.result import Result
from tenonos.run.screen import (
    VmRow,
    console_panel,
    paths_of,
    rows_now,
    rows_of,
    task_panel,
    vm_table,
)
from tenonos.run.session import Session
from tenonos.run.terminal import Keyboard

REFRESH = 0.25
PICTURE_WIDTH = 112
NOISE = "with the host's noise"
"""Of what the clock of a run shows whose instructions take as long as the host needs."""
PANE = 5
"""Lines of a pane that is not the large one, with its frame."""


class LiveScreen:
    """An observer that redraws the state of a run a few times per second; with a keyboard, keys go
    to the VM with the selected pane."""

    def __init__(self, console: Console, title: str, keyboard: Keyboard | None = None) -> None:
        self._console, self._title, self._keyboard = console, title, keyboard
        self._live = Live(console=console, auto_refresh=False, screen=True)
        self._drawn = 0.0
        self._running = False

    def chunk(self, chunk: Chunk) -> None:
        """Nothing: the consoles are drawn from the session's transcripts."""

    def tick(self, session: Session) -> None:
        """Redraw if the interval has expired."""
        if not self._running:
            self._live.start()
            self._running = True
        selected = None
        if self._keyboard is not None:
            self._keyboard.tick(session)
            selected = self._keyboard.selected(session.target)
        now = time.monotonic()
        if now - self._drawn >= REFRESH:
            self._drawn = now
            size = self._console.size
            rows = rows_now(session)
            view = screen(session, rows, self._title, size.width, size.height, selected)
            self._live.update(view, refresh=True)

    def close(self, session: Session) -> None:
        """Restore the terminal."""
        if self._running:
            self._live.stop()


def screen(
    session: Session,
    rows: list[VmRow],
    title: str,
    width: int,
    height: int,
    selected: str | None = None,
) -> RenderableType:
    """The state of a run, drawn for a screen of this size."""
    note = None if session.options.deterministic else NOISE
    parts: list[RenderableType] = [
        Text(title, "bold", no_wrap=True, overflow="ellipsis"),
        stages(session),
        vm_table(rows),
    ]
    half = width // 2
    options = session.options
    paths = session.passages.results(options.routes, options.route_names)
    room = height - 8 - len(rows)
    records = session.window.records[:2]
    figures = [
        task_panel(
            record, note, half, room // len(records), next(iter(paths_of(record, paths)), None)
        )
        for record in records
    ]
    grid = Table.grid(expand=True, padding=(0, 1))
    grid.add_column(ratio=1)
    if figures:
        grid.add_column(ratio=1)
    grid.add_row(_panes(session, room, selected), *([Group(*figures)] if figures else []))
    parts.append(grid)
    return Group(*parts)


def _panes(session: Session, room: int, selected: str | None) -> Group:
    """A pane for each console, one above the other, in so many lines. The selected one gets what
    the others leave; if none is, the last, which is a Linux if there is one, as it has the most
    output. Consoles for which there is no room are named below the others."""
    names = ["mortise", *(vm.name for vm in session.target.vms)]
    here = (late for late in session.late.seen.values() if late.status.state is State.RUNNING)
    names += [late.status.name for late in here]
    names.sort(key=lambda name: name in session.ready)
    large = selected if selected in names else names[-1]
    others = [name for name in names if name != large]
    hidden = others[max(0, (room - PANE) // PANE) :]
    room -= bool(hidden)
    shown = [name for name in names if name not in hidden]
    keys = {vm.name: vm.index for vm in session.target.vms} if selected else {}
    panes: list[RenderableType] = []
    for name in shown:
        height = max(PANE, room - PANE * (len(shown) - 1)) if name == large else PANE
        label = f"{keys[name]} {name}" if name in keys else name
        transcript = session.transcripts.get(name)
        panes.append(console_panel(label, transcript, height - 2, name == selected))
    if hidden:
        text = f"{len(hidden)} more: {', '.join(hidden)}"
        panes.append(Text(text, "dim", no_wrap=True, overflow="ellipsis"))
    return Group(*panes)


def stages(session: Session) -> Text:
    """The progress of the run."""
    guests = [vm.name for vm in session.target.vms if vm.kind == "linux"]
    steps = [("built", True), ("Mortise up", bool(session.statuses))]
    steps += [(f"{name} at its shell", name in session.ready) for name in guests]
    steps += [(_measured(session), session.window.done() or session.window.length is None)]
    text = Text(no_wrap=True, overflow="ellipsis")
    reached = True
    for name, done in steps:
        mark, style = ("✓", "green") if done else ("…", "yellow") if reached else ("·", "dim")
        text.append(f"{mark} {name}   ", style)
        reached = reached and done
    return text


def _measured(session: Session) -> str:
    window = session.window
    if window.start is None:
        return "measuring"
    seconds = max(0, window.latest() - window.start) / 1e9
    total = "" if window.length is None else f" of {window.length / 1e9:g}"
    return f"measured {seconds:.1f}{total} s"


def picture(session: Session, result: Result, title: str, command: str, file: Path) -> None:
    """Write the last screen of a run as SVG, in a window that names the command."""
    console = Console(
        record=True,
        width=PICTURE_WIDTH,
        file=io.StringIO(),
        force_terminal=True,
        color_system="truecolor",
        legacy_windows=False,
    )
    console.print(screen(session, rows_of(result), title, PICTURE_WIDTH, 40))
    outputs.write(file, _svg(console, command))


def _svg(console: Console, command: str) -> str:
    """The printed text as SVG without external fonts: the width of every cell is given."""
    text = console.export_svg(title=command)
    text = re.sub(r"@font-face \{.*?\}\s*", "", text, flags=re.DOTALL)
    return text.replace("Fira Code, monospace", "ui-monospace, Menlo, Consolas, monospace")
