"""Processes of a VM, by the lines that Tenon writes about them on its console."""

from __future__ import annotations

import re

from tenonos.run.console import Transcript
from tenonos.run.result import UnservedCall
from tenonos.system.calls import call_names

SIGNALLED = 128
"""Added to the signal that ended a program, as shells do."""

_ENDED = re.compile(r".* (?:has ended(?: with (\d+))?|was ended by signal (\d+))")
_TRACED = re.compile(r"\[pid \d+\] (\w+)\(")
_UNSERVED = re.compile(r"(.+) makes system call (\d+), which no library serves")


def exit_status(transcript: Transcript | None) -> int | None:
    """The exit status of the first process, if it has ended."""
    for line in reversed(transcript.lines if transcript else []):
        if match := _ENDED.fullmatch(line.text):
            code, signal = match.groups()
            return SIGNALLED + int(signal) if signal else int(code or 0)
    return None


def recorded(transcript: Transcript | None) -> list[str]:
    """The names of the system calls that processes made in a run with `--strace`, in order."""
    lines = transcript.lines if transcript else []
    found = {match[1] for line in lines if (match := _TRACED.match(line.text))}
    return sorted(found & set(call_names().values()))


def unserved(transcript: Transcript | None) -> list[UnservedCall]:
    """The system calls that no library serves, each with the first program that made it."""
    found = []
    for line in transcript.lines if transcript else []:
        if match := _UNSERVED.search(line.text):
            program, number = match[1], int(match[2])
            name = call_names().get(number, f"syscall_{number:#x}")
            found.append(UnservedCall(program=program, number=number, call=name))
    return found
