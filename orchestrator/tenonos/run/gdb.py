"""A debugger on a running system, with commands for its VMs."""

from __future__ import annotations

import shlex
import shutil
import socket
import subprocess
from functools import cache
from pathlib import Path

from tenonos.debugger.model import MORTISE, DebuggedSystem
from tenonos.debugger.text import quoted
from tenonos.errors import WorkError
from tenonos.run.target import Target

PORT = 1234
DEBUGGERS = ("gdb-multiarch", "aarch64-linux-gnu-gdb", "gdb")
PACKAGES = Path(__file__).resolve().parents[2]
"""The folder that the debugger imports the commands from."""
PACKAGE = "gdb-multiarch"
"""Debian's package of a debugger with all architectures."""


def port() -> int:
    """The usual port, or a free one if it is taken."""
    for wanted in (PORT, 0):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", wanted))
            except OSError:
                continue
            return int(probe.getsockname()[1])
    raise WorkError("no free TCP port for the debugger")


def command(target: Target, number: int) -> list[str]:
    """The debugger's command line: it defines the commands for several VMs, and connects.

    Images run at the addresses they are linked for; Mortise and the VMs use the same numbers, in
    different address spaces, so that the commands load the symbols of one at a time.
    """
    system = DebuggedSystem.of(target).write(target.image.parent)
    code = f"sys.path.insert(0, {str(PACKAGES)!r}); from tenonos.debugger import commands"
    first = next((path for name, path in target.elf_files if name != MORTISE), None)
    steps = [f"file {quoted(str(first))}"] if first else []
    steps += [
        "set architecture aarch64",
        f"target remote 127.0.0.1:{number}",
        f"python import sys; {code}; commands.load({str(system)!r})",
    ]
    line = [debugger(), "-q", "-iex", "set confirm off"]
    for step in steps:
        line += ["-ex", step]
    return line


def debugger() -> str:
    """The first installed debugger for AArch64, best one with Python; the one to install if there
    is none."""
    able = list(filter(_has_aarch64, DEBUGGERS))
    return next(filter(_has_python, able), (able or DEBUGGERS)[0])


def require() -> None:
    """`WorkError` if no installed debugger serves."""
    if what := lacking():
        raise WorkError(what, where="--gdb", mend=f"apt install {PACKAGE}")


def lacking() -> str | None:
    """What is missing if no installed debugger has AArch64 and Python: gdb of a distribution may
    have only the host's architecture, a small one no Python."""
    name = debugger()
    if _has_aarch64(name) and _has_python(name):
        return None
    if _has_aarch64(name):
        return f"{name} has no support for Python"
    if found := next((name for name in DEBUGGERS if shutil.which(name)), None):
        return f"{found} has no support for AArch64"
    return "no debugger for AArch64 is installed"


def _has_aarch64(name: str) -> bool:
    return _accepts(name, "set architecture aarch64")


def _has_python(name: str) -> bool:
    return _accepts(name, "python pass")


@cache
def _accepts(name: str, command: str) -> bool:
    """Whether a debugger is installed and knows a command."""
    path = shutil.which(name)
    if path is None:
        return False
    line = [path, "-nx", "-q", "-batch", "-ex", command]
    done = subprocess.run(line, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    return done.returncode == 0 and b"Undefined" not in done.stderr


def start(target: Target, number: int) -> subprocess.Popen[bytes]:
    """Start a debugger in the foreground of this terminal."""
    require()
    return subprocess.Popen(command(target, number))


def shown(target: Target, number: int) -> str:
    """The command to type in a shell."""
    return shlex.join(command(target, number))
