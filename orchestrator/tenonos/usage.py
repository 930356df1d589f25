"""Errors of a command line, in words of its user: the option, what is wrong, and where to look."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

from tenonos import paths

_OTHERS = {
    "create": "new",
    "debug": "run SYSTEM --gdb",
    "deploy": "build SYSTEM -o DIR",
    "flash": "build SYSTEM -o DIR",
    "gdb": "run SYSTEM --gdb",
    "help": "--help",
    "init": "new",
    "install": "doctor",
    "make": "build",
    "menuconfig": "config",
    "plan": "compose",
    "qemu": "run",
    "setup": "doctor",
    "simulate": "run",
    "start": "run",
    "strace": "run SYSTEM --strace VM",
    "trace": "run SYSTEM --trace FILE",
    "version": "--version",
}
"""What to call in place of commands that others have."""

_WORDS = (
    (r"Value error, ", ""),
    (r"Input should be a valid number, unable to parse string as a number", "it is no number"),
    (r"Input should be a valid integer, unable to parse string as an integer", "it is no number"),
    (r"\.$", ""),
)


def as_documented(command: Any) -> Any:
    """The command, with arguments in its help as in manual pages: `NAME` and `[NAME]`."""
    for parameter in command.params:
        if parameter.param_type_name == "argument":
            more = "..." if parameter.nargs != 1 else ""
            name = f"{parameter.metavar}{more}"
            shown = name if parameter.required else f"[{name}]"
            parameter._usage_display_name = lambda shown=shown: shown
            parameter.display_type_rich = lambda **_: None
    return command


def explained(message: str, arguments: Sequence[str], commands: Sequence[str]) -> str:
    """The one line of a usage error, with a remedy."""
    for pattern, word in _WORDS:
        message = re.sub(pattern, word, message)
    own = paths.command()
    if match := re.match(r"No such command '(.*)'", message):
        other = _OTHERS.get(match[1]) or next(iter(get_close_matches(match[1], commands, 1)), None)
        guess = f"did you mean {own} {other}? " if other else ""
        return f"{message}; {guess}{own} --help lists all"
    named = next((word for word in arguments if word in commands), None)
    return f"{message}; see {own}{f' {named}' if named else ''} --help"


def as_typed(text: str) -> str:
    """A message in which `./tenon` is what the user types in the current folder."""
    return re.sub(r"(?<![\w/.])\./tenon(?=[ ;,.]|$)", lambda _: paths.command(), text)
