"""A debugger on a running system, with the symbols of every image."""

from __future__ import annotations

import shlex
import shutil
import socket
import subprocess
from pathlib import Path

from tenonos.errors import WorkError
from tenonos.run.target import Target

PORT = 1234
DEBUGGERS = ("gdb-multiarch", "aarch64-linux-gnu-gdb", "gdb")


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
    """The debugger's command line: Mortise's symbols and those of every VM's image.

    Images run at the addresses they are linked for; Mortise and a Tenon may use the same numbers,
    in different address spaces.
    """
    files = [str(path) for _, path in target.elf_files]
    steps = [f"file {_quoted(files[0])}"] if files else []
    steps += [f"add-symbol-file {_quoted(file)}" for file in files[1:]]
    steps += ["set architecture aarch64", f"target remote 127.0.0.1:{number}"]
    line = [debugger(), "-q", "-iex", "set confirm off"]
    for step in steps:
        line += ["-ex", step]
    return line


def debugger() -> str:
    """The installed debugger."""
    return next((name for name in DEBUGGERS if shutil.which(name)), DEBUGGERS[0])


def start(target: Target, number: int) -> subprocess.Popen[bytes]:
    """Start a debugger in the foreground of this terminal."""
    line = command(target, number)
    if shutil.which(line[0]) is None:
        raise WorkError(f"{line[0]} is not installed", mend="see ./tenon doctor")
    return subprocess.Popen(line)


def shown(target: Target, number: int) -> str:
    """The command to type in a shell."""
    return shlex.join(command(target, number))


def _quoted(path: str | Path) -> str:
    text = str(path)
    return f'"{text}"' if " " in text else text
