"""Completion of commands and options by bash, zsh and fish.

A shell's script, from `./tenon --completion SHELL`, calls `tenon` with a variable set; what
stands on the line comes with it. `./tenon` leaves such a call alone before it is set up.
"""

from __future__ import annotations

import os
from enum import StrEnum

VARIABLE = "_TENON_COMPLETE"
"""Set by the scripts to what they want; named in `./tenon` too."""


class Shell(StrEnum):
    """A shell that completes."""

    bash = "bash"
    zsh = "zsh"
    fish = "fish"


def script(shell: Shell) -> str:
    """What the shell must read once."""
    from typer.completion import get_completion_script

    return get_completion_script(prog_name="tenon", complete_var=VARIABLE, shell=shell.value)


def prepare() -> None:
    """Make typer speak with the shells if one asks."""
    if VARIABLE in os.environ:
        from typer.completion import completion_init

        completion_init()
