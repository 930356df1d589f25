"""The places the orchestrator reads and writes.

Whatever is not a system package lives under `.tenon/` of the clone, so that removing
that one folder undoes everything. No function here touches the disk except `ensure`.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
"""The clone: the folder `./tenon` is in."""

POOL = ROOT / "pool"
BOARDS = ROOT / "boards"
TESTS = ROOT / "tests"

DOT = ROOT / ".tenon"
"""Everything fetched or built."""

CACHE = DOT / "cache"
"""What was fetched or is dear to make again; survives `./tenon clean`."""

LANE = "TENON_LANE"
"""The variable that names the lane of tests one is in, if there are several."""

BUILD = DOT / "build" / os.environ.get(LANE, "")
"""Generated image crates and packed systems: BUILD/SYSTEM/IMAGE/.

A lane has a folder of its own: what one builds, another may be building differently.
"""

TARGET = DOT / "target"
"""Cargo's target directory, shared by all images of a profile."""

RUN = DOT / "run"
"""Files of running systems: shared memory, sockets, traces."""

LOG = DOT / "log"
"""Reports of what went wrong unexpectedly, and of long sub-processes."""


def ensure(folder: Path) -> Path:
    """The folder, made if need be."""
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def shown(path: Path) -> str:
    """A path as a person would type it: relative to the working folder if below it."""
    try:
        return str(Path(path).resolve().relative_to(Path.cwd()))
    except ValueError:
        return str(path)


def command() -> str:
    """`./tenon` as a person would type it in the working folder."""
    script = ROOT / "tenon"
    found = shutil.which("tenon")
    if found is not None and Path(found).resolve() == script:
        return "tenon"
    return "./tenon" if Path.cwd() == ROOT else str(script)
