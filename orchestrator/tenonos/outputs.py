"""Output files of commands, with one-line errors before the work starts."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
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


def write_folder(folder: Path, files: Mapping[str, str]) -> None:
    """Write text files by name into a folder: all of them, or none.

    They are written beside it and then renamed, so that a full disk leaves the folder as it was,
    and a link of one of these names is replaced, not followed.
    """
    with writing(folder, named=True):
        if folder.exists() and not folder.is_dir():
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
        if folder.parent.exists() and not folder.parent.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
        folder.parent.mkdir(parents=True, exist_ok=True)
        beside = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
        try:
            for name, text in files.items():
                (beside / name).write_text(text, encoding="utf-8")
            beside.chmod(0o777 & ~_umask())
            if not folder.exists():
                beside.rename(folder)
                return
            for name, text in files.items():
                # An unchanged file is not replaced: another process may be reading it.
                if not _holds(folder / name, text):
                    (beside / name).replace(folder / name)
        finally:
            shutil.rmtree(beside, ignore_errors=True)


def _holds(file: Path, text: str) -> bool:
    """Whether a path is a file of its own with this text."""
    return file.is_file() and not file.is_symlink() and file.read_bytes() == text.encode()


def _umask() -> int:
    """The mask of new files, which can only be read by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


@contextmanager
def writing(file: Path, *, named: bool = False) -> Iterator[None]:
    """An `InputError` with the reason if the block cannot write the file, or folder.

    `named`: it is the place in the message, whichever file the error is about.
    """
    try:
        yield
    except OSError as error:
        where = str(file if named else error.filename or file)
        raise InputError(f"cannot write it: {error.strerror}", where) from None
