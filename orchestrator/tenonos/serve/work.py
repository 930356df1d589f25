"""A command line as a process of its own, ended when its time is up."""

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
"""Seconds to end in order, before the process group is killed."""

KEPT = 1 << 16
"""Bytes of messages that are kept: the last."""


@dataclass(frozen=True)
class Outcome:
    """What a command printed, said and ended with."""

    printed: Any
    """The JSON on stdout, or None."""
    messages: list[str]
    complaint: str | None
    """The one line, if it did not end well."""


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
        raise WorkError(f"not done after {limit:g} s, and ended", name, mend) from None
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
    """If it has not ended, let it leave in order, then end whatever it started."""
    if process.returncode is None:
        process.send_signal(signal.SIGTERM)
        with anyio.move_on_after(GRACE):
            await process.wait()
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    await process.aclose()


def _outcome(name: str, status: int, out: bytes, messages: list[str]) -> Outcome:
    """What came of it; the last line of messages is the complaint, as `cli` writes it."""
    complaint = None
    if status:
        complaint = f"{name} ended with status {status} and no word"
        for number, line in reversed(list(enumerate(messages))):
            if line.startswith("tenon: "):
                complaint = messages.pop(number).removeprefix("tenon: ")
                break
    printed = json.loads(out) if out.strip() else None
    return Outcome(printed, messages, complaint)
