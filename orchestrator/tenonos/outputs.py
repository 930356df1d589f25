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


def check_folder(folder: Path, option: str) -> None:
    """Refuse a folder that cannot be made, or is a file, before the work starts."""
    found = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    if not found.is_dir():
        raise InputError(f"{found} is no folder", option, "name another one")
    if not os.access(found, os.W_OK):
        raise InputError(f"{found} cannot be written", option, "name another one")


def write_folder(folder: Path, files: Mapping[str, str | bytes]) -> None:
    """Write files by name into a folder: all of them, or none. Scripts (`.sh`, `#!`) can be run.

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
            for name, content in files.items():
                _write(beside / name, content)
            beside.chmod(0o777 & ~_umask())
            if not folder.exists():
                beside.rename(folder)
                return
            for name, content in files.items():
                _own_folder(folder, Path(name).parent)
                # An unchanged file is not replaced: another process may be reading it.
                if not _holds(folder / name, content):
                    (beside / name).replace(folder / name)
        finally:
            shutil.rmtree(beside, ignore_errors=True)


def remove(folder: Path, name: str) -> None:
    """Remove a file below a folder, and folders that are then empty; no link is followed."""
    path = Path(name)
    inside = [folder / parent for parent in path.parents if parent != Path()]
    if path.is_absolute() or ".." in path.parts or any(each.is_symlink() for each in inside):
        return
    with writing(folder, named=True):
        (folder / path).unlink(missing_ok=True)
        for parent in inside:
            if parent.is_dir() and not any(parent.iterdir()):
                parent.rmdir()


def _write(file: Path, content: str | bytes) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, str):
        file.write_text(content, encoding="utf-8")
    else:
        file.write_bytes(content)
    if file.suffix == ".sh" or (isinstance(content, str) and content.startswith("#!")):
        file.chmod(0o777 & ~_umask())


def _own_folder(folder: Path, inside: Path) -> None:
    """Make a folder below another one; a link there is replaced, not followed."""
    for path in (*reversed(inside.parents), inside):
        if (folder / path).is_symlink() and path != Path():
            (folder / path).unlink()
        (folder / path).mkdir(exist_ok=True)


def _holds(file: Path, content: str | bytes) -> bool:
    """Whether a path is a file of its own with this content."""
    wanted = content.encode() if isinstance(content, str) else content
    return file.is_file() and not file.is_symlink() and file.read_bytes() == wanted


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
