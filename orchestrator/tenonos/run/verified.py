"""The image that a run starts: what was built, whatever another process builds in its place."""

import hashlib
import os
from dataclasses import replace
from pathlib import Path

from tenonos.errors import WorkError
from tenonos.paths import shown
from tenonos.run.target import Target


def opened(target: Target) -> tuple[Target, tuple[int, ...]]:
    """The target with its image as an open file, and the descriptor for the emulator to inherit;
    `WorkError` if its content is not what was built."""
    if target.digest is None:
        return target, ()
    try:
        # A build replaces the file as a whole: the open one stays as it is.
        descriptor = os.open(target.image, os.O_RDONLY)
    except OSError as error:
        raise _other(target, error.strerror or "unreadable") from None
    with open(descriptor, "rb", closefd=False) as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if digest != target.digest:
        os.close(descriptor)
        raise _other(target, "another build has replaced it")
    return replace(target, image=Path(f"/dev/fd/{descriptor}")), (descriptor,)


def _other(target: Target, why: str) -> WorkError:
    return WorkError(
        f"{shown(target.image)} is not what was built for {target.name}: {why}",
        mend="run it again, while nothing else builds it",
    )
