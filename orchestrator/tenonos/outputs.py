"""Output files of commands, with one-line errors before the work starts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tenonos.errors import InputError


def check(file: Path | None, option: str) -> None:
    """Refuse a file in a missing folder, before the work starts."""
    if file is not None and not file.parent.is_dir():
        raise InputError(f"there is no folder {file.parent}", option, "make it")


def write(file: Path, text: str) -> None:
    """Write a text file; `InputError` if that fails."""
    with writing(file):
        file.write_text(text, encoding="utf-8")


@contextmanager
def writing(file: Path) -> Iterator[None]:
    """An `InputError` with the reason if the block cannot write the file, or folder."""
    try:
        yield
    except OSError as error:
        where = str(error.filename or file)
        raise InputError(f"cannot write it: {error.strerror}", where) from None
