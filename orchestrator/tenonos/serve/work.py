"""Command lines run as processes, with a time limit."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import anyio
from anyio.abc import ByteReceiveStream, Process

from tenonos.errors import WorkError
from tenonos.paths import ROOT
from tenonos.serve.served_folder import Project

GRACE = 5
"""Seconds for an orderly end, before the process group is killed."""

KEPT = 1 << 16
"""The number of last bytes of messages that are kept."""


@dataclass(frozen=True)
class Outcome:
    """Output, messages and status of a command."""

    printed: Any
    """The JSON on stdout, or None."""
    messages: list[str]
    complaint: str | None
    """The one-line error, if it failed."""


async def work(name: str, line: list[str], project: Project, limit: float) -> Outcome:
    """Run `./tenon NAME LINE` in the project's folder."""
    process = await anyio.open_process(
        [sys.executable, str(ROOT / "orchestrator"), name, *line],
        stdin=subprocess.DEVNULL,
        cwd=project.folder,
        env={**os.environ, "NO_COLOR": "1"},
        start_new_session=True,
    )
    try:
        with anyio.fail_after(limit):
            out, err = await _read(process)
            status = await process.wait()
    except TimeoutError:
        mend = "ask for less, or start the server with a longer --limit"
        raise WorkError(f"stopped after the time limit of {limit:g} s", name, mend) from None
    finally:
        with anyio.CancelScope(shield=True):
            await _end(process)
    return _outcome(name, status, out, err.decode(errors="replace").splitlines())


async def _read(process: Process) -> tuple[bytes, bytes]:
    """All of stdout and the end of stderr."""
    assert process.stdout is not None and process.stderr is not None
    out, err = bytearray(), bytearray()

    async def answer(stream: ByteReceiveStream) -> None:
        async for piece in stream:
            out.extend(piece)

    async def messages(stream: ByteReceiveStream) -> None:
        async for piece in stream:
            err.extend(piece)
            del err[:-KEPT]

    async with anyio.create_task_group() as both:
        both.start_soon(answer, process.stdout)
        both.start_soon(messages, process.stderr)
    return bytes(out), bytes(err)


async def _end(process: Process) -> None:
    """Terminate a running command, then kill its process group."""
    if process.returncode is None:
        process.send_signal(signal.SIGTERM)
        with anyio.move_on_after(GRACE):
            await process.wait()
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    await process.aclose()


def _outcome(name: str, status: int, out: bytes, messages: list[str]) -> Outcome:
    """The outcome; the last line of messages is the error that `cli` prints."""
    complaint = None
    if status:
        complaint = f"{name} ended with status {status} and no word"
        for number, line in reversed(list(enumerate(messages))):
            if line.startswith("tenon: "):
                complaint = messages.pop(number).removeprefix("tenon: ")
                break
    printed = json.loads(out) if out.strip() else None
    return Outcome(printed, messages, complaint)
