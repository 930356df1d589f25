"""Starts the probe: a second gdb that reads the image of one VM, and ends within a bounded time."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tenonos.debugger.core_file import core_file
from tenonos.debugger.model import DebuggerError

LIMIT = 60
"""Seconds."""
_OURSELVES = Path("/proc/self/exe")
_PACKAGES = str(Path(__file__).resolve().parents[2])


def debugger() -> str:
    """The program that executes this: gdb itself."""
    return str(_OURSELVES.resolve()) if _OURSELVES.exists() else "gdb-multiarch"


def probe(
    elf: str,
    call: str,
    arguments: Sequence[object] = (),
    threads: Sequence[Sequence[int]] = (),
    memory: Sequence[tuple[int, bytes]] = (),
    program: str | None = None,
) -> Any:
    """What a function of the probe writes; with threads, of a core file that has them."""
    with tempfile.TemporaryDirectory(prefix="tenon-gdb-") as folder:
        answer = Path(folder, "answer")
        line = [program or debugger(), "-nx", "-q", "-batch", "-iex", "set auto-load off"]
        # The osabi has the layout of core files; the cache of stacks reads beyond their memory.
        line += ["-iex", "set osabi GNU/Linux", "-iex", "set stack-cache off", elf]
        if threads:
            core = Path(folder, "core")
            core.write_bytes(core_file(threads, memory))
            line += ["-ex", f"core-file {core}"]
        words = ", ".join(map(repr, (str(answer), *arguments)))
        code = f"from tenonos.debugger import probe; probe.{call}({words})"
        line += ["-ex", f"python import sys; sys.path.insert(0, {_PACKAGES!r}); {code}"]
        try:
            done = subprocess.run(
                line,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=LIMIT,
                check=False,
                env={**os.environ, "DEBUGINFOD_URLS": "", "LC_ALL": "C.UTF-8"},
            )
        except subprocess.TimeoutExpired:
            raise DebuggerError(f"gdb did not read {elf} within {LIMIT} s") from None
        if not answer.exists():
            raise DebuggerError(f"gdb cannot read {elf}: {_reason(done.stderr)}")
        return json.loads(answer.read_text())


def _reason(said: str) -> str:
    """The error in what gdb said."""
    lines = [line for line in said.splitlines() if line.strip()]
    named = [line for line in lines if "Error: " in line or "Exception" in line]
    return (named or lines or ["no reason is known"])[-1].strip()
