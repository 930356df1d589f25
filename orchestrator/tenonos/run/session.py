"""A run session: one emulator, from its start to the end of the measurement window.

Threads only move bytes (console, plugin) into one queue; a single loop processes them in the order
of arrival.
"""

from __future__ import annotations

import contextlib
import os
import queue
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Protocol

from tenonos import paths
from tenonos.run import plugin, qemu, verified
from tenonos.run.awaited import idle, shortened, state, with_states
from tenonos.run.console import RAW, SELECT, Chunk, Demultiplexer, Transcript
from tenonos.run.dynamic_vms import DynamicVms
from tenonos.run.emulator_turns import own_cores
from tenonos.run.formats import STATUS_SIZE, FormatError, State, Status, TaskReader
from tenonos.run.guest_clock import GuestClock
from tenonos.run.halted import Halt, Halted, told
from tenonos.run.interruption import Interruption
from tenonos.run.memory import Ram, RunFolder
from tenonos.run.patience import Patience
from tenonos.run.report import report
from tenonos.run.result import Result
from tenonos.run.script import Player, Step
from tenonos.run.target import Target, WatchedVm
from tenonos.run.window import GRACE_NS, Window

MORTISE = "mortise"
"""The name of Mortise's own console output."""
ERROR = "error: "
"""Begin of the line by which Mortise states why it does not go on."""
TICK = 0.05
HOST_GRACE_NS = 10_000_000_000
"""As `window.GRACE_NS`, where a busy host may keep the emulator waiting."""
# Linux's init prints this as it starts the shell, which then waits for input.
SETTLE_NS = 100_000_000


_NEVER = ", nor any before: perhaps the application starts no task of that name"


class Observer(Protocol):
    """An observer of a run in progress."""

    def chunk(self, chunk: Chunk) -> None:
        """Handle a piece of console output."""
        ...

    def tick(self, session: Session) -> None:
        """Handle the tick of about 50 ms."""
        ...

    def close(self, session: Session) -> None:
        """Handle the end of the run."""
        ...


@dataclass(frozen=True)
class RunOptions:
    """Options of a run."""

    seconds: float | None = None
    """Length of the window in guest time; without it the run has no fixed end."""
    deterministic: bool = False
    scripts: dict[str, Sequence[Step]] = field(default_factory=dict)
    routes: tuple[tuple[int, int], ...] = ()
    """Paths to measure, by the physical addresses of their ends."""
    route_names: tuple[str, ...] = ()
    """The names of the first of them."""
    plan: tuple[str, ...] = ()
    """More statements for the counting plugin."""
    count: Callable[[plugin.Record], None] | None = None
    """Receiver of each of its records, in the order of events."""
    boot_limit: float = 300.0
    """Seconds until every Linux must be ready, by `patience`."""
    halt_limit: float = 3.0
    """Seconds of silence after which a guest at a panic or a prompt counts as halted."""
    typed: bool = False
    """Whether a user can type at the consoles."""
    gdb: int | None = None
    """The TCP port for a debugger."""
    binary: str = qemu.BINARY
    overloaded: bool = False
    """Whether tasks may demand more than they are granted: what never comes is no failure."""

    @property
    def counting(self) -> bool:
        """Whether the plugin is loaded."""
        return self.deterministic or bool(self.routes or self.plan)

    @property
    def limit(self) -> float | None:
        """Limit of the window in seconds, by `patience`."""
        return None if self.seconds is None else 120.0 + 30.0 * self.seconds


