"""The host's streams and errors: what the machine refuses is told as such, not as a bug.

Standard streams may be closed or full, and files of the clone may be on a disk that is full or
mounted read-only. Each is one line with the place and the remedy.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import shutil
import sys
from pathlib import Path
from typing import Any

from tenonos import paths
from tenonos.errors import TenonError, WorkError

_REMEDIES = {
    errno.ENOSPC: "make room there, for example with ./tenon clean",
    errno.EDQUOT: "make room in your quota, for example with ./tenon clean",
    errno.EROFS: "mount it so that it can be written, or use a clone elsewhere",
    errno.EACCES: "give yourself the right to it, or use a clone of your own",
    errno.EPERM: "give yourself the right to it, or use a clone of your own",
    errno.EMFILE: "raise the limit of open files (ulimit -n)",
    errno.ENFILE: "close other programs: the machine has no more open files",
    errno.ENOMEM: "make memory available",
    errno.EIO: "check the disk",
    errno.ENAMETOOLONG: "use a shorter name",
    errno.ELOOP: "remove the loop of links",
    errno.EFBIG: "raise the limit of file sizes (ulimit -f)",
    errno.ESTALE: "mount it again",
}
"""Errors that are the host's, with their remedies."""
_LITTLE = 1 << 20
"""Bytes below which a file system counts as full."""


def trouble(error: BaseException) -> TenonError | None:
    """An error of the host as one line; None if it is something else."""
    if isinstance(error, MemoryError):
        return WorkError("there is not enough memory", mend=_REMEDIES[errno.ENOMEM])
    if isinstance(error, FileNotFoundError) and not _has_folder():
        return WorkError("the working folder was removed", mend="change to another one")
    if not isinstance(error, OSError) or error.errno not in _REMEDIES:
        return None
    what = f"{error.strerror[:1].lower()}{error.strerror[1:]}"
    return WorkError(what, _place(error), _REMEDIES[error.errno])


def _place(error: OSError) -> str:
    """The file that the host refused; an error of a write does not name it."""
    name = error.filename2 or error.filename
    if isinstance(name, str | bytes | os.PathLike):
        return paths.shown(Path(os.fsdecode(name)))
    for folder in (paths.BUILD, paths.TARGET, paths.RUN, paths.LOG, paths.CACHE):
        if folder.is_dir() and shutil.disk_usage(folder).free < _LITTLE:
            return paths.shown(folder)
    return paths.shown(paths.DOT)


def _has_folder() -> bool:
    try:
        return bool(Path.cwd())
    except OSError:
        return False


class _Data(io.FileIO):
    """Standard output, of which nothing may be lost."""

    def write(self, data: Any, /) -> int:
        """Write data; an error other than a closed pipe ends the command."""
        try:
            return super().write(data)
        except BrokenPipeError:
            raise
        except OSError as error:
            what = f"cannot write to it: {error.strerror}"
            raise WorkError(what, "stdout", "redirect it to a place that can be written") from None


class _Messages(io.FileIO):
    """Standard error: work goes on where messages cannot be written."""

    def write(self, data: Any, /) -> int:
        """Write data, or lose it; the end of a pipe that has the output too ends the command."""
        try:
            return super().write(data)
        except BrokenPipeError:
            if os.path.samestat(os.fstat(1), os.fstat(2)):
                raise
        except OSError:
            pass
        return memoryview(data).nbytes


def connect() -> bool:
    """Prepare the standard streams; False if standard output is closed.

    A closed descriptor is given to the null device, since the next file that is opened would
    otherwise take its number and receive the output.
    """
    closed = sys.stdout is None
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest free number, which is this one
    if sys.stdin is None:
        sys.stdin = os.fdopen(0, closefd=False)
    sys.stdout = _stream(_Data(1, "w", closefd=False), sys.stdout)
    sys.stderr = _stream(_Messages(2, "w", closefd=False), sys.stderr)
    return not closed


def _stream(raw: io.FileIO, before: object) -> io.TextIOWrapper:
    """A text stream in the encoding of the one before; what it lacks is escaped."""
    encoding = getattr(before, "encoding", None) or "utf-8"
    lines = raw.isatty() or raw.fileno() == 2
    return io.TextIOWrapper(
        io.BufferedWriter(raw), encoding, errors="backslashreplace", line_buffering=lines
    )


def disconnect() -> None:
    """Lose output that could not be written, which the interpreter would report at its end."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, TenonError):
            with contextlib.suppress(OSError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
