"""Menuconfig for one image, and the resulting configuration fragment."""

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from tempfile import TemporaryDirectory

import kconfiglib

from tenonos import outputs
from tenonos.build.images import space
from tenonos.errors import InputError
from tenonos.pool.kconfig import Assignment
from tenonos.system.model import System

Menu = Callable[[kconfiglib.Kconfig], None]
"""An interactive editor of a configuration, which writes $KCONFIG_CONFIG."""


def edit(system: System, image: str, menu: Menu | None = None) -> Path | None:
    """Let the menu change the fragment of `image`; the file if it changed."""
    choices = space(system)
    file = choices.fragment_file(image)
    if file is None:
        raise InputError(f'VM "{image}" is Linux: it has no configuration here')
    choices.evaluate(image)
    tree = choices.tree
    with TemporaryDirectory() as folder:
        saved = Path(folder) / "config"
        tree.kconf.write_config(str(saved), header="")
        os.environ["KCONFIG_CONFIG"] = str(saved)
        try:
            (menu or _menuconfig)(tree.kconf)
        finally:
            del os.environ["KCONFIG_CONFIG"]
        tree.kconf.load_config(str(saved))
        after = tree.minimal()
    text = remainder(after, choices.given(image), _comments(file))
    if file.exists() and file.read_text() == text:
        return None
    if not file.exists() and not text.strip():
        return None
    outputs.write(file, text)
    return file


def remainder(minimal: str, given: Iterable[Assignment], comments: list[str]) -> str:
    """A fragment: the minimal configuration without the values given by the system."""
    implied = set(map(_line, given))
    lines = [line for line in minimal.splitlines() if line.strip() and line not in implied]
    return "".join(f"{line}\n" for line in [*comments, *lines])


def _line(given: Assignment) -> str:
    """The line of a minimal configuration with this value."""
    name = f"CONFIG_{given.symbol}"
    return f"# {name} is not set" if given.value == "n" else f"{name}={given.value}"


def _comments(file: Path) -> list[str]:
    """The opening comment of a fragment, written by the user, which is kept."""
    kept = []
    for line in file.read_text().splitlines() if file.exists() else ():
        if not line.startswith("#") or " is not set" in line:
            break
        kept.append(line)
    return kept


def _menuconfig(kconf: kconfiglib.Kconfig) -> None:
    from menuconfig import menuconfig

    menuconfig(kconf)
