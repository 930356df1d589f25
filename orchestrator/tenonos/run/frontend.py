"""Front end of runs: from command options to a run, from its result to the user."""

from __future__ import annotations

import contextlib
import math
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from tenonos import ui
from tenonos.errors import InputError, WorkError
from tenonos.run import gdb, screen, script
from tenonos.run.console import clean
from tenonos.run.live import LiveScreen, picture
from tenonos.run.result import Result
from tenonos.run.session import Observer, RunOptions, Session
from tenonos.run.target import Target
from tenonos.run.terminal import BootLog, Interactive, Keyboard, Printed, raw
from tenonos.run.waiting import Waiting
from tenonos.trace import write
from tenonos.trace.collect import Collector

if TYPE_CHECKING:
    from tenonos.build import Built
    from tenonos.system import System

STDOUT = Path("-")
KEYS = "Ctrl-T and a digit: type to that VM; Ctrl-T q: end"


@dataclass(frozen=True)
class Wishes:
    """The user's options of a run, beyond the system."""

    headless: bool = False
    live: bool = False
    """Whether to draw a live screen in place of console output."""
    title: str = ""
    command: str = "./tenon demo"
    keys: bool = False
    """Whether keys go to the VMs of the live screen."""
    consoles: Sequence[str] = ()
    """The consoles to show; all of them, if it is empty."""
    json: Path | None = None
    svg: Path | None = None
    trace: Path | None = None
    gdb: bool = False
    boot_log: bool = False
    """Whether to print the boot log of each Linux on a terminal; elsewhere it is always printed."""


def scripts(system: System, inputs: Sequence[str]) -> dict[str, list[script.Step]]:
    """The scripts of `--input VM=FILE` options."""
    found: dict[str, list[script.Step]] = {}
    for text in inputs:
        name, separator, file = text.partition("=")
        if not separator or not file:
            raise InputError(f"not VM=FILE: {text!r}", "--input", "write --input linux=steps.txt")
        if system.heard(name) in found:
            raise InputError(f"two scripts for {name}", "--input", "join them into one file")
        found[name] = script.parse(Path(file))
    return found


def seconds(value: float | None) -> float | None:
    """A window's length, checked."""
    if value is not None and not (math.isfinite(value) and value > 0):
        raise InputError(f"not a length of time: {value:g}", "--seconds", "give more than 0")
    return value


def check_live(others: Sequence[str]) -> None:
    """Refuse a live screen where there is no terminal to draw it on, and with other options that
    decide what the terminal shows."""
    if others:
        raise InputError(
            f"not with {others[0]}, as it draws every console", "--live", "leave one out"
        )
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise InputError("no terminal to draw on", "--live", "leave it out, or use --headless")


def check_debugger() -> None:
    """Refuse a terminal without a debugger for AArch64, before the build; off a terminal the
    debugger is started by hand, perhaps on another machine."""
    if sys.stdin.isatty():
        gdb.require()
    elif what := gdb.lacking():
        ui.warn(f"--gdb: {what}; apt install {gdb.PACKAGE}, or use another machine's")


def play(built: Built, options: RunOptions, wishes: Wishes) -> Result:
    """Run a built system, show it as requested, report the result."""
    target = Target.of(built)
    person = not wishes.headless and sys.stdin.isatty() and sys.stdout.isatty()
    # Its own observers state what it waits for.
    with _orderly(), ui.visible(), contextlib.ExitStack() as stack:
        observers: list[Observer] = []
        if wishes.gdb:
            waiting = Waiting(ui.message, boots=True)
            printed = _printed(wishes, waiting.printed)
            observers += [printed, Debugged(target, options, sys.stdin.isatty())]
            if not sys.stdin.isatty():
                observers.append(waiting)
        elif person and wishes.live:
            keyboard = None
            if wishes.keys:
                keyboard = Keyboard()
                stack.enter_context(raw())
            observers.append(LiveScreen(ui.out(), wishes.title, keyboard))
        elif person:
            ui.message(KEYS)
            terminal = Interactive(wishes.consoles)
            terminal.waiting = Waiting(terminal.tell, boots=True, how="Ctrl-T q ends the run")
            observers += [terminal, terminal.waiting]
            stack.enter_context(raw())
        else:
            waiting = Waiting(ui.message)
            observers += [_consoles(target, wishes, waiting), waiting]
        tracer = None
        if wishes.trace is not None:
            tracer = Collector(built)
            observers.append(tracer)
        session = Session(target, replace(options, typed=person), observers)
        result = session.run()
    if tracer is not None and wishes.trace is not None:
        with ui.awaiting("writing the trace"):
            ui.message(write.write(tracer.traces(session.window.end), wishes.trace))
    _tell(session, result, wishes)
    return result


def _consoles(target: Target, wishes: Wishes, waiting: Waiting) -> Observer:
    """The printed consoles, on a terminal without the boot logs of Linux unless asked for."""
    printed = _printed(wishes, waiting.printed)
    linux = [vm.name for vm in target.vms if vm.kind == "linux"]
    if not linux or wishes.boot_log or wishes.consoles or not sys.stderr.isatty():
        return printed
    names = " and ".join(linux)
    ui.message(f"{names} boots; --boot-log shows its log, --console {linux[0]} that alone")
    return BootLog(printed, _line, linux)


def _printed(wishes: Wishes, printed: Callable[[], None] = lambda: None) -> Printed:
    def write(line: str) -> None:
        _line(line)
        printed()

    return Printed(write, wishes.consoles)


def _line(line: str) -> None:
    # Trailing blanks included: an interrupted line may be continued after them.
    print(clean(line), file=sys.stderr, flush=True)


def _tell(session: Session, result: Result, wishes: Wishes) -> None:
    if wishes.json == STDOUT:
        ui.data(result.to_json())
    else:
        console = ui.out()
        console.print(screen.summary(result, session.window.records, console.width))
        if wishes.json is not None:
            result.write(wishes.json)
    if wishes.svg is not None:
        picture(session, result, wishes.title, wishes.command, wishes.svg)
    if result.failure is not None:
        raise WorkError(result.failure)


@contextlib.contextmanager
def _orderly() -> Iterator[None]:
    """Termination without leaving emulator or files behind."""

    def leave(*_: object) -> None:
        raise SystemExit(128 + signal.SIGTERM)

    before = signal.signal(signal.SIGTERM, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


class Debugged:
    """An observer with a debugger in the foreground, or with a hint how to start one."""

    def __init__(self, target: Target, options: RunOptions, person: bool) -> None:
        assert options.gdb is not None
        self._target, self._port, self._person = target, options.gdb, person
        self._process: subprocess.Popen[bytes] | None = None
        self._started = False

    def chunk(self, chunk: object) -> None:
        """Nothing: the consoles are printed by another observer."""

    def tick(self, session: Session) -> None:
        """Start the debugger once; its end ends the run."""
        if not self._started:
            self._started = True
            if self._person:
                # Ctrl-C belongs to the debugger from here: it interrupts the guest.
                signal.signal(signal.SIGINT, signal.SIG_IGN)
                self._process = gdb.start(self._target, self._port)
            else:
                ui.message(f"waiting for a debugger:\n{gdb.shown(self._target, self._port)}")
        elif self._process is not None and self._process.poll() is not None:
            session.finish()

    def close(self, session: Session) -> None:
        """Restore the handling of Ctrl-C."""
        if self._process is not None:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            if self._process.poll() is None:
                self._process.terminate()
