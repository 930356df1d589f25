"""Logs of programs that a command runs: all that they print, behind the one line of an error."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from tenonos.paths import LOG, ensure, shown

LIBRARIES = "libraries.log"
"""The log of builds for the host and for Linux: the counting plugin, libtenon and what is linked
with it, the kernel module."""


def keep(command: Sequence[str], output: str, name: str = LIBRARIES) -> str:
    """Write the command and the output of a build that failed; the remedy for its error."""
    log = ensure(LOG) / name
    log.write_text(f"$ {shlex.join(command)}\n{output}", errors="surrogateescape")
    return f"all of it is in {shown(log)}"
