"""System calls of Linux for AArch64, by name and number."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches
from functools import cache

from tenonos.errors import InputError
from tenonos.paths import POOL

CALLS = POOL / "tenon" / "strace" / "src" / "calls.rs"
"""The names of system calls, by number."""

_CALL = re.compile(r'^\s*\((\d+), "(\w+)"', re.MULTILINE)


@cache
def call_names() -> dict[int, str]:
    """The names of the system calls of Linux for AArch64."""
    return {int(number): name for number, name in _CALL.findall(CALLS.read_text())}


def call_numbers(names: Iterable[str], where: str) -> tuple[int, ...]:
    """The numbers of named system calls, in order; an `InputError` if one has none."""
    known = {name: number for number, name in call_names().items()}
    for name in names:
        if name not in known:
            near = get_close_matches(name, known, 1)
            mend = f'write "{near[0]}"' if near else "use the names of docs/linux-abi.md"
            raise InputError(f'Linux for AArch64 has no system call "{name}"', where, mend)
    return tuple(sorted({known[name] for name in names}))
