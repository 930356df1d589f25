"""Paths that the orchestrator reads and writes.

Everything except system packages is below `.tenon/` of the clone, so that removing this folder
restores the initial state. No function here touches the disk except `ensure`.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
"""The clone: the folder of `./tenon`."""

POOL = ROOT / "pool"
BOARDS = ROOT / "boards"
TESTS = ROOT / "tests"

DOT = ROOT / ".tenon"
"""All fetched and built files."""

CACHE = DOT / "cache"
"""Fetched and expensive files, which `./tenon clean` keeps."""

LANE = "TENON_LANE"
"""The variable with the name of the current lane of parallel tests."""

BUILD = DOT / "build" / os.environ.get(LANE, "")
"""Generated image crates and packed systems: BUILD/SYSTEM/IMAGE/.

Each lane has its own folder, as lanes may build with different options.
"""

TARGET = DOT / "target"
"""Cargo's target directory, shared by all images of a profile."""

RUN = DOT / "run"
"""Files of running systems: shared memory, sockets, traces."""

LOG = DOT / "log"
"""Logs of internal errors and of long sub-processes."""


def ensure(folder: Path) -> Path:
    """The folder, created if necessary."""
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def replace_file(file: Path, content: bytes, mode: int = 0o644) -> None:
    """Replace a file as a whole: other processes see its former content or this one."""
    part = file.with_name(f"{file.name}.{os.getpid()}.part")
    part.write_bytes(content)
    part.chmod(mode)
    part.replace(file)


def shown(path: Path) -> str:
    """A path for messages: relative to the working folder if below it."""
    try:
        return str(Path(path).resolve().relative_to(Path.cwd()))
    except ValueError:
        return str(path)


def command() -> str:
    """`./tenon` for messages, relative to the working folder."""
    script = ROOT / "tenon"
    found = shutil.which("tenon")
    if found is not None and Path(found).resolve() == script:
        return "tenon"
    return "./tenon" if Path.cwd() == ROOT else str(script)
