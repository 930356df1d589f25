"""QEMU: command line and process."""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from tenonos.errors import InputError, WorkError
from tenonos.run.target import Machine, Target
from tenonos.settings import SETTINGS
from tenonos.setup.packages import numbers
from tenonos.system.model import System

BINARY = "qemu-system-aarch64"

# One instruction is one nanosecond of guest time, idle time is skipped, and neither clock nor
# entropy of the host reaches the guest: runs are identical to the instruction.
DETERMINISTIC = (
    *("-icount", "shift=0,sleep=off"),
    *("-rtc", "base=2026-01-01T00:00:00,clock=vm"),
    *("-seed", "1"),
)


def command_line(
    target: Target,
    *,
    deterministic: bool = False,
    plugin: str | None = None,
    gdb: int | None = None,
    binary: str = BINARY,
    serial: Sequence[int] = (),
) -> list[str]:
    """The command that boots a target, to be started in the run's folder. `serial` has the sockets
    behind its further serial lines.

    Files in it have plain names: commas of a path would be syntax.
    """
    machine = target.machine
    arguments = [
        binary,
        *("-machine", machine_option(machine)),
        *("-cpu", machine.cpu),
        *("-smp", str(machine.cpus)),
        *("-m", f"{machine.ram_size >> 20}M"),
        *("-object", f"memory-backend-file,id=ram,share=on,mem-path=ram,size={machine.ram_size}"),
        *machine.arguments,
        *silence(machine, binary),
        *("-chardev", "stdio,id=console,signal=off", "-serial", "chardev:console"),
        *("-no-reboot", "-kernel", str(target.image)),
    ]  # fmt: skip
    for number, descriptor in enumerate(serial, 1):
        line = f"line{number}"
        arguments += ["-chardev", f"socket,id={line},fd={descriptor}", "-serial", f"chardev:{line}"]
    if deterministic:
        arguments += DETERMINISTIC
    else:
        arguments += ["-accel", "tcg,thread=multi"]
    if plugin is not None:
        arguments += ["-plugin", plugin]
    if gdb is not None:
        arguments += ["-gdb", f"tcp:127.0.0.1:{gdb}", "-S"]
    return arguments


def machine_option(machine: Machine) -> str:
    """The `-machine` value of the board, with RAM from the shared file. The device tree of `virt`
    has a seed, which `-seed` fixes."""
    return f"{machine.machine},memory-backend=ram"


def version(binary: str = BINARY) -> str:
    """The version of the QEMU on the path, as in 7.2.22; empty if it states none."""
    path = shutil.which(binary)
    if path is None:
        raise WorkError(f"{binary} is not installed", mend="see ./tenon doctor")
    return _stated(path)


@cache
def _stated(path: str) -> str:
    done = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)
    found = re.search(r"version (\d+(?:\.\d+)*)", done.stdout)
    return found[1] if found else ""


def silence(machine: Machine, binary: str = BINARY) -> list[str]:
    """Options for a board with a sound device: QEMU 9 and later require an audio driver, which 7.2
    refuses without a sound card."""
    with_sound = machine.machine.startswith("xlnx-zcu102")
    return ["-audio", "none"] if with_sound and numbers(version(binary) or "0") >= (9,) else []


BACKPORTS = "10.0.2"
"""The newest version known in the backports of Debian 12; Debian 13 has a newer one."""


def require(since: str | None, lacks: str) -> None:
    """`WorkError` if the QEMU on the path is older than the first one without this lack."""
    stated = version()
    if since is not None and stated and numbers(stated) < numbers(since):
        backports = numbers(since) <= numbers(BACKPORTS)
        raise WorkError(
            f"QEMU {stated} has no {lacks}",
            mend=f"QEMU {since} or newer has it, as of Debian 13"
            + " or the backports of Debian 12" * backports,
        )


def require_for(system: System) -> None:
    """`WorkError` if the QEMU on the path lacks the system's board, or what its VMs need there."""
    board, played = system.board.name, system.board.emulator
    require(played.since, board)
    if any(vm.interrupts == "shared" for vm in system.guests):
        require(played.since_shared, f"virtual interrupts on {board}, for VMs with shared ones")


def set_cpu(model: str | None) -> None:
    """Sets the CPU model of the machines to come; `InputError` if the QEMU on the path lacks it."""
    path = shutil.which(BINARY)
    found = _models(path) if path and model is not None else ()
    if found and model not in found:
        raise InputError(f"QEMU {version()} has no CPU {model}", mend=f"it has {', '.join(found)}")
    SETTINGS.cpu = model


@cache
def _models(path: str) -> tuple[str, ...]:
    """The models with 64 bits; none if the list cannot be read."""
    command = [path, "-machine", "virt", "-cpu", "help"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    models = re.findall(r"^  (\S+)$", done.stdout, re.MULTILINE)
    # Cortex-A with one digit and with 15 have 32 bits.
    wide = re.compile(r"cortex-a(?!\d\Z|15\Z)\d+(ae)?|neoverse-\w+|a64fx|max")
    return tuple(model for model in models if wide.fullmatch(model))


def emulator(binary: str = BINARY) -> str | None:
    """What figures name as the machine that they hold for; None if it states no version."""
    stated = version(binary)
    core = f", {SETTINGS.cpu}" if SETTINGS.cpu else ""
    return f"QEMU {stated}{core}" if stated else None


class Qemu:
    """A running emulator."""

    def __init__(self, command: Sequence[str], folder: Path, inherit: Sequence[int] = ()) -> None:
        if shutil.which(command[0]) is None:
            raise WorkError(f"{command[0]} is not installed", mend="see ./tenon doctor")
        self._errors = folder / "stderr"
        with self._errors.open("wb") as errors:
            self.process = subprocess.Popen(
                list(command),
                cwd=folder,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                pass_fds=tuple(inherit),
                # Ctrl-C of the terminal is handled here, to stop the emulator cleanly.
                start_new_session=True,
                preexec_fn=_die_with_parent,
                env={**os.environ, "QEMU_AUDIO_DRV": "none"},
            )
        assert self.process.stdin is not None and self.process.stdout is not None
        self._input, self.output = self.process.stdin, self.process.stdout

    def type(self, data: bytes) -> None:
        """Send bytes to the serial line."""
        with contextlib.suppress(BrokenPipeError):
            self._input.write(data)
            self._input.flush()

    def stop(self) -> None:
        """Kill the emulator: all results are in the guests' memory.

        It may be blocked on a full pipe, and ignores SIGTERM under `sleep=off`.
        """
        self.process.kill()
        self.process.wait()
        with contextlib.suppress(BrokenPipeError):
            self._input.close()

    def check(self) -> None:
        """`WorkError` with the emulator's own words if it failed."""
        if status := self.process.wait():
            said = self._errors.read_text(errors="replace").strip().splitlines()
            raise WorkError(
                f"QEMU ended with status {status}: {said[-1] if said else 'no message'}"
            )


def _die_with_parent() -> None:
    """Let the kernel kill the emulator if this process is killed."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG, on Linux only
