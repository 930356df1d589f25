"""Installation of LightRAG into the private environment, on first use of its retrieval.

It brings some sixty packages, which no other command needs.
"""

from __future__ import annotations

import subprocess
import sys
from importlib import invalidate_caches
from importlib.util import find_spec

from tenonos import paths, ui
from tenonos.errors import InputError, WorkError
from tenonos.settings import SETTINGS

LOCK = paths.ROOT / "orchestrator" / "lightrag.lock"
_QUESTION = "Install LightRAG (60 packages, 90 MB to fetch, 300 MB on disk)?"
# The lock file lists everything, so nothing is resolved. With resolution, pip would choose a newer
# release than the lock for a requirement with an extra, which has no hash, and refuse all.
_PIP = (
    *("-m", "pip", "install", "--no-input", "--disable-pip-version-check", "--progress-bar", "off"),
    *("--no-cache-dir", "--only-binary", ":all:", "--require-hashes", "--no-deps"),
    *("-r", str(LOCK)),
)


def there() -> bool:
    """Whether it is installed."""
    return find_spec("lightrag") is not None


def provide() -> None:
    """Install it if it is missing; fail with the reason."""
    if there():
        return
    if SETTINGS.offline:
        raise InputError("LightRAG is not installed", "--offline", "leave --offline out once")
    if not ui.confirm(_QUESTION):
        raise InputError("LightRAG is not installed", "--retrieval", "say yes, or use fused")
    log = paths.ensure(paths.LOG) / "lightrag.log"
    with ui.step("LightRAG"), log.open("wb") as file:
        done = subprocess.run(
            [sys.executable, *_PIP],
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            check=False,
        )
    if done.returncode:
        raise WorkError("pip could not install LightRAG", paths.shown(log))
    invalidate_caches()
