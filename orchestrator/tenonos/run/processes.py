"""Processes of a VM, by the lines that Tenon writes about them on its console."""

from __future__ import annotations

import re
from functools import cache

from tenonos.paths import POOL
from tenonos.run.console import Transcript
from tenonos.run.result import UnservedCall

CALLS = POOL / "tenon" / "strace" / "src" / "calls.rs"
"""The names of system calls, by number."""
SIGNALLED = 128
"""Added to the signal that ended a program, as shells do."""

_ENDED = re.compile(r".* (?:has ended(?: with (\d+))?|was ended by signal (\d+))")
_UNSERVED = re.compile(r"(.+) makes system call (\d+), which no library serves")
_CALL = re.compile(r'^\s*\((\d+), "(\w+)"', re.MULTILINE)


@cache
def call_names() -> dict[int, str]:
    """The names of the system calls of Linux for AArch64."""
    return {int(number): name for number, name in _CALL.findall(CALLS.read_text())}


def exit_status(transcript: Transcript | None) -> int | None:
    """The exit status of the first process, if it has ended."""
    for line in reversed(transcript.lines if transcript else []):
        if match := _ENDED.fullmatch(line.text):
            code, signal = match.groups()
            return SIGNALLED + int(signal) if signal else int(code or 0)
    return None


def unserved(transcript: Transcript | None) -> list[UnservedCall]:
    """The system calls that no library serves, each with the first program that made it."""
    found = []
    for line in transcript.lines if transcript else []:
        if match := _UNSERVED.search(line.text):
            program, number = match[1], int(match[2])
            name = call_names().get(number, f"syscall_{number:#x}")
            found.append(UnservedCall(program=program, number=number, call=name))
    return found