class Session:
    """One run of a target."""

    def __init__(self, target: Target, options: RunOptions, observers: Sequence[Observer]) -> None:
        self.target, self.options, self.observers = target, options, observers
        grace = GRACE_NS if options.deterministic else HOST_GRACE_NS
        cores = own_cores(target) if options.deterministic else ()
        self.window = Window(target.tasks, options.seconds, grace, cores)
        self.transcripts: dict[str, Transcript] = {}
        self.statuses: dict[str, Status] = {}
        self.opening: dict[str, Status] = {}
        self.late = DynamicVms(target.slots)
        self.ready: dict[str, int] = {}
        self.passages = plugin.Passages()
        self.problem: str | None = None
        self._patience = Patience(deterministic=options.deterministic)
        self._opened: float | None = None
        """The host's time when the window opened."""
        self._limit: float | None = None
        """Where the window's limit lies, by `patience`."""
        self._clock: tuple[int, float] | None = None
        """The latest begin of a job, and the host's time when it was read."""
        self._executed = GuestClock()
        self._halted = Halted()
        self._selected = target.console
        self._consoles = {"console": Demultiplexer(target.alone or RAW)}
        self._consoles |= {name: Demultiplexer(name, shares=False) for name in target.serial_lines}
        self._serial: dict[str, socket.socket] = {}
        self._events: queue.Queue[tuple[str, bytes]] = queue.Queue(maxsize=256)
        self._records = bytearray()
        self._readers: list[TaskReader] = []
        self._players = [Player(vm, list(s), self.send) for vm, s in options.scripts.items()]
        self._open_streams = 0
        self._stopping = False
        self._settling: float | None = None

    def run(self) -> Result:
        """Boot, observe, stop; the result."""
        library = plugin.build() if self.options.counting else None
        machine = self.target.machine
        with contextlib.ExitStack() as stack:
            folder = stack.enter_context(RunFolder(machine.ram_size, paths.RUN))
            self._ram = Ram(
                folder / "ram", machine.ram_base, machine.ram_size, self.target.coloured
            )
            stack.callback(self._ram.close)
            self._readers = [
                TaskReader(self._ram, task.address, task.size) for task in self.target.tasks
            ]
            interruption = stack.enter_context(Interruption(self.finish))
            self._start(folder, library)
            stack.callback(self._stop)
            try:
                self._watch()
                self._finish()
            finally:
                for observer in self.observers:
                    observer.close(self)
            interruption.check(expected=self.options.seconds is None)
            self._read()  # memory no longer changes
            if not self._stopping:
                self._settle()
                self._note_panics()
            return report(self, self._readers)

    def _settle(self) -> None:
        """Count missing releases, and name the tasks."""
        missing = [
            f"{record.missing} of {record.released} releases of task {record.task.name} of "
            f"{record.task.vm} never came{'' if record.last else _NEVER}"
            for record in self.window.settle(self._gone() | self._paused())
        ]
        if missing and not self.options.overloaded:
            self.problem = "; ".join([*missing, *([self.problem] if self.problem else [])])

    def _note_panics(self) -> None:
        """State each Linux that panicked, in a run that went on without it."""
        panicked = {name: halt for name, halt in self._halts(0).items() if halt.panicked}
        if panicked and self.problem is None:
            self.problem = told(panicked)

    def send(self, vm: str, data: bytes) -> None:
        """Send input to a VM's console."""
        if line := self._serial.get(vm):
            with contextlib.suppress(OSError):  # the emulator is gone
                line.sendall(data)
            return
        watched = self.target.vm(vm)
        if watched is not None and self._selected != vm:
            self._qemu.type(SELECT + str(watched.index).encode())
            self._selected = vm
        self._qemu.type(data.replace(SELECT, SELECT + SELECT))

    def type(self, data: bytes) -> None:
        """Pass keys on unchanged, selections included."""
        self._qemu.type(data)
        self._selected = None  # the selection is known to Mortise only from here

    @property
    def memory(self) -> Ram:
        """The machine's memory during the run."""
        return self._ram

    def finish(self) -> None:
        """End the run at the next tick."""
        self._stopping = True

    @property
    def complete(self) -> bool:
        """Whether the window was completed: its content is then independent of the host."""
        return self.window.done()

    def _start(self, folder: Path, library: Path | None) -> None:
        inherit: tuple[int, ...] = ()
        option, reading = None, -1
        if library is not None:
            reading, writing = os.pipe()
            inherit = (writing,)
            more = (*self.options.plan, *([plugin.QUIET] if self.options.deterministic else []))
            ram, routes = folder / "ram", self.options.routes
            text = plugin.plan(self.target, ram, writing, routes, more)
            (folder / "plan").write_text(text)
            option = f"{str(library).replace(',', ',,')},plan=plan"
        far = [self._line(name) for name in self.target.serial_lines]
        descriptors = [each.fileno() for each in far]
        target, image = verified.opened(self.target)
        command = qemu.command_line(
            target,
            deterministic=self.options.deterministic,
            plugin=option,
            gdb=self.options.gdb,
            binary=self.options.binary,
            serial=descriptors,
        )
        self._qemu = qemu.Qemu(command, folder, (*inherit, *descriptors, *image))
        for descriptor in image:
            os.close(descriptor)
        for each in far:
            each.close()
        self._carry("console", self._qemu.output)
        for name, line in self._serial.items():
            self._carry(name, line.makefile("rb", buffering=0))
        if inherit:
            os.close(inherit[0])
            self._carry("records", os.fdopen(reading, "rb", buffering=0))

    def _line(self, name: str) -> socket.socket:
        """The socket of an additional serial line."""
        self._serial[name], far = socket.socketpair()
        return far

    def _carry(self, kind: str, stream: IO[bytes]) -> None:
        """Move the bytes of a stream into the queue; an empty item marks its end."""

        def work() -> None:
            with stream, contextlib.suppress(OSError):
                while data := os.read(stream.fileno(), 1 << 16):
                    self._events.put((kind, data))
            self._events.put((kind, b""))

        self._open_streams += 1
        threading.Thread(target=work, name=kind, daemon=True).start()

    def _finish(self) -> None:
        """End the emulator, and take what the consoles printed until then."""
        for kind, data in self._remaining():
            self._open_streams -= not data
            console = self._consoles.get(kind)
            for chunk in () if console is None else console.feed(data):
                self._last(chunk)
        for console in self._consoles.values():
            for chunk in console.close():
                self._last(chunk)

    def _last(self, chunk: Chunk) -> None:
        """Take a chunk after the end of the run, unless it would differ from run to run: what
        follows the window depends on when the host ends the emulator."""
        end = self.window.end if self.options.deterministic and self.complete else None
        if end is None or chunk.time_ns is None or chunk.time_ns < end:
            self._chunk(chunk)

    def _stop(self) -> None:
        """End the emulator, and drain the threads."""
        for _, data in self._remaining():
            self._open_streams -= not data
        for line in self._serial.values():
            line.close()

    def _remaining(self) -> Iterator[tuple[str, bytes]]:
        """What the threads still carry once the emulator has ended."""
        self._qemu.stop()
        while self._open_streams:
            yield self._events.get()

    def _watch(self) -> None:
        """The loop, until something ends the run."""
        due = 0.0
        while not self._over():
            with contextlib.suppress(queue.Empty):
                self._take(*self._events.get(timeout=TICK))
            if (now := time.monotonic()) >= due:
                due = now + TICK
                self._tick()

    def _take(self, kind: str, data: bytes) -> None:
        self._open_streams -= not data
        if console := self._consoles.get(kind):
            for chunk in console.feed(data):
                self._chunk(chunk)
        else:
            # Records may be processed more slowly than the emulator runs: at its end all have
            # arrived.
            self._settling = None
            self._records += data
            sizes = len(self.target.pages), len(self.target.counters)
            for record in plugin.records(self._records, *sizes):
                if isinstance(record, plugin.Executing):
                    # For the window alone: nothing that a bench counts.
                    if self.options.deterministic:
                        self.window.clock(self._executed.at(record))
                    continue
                if self.options.count is not None:
                    self.options.count(record)
                if isinstance(record, plugin.Passage):
                    # What follows the window depends on when the host ends the emulator.
                    if not self.complete:
                        self.passages.add(record)
                elif isinstance(record, plugin.Moment) and self.options.deterministic:
                    self.window.add(record.task, record.sample, record)
                    self._executed.publish(record)
                    if not self._guests():
                        # Not at a tick of the host: what precedes it would differ from run to run.
                        self.window.open_at_first()

    def _chunk(self, chunk: Chunk) -> None:
        transcript = self.transcripts.setdefault(chunk.name, Transcript())
        transcript.add(chunk)
        self._settling = None
        vm = self.target.vm(chunk.name)
        line = transcript.lines[-1]
        self._halted.heard(chunk.name, line.text, self._patience.seconds)
        boots = chunk.ends and vm is not None and vm.kind == "linux" and vm.name not in self.ready
        if boots and vm.ready in line.text:
            self.ready[vm.name] = line.time_ns or 0
        for observer in self.observers:
            observer.chunk(chunk)

    def _tick(self) -> None:
        self._patience.tick(self._qemu.process.pid)
        self._read()
        self._open()
        for player in self._players:
            player.advance(self.transcripts.get(player.vm, Transcript()))
        if self._players and all(player.done for player in self._players):
            # Activity of the scripts belongs to the window.
            self.window.close_by(self.window.latest())
            self._players = []
        for observer in self.observers:
            observer.tick(self)

    def _read(self) -> None:
        """Read all status pages, and the journals unless the plugin sends the samples."""
        for vm in self.target.vms:
            with contextlib.suppress(FormatError):
                self.statuses[vm.name] = Status.parse(self._ram.read(vm.status, STATUS_SIZE))
        self.late.read(self._ram)
        if not self.options.deterministic:
            for index, reader in enumerate(self._readers):
                for sample in reader.drain():
                    self.window.add(index, sample)
                    if self._clock is None or sample.begin_ns > self._clock[0]:
                        self._clock = sample.begin_ns, time.monotonic()
            if self._clock is not None:
                # The emulator's clock is the host's.
                begun, read = self._clock
                self.window.clock(begun + round((time.monotonic() - read) * 1e9))

    def _open(self) -> None:
        if self._opened is not None:
            return
        guests = self._guests()
        if guests and all(name in self.ready or name in self._gone() for name in guests):
            self.window.open(max(self.ready.values(), default=0) + SETTLE_NS)
        elif not guests:
            if self.target.tasks:
                self.window.open_at_first()
            elif len(self.statuses) == len(self.target.vms):
                self.window.open(0)
        if self.window.start is not None:
            self._opened = time.monotonic()
            if (limit := self.options.limit) is not None:
                self._limit = self._patience.seconds + limit
            late = {name: late.status for name, late in self.late.seen.items()}
            self.opening = late | self.statuses

    def _guests(self) -> list[str]:
        """The Linux VMs, which open the window when all of them are ready."""
        return [vm.name for vm in self.target.vms if vm.kind == "linux"]

    def _gone(self) -> frozenset[str]:
        return frozenset(name for name, status in self.statuses.items() if status.state.ended)

    def _paused(self) -> frozenset[str]:
        """The VMs that a manager has paused: no release of theirs is due."""
        paused = State.PAUSED
        return frozenset(name for name, status in self.statuses.items() if status.state is paused)

    def _over(self) -> bool:
        """Whether the run has ended, successfully or not."""
        if self._stopping:
            return True
        if not self._open_streams:
            self._qemu.check()
            self._read()
            self.problem = self._refusal()
            return True
        if self.options.gdb is not None:
            return False
        if halts := self._final_halts():
            self.problem = told(halts)
            return True
        if self._parked():
            self.problem = self._refusal()
            return True
        now = time.monotonic()
        if self._opened is None and self._patience.seconds > self._boot_limit:
            self.problem = self._late()
            return True
        if self._players:
            return False
        if self.statuses and len(self._gone()) == len(self.target.vms):
            return self._settled(now)
        if self.options.scripts and self.options.seconds is None:
            return True
        if self._opened is None or self._limit is None:
            return False
        if not self.target.tasks:
            assert self.options.seconds is not None
            return now - self._opened >= self.options.seconds
        if self._patience.seconds > self._limit:
            self.problem = f"the window was not over within {self.options.limit:g} s"
            return True
        return self.window.done(self._gone())

    def _halts(self, after: float) -> dict[str, Halt]:
        """The guests that do not continue and have been silent for that long. A prompt is none
        where a user can type."""
        now, found = self._patience.seconds, {}
        for vm in self.target.vms:
            if vm.kind != "tenon" and vm.name not in self._gone():
                halt = self._halted.of(vm.name, self.transcripts.get(vm.name), now, after)
                if halt is not None and (halt.panicked or not self.options.typed):
                    found[vm.name] = halt
        return found

    def _final_halts(self) -> dict[str, Halt]:
        """The halted guests that the run waits for: to be ready, to print a line that a script
        expects, or to end where nothing else runs."""
        halts = self._halts(self.options.halt_limit)
        awaited = {player.vm for player in self._players if not player.done}
        if self._opened is None:
            awaited |= {vm.name for vm in self._booting()}
        if waited_for := {name: halt for name, halt in halts.items() if name in awaited}:
            return waited_for
        over = len(halts) + len(self._gone()) == len(self.target.vms)
        return halts if over and self.options.seconds is None and not awaited else {}

    def _parked(self) -> bool:
        """Whether Mortise stopped at an error on a board that it cannot turn off."""
        said = self.transcripts.get(MORTISE)
        if said is None or not self.target.vms or not said.lines[-1].text.startswith(ERROR):
            return False
        silent = self._halted.silence(MORTISE, self._patience.seconds)
        return silent >= self.options.halt_limit and self._refusal() is not None

    def _refusal(self) -> str | None:
        """Mortise's last line, if it stopped the machine before any VM started."""
        said = self.transcripts.get(MORTISE)
        if said is None or any(one.state is not State.EMPTY for one in self.statuses.values()):
            return None
        return f"Mortise started no VM: {said.lines[-1].text.removeprefix(ERROR)}"

    def _settled(self, now: float) -> bool:
        """Whether all VMs have ended and the consoles are quiet: their output is complete."""
        self._settling = self._settling or now
        return now - self._settling > 0.5

    def awaited(self) -> str:
        """What the run waits for, with the states of the VMs that it is up to."""
        for player in self._players:
            if not player.done:
                return player.awaited(state(self.statuses.get(player.vm)))
        if self.options.gdb is not None:
            return f"the debugger at port {self.options.gdb}"
        left = self._boot_limit - self._patience.seconds
        if self._opened is None and (booting := self._booting()):
            lines = " and ".join(
                f"{vm.name} ({state(self.statuses.get(vm.name))}) to print `{vm.ready}` (key "
                "`ready`)"
                for vm in booting
            )
            return f"{lines}, at most {left:.0f} s more{self._last_lines()}"
        if self._opened is None:
            tasks = dict.fromkeys(task.vm for task in self.target.tasks)
            first = f"the first release in {self._of(tasks)}" if tasks else "a VM to start"
            return f"{first}, at most {left:.0f} s more"
        if self.options.seconds is None:
            there = [vm.name for vm in self.target.vms if vm.name not in self._gone()]
            awaited = self._of(there) if there else "the console"
            return f"the end of {awaited}, as the run has no --seconds{self._hindrances()}"
        passed = (self.window.latest() - (self.window.start or 0)) / 1e9
        length = self.options.seconds
        return f"the end of the window, {max(passed, 0):.1f} of {length:g} s{self._hindrances()}"

    def _of(self, names: Iterable[str]) -> str:
        """VMs with their states."""
        return with_states(names, self.statuses)

    def _hindrances(self) -> str:
        """The channels without a message so far, and the guests that do not continue."""
        unused = [each for each in self.target.channels if not any(self._ram.read(each.head, 8))]
        halted = told(self._halts(self.options.halt_limit))
        return idle(unused, self.statuses) + (f"; {halted}" if halted else "")

    def _booting(self) -> list[WatchedVm]:
        linux = (vm for vm in self.target.vms if vm.kind == "linux")
        return [vm for vm in linux if vm.name not in self.ready]

    def _late(self) -> str:
        lines = " and ".join(f"{vm.name} did not say `{vm.ready}`" for vm in self._booting())
        return f"{lines or 'no VM started'} within {self._boot_limit:g} s{self._last_lines()}"

    def _last_lines(self) -> str:
        """The last line of each Linux that is not ready: perhaps the prompt of its shell."""
        said = ((vm.name, self.transcripts.get(vm.name)) for vm in self._booting())
        told = [f"{name} printed `{shortened(last)}`" for name, last in said if last]
        return f"; {' and '.join(told)} last" if told else ""

    @property
    def _boot_limit(self) -> float:
        return self.options.boot_limit * self.target.boot_limit_factor
