"""Completion of commands, options and names by bash, zsh and fish.

A shell's script, from `./tenon --completion SHELL`, calls `tenon` with the command line in
variables. Before the bootstrap, `./tenon` ignores such calls.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from enum import StrEnum

VARIABLE = "_TENON_COMPLETE"
"""The variable set by the scripts; also used in `./tenon`."""


class Shell(StrEnum):
    """A shell with completion."""

    bash = "bash"
    zsh = "zsh"
    fish = "fish"


def script(shell: Shell) -> str:
    """The completion script of a shell."""
    from typer.completion import get_completion_script

    return get_completion_script(prog_name="tenon", complete_var=VARIABLE, shell=shell.value)


def prepare() -> None:
    """Initialise typer's completion if a shell requests it."""
    if VARIABLE in os.environ:
        from typer.completion import completion_init

        completion_init()


def systems(incomplete: str) -> list[str]:
    """The systems of the tree; without a match, bash completes files."""
    from tenonos.system import names

    return _beginning(names(), incomplete)


def suites(incomplete: str) -> list[str]:
    """The suites of the bench."""
    from tools.bench.suites import SUITES

    return _beginning(SUITES, incomplete)


def boards(incomplete: str) -> list[str]:
    """The boards."""
    from tenonos.system import board

    return _beginning(board.names(), incomplete)


def symbols(incomplete: str) -> list[str]:
    """Libraries, capabilities and symbols of the pool, by all accepted names."""
    from tenonos.plan.retrieval.knowledge import entries
    from tenonos.pool.kconfig import PREFIX, load

    tree = load()
    named = [entry.name for entry in entries(tree.kconf).values()]
    return _beginning(
        [*named, *tree.symbols, *(PREFIX + name for name in tree.symbols)], incomplete
    )


def _beginning(names: Iterable[str], incomplete: str) -> list[str]:
    return sorted({name for name in names if name.startswith(incomplete)})
