"""Installation of packages that few commands need into the private environment, from a lock.

The lock names everything, so nothing is resolved. With resolution, pip would choose a newer release
than the lock for a requirement with an extra, which has no hash, and refuse all.
"""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from importlib import invalidate_caches
from importlib.util import find_spec
from pathlib import Path

from tenonos import paths, ui
from tenonos.errors import InputError, WorkError
from tenonos.settings import SETTINGS

_PIP = (
    *("-m", "pip", "install", "--no-input", "--disable-pip-version-check", "--progress-bar", "off"),
    *("--retries", "10"),
    *("--no-cache-dir", "--only-binary", ":all:", "--require-hashes", "--no-deps"),
)


@dataclass(frozen=True)
class Extra:
    """Packages, and how to ask for them."""

    name: str
    module: str
    lock: Path
    size: str
    option: str | None = None
    """The option that needs it."""
    mend: str = "say yes"

    def there(self) -> bool:
        """Whether it is installed."""
        return find_spec(self.module) is not None

    def provide(self) -> None:
        """Install it if it is missing; fail with the reason."""
        if not self.there():
            self.install()

    def install(self) -> None:
        """Install it, if the user agrees."""
        if SETTINGS.offline:
            raise InputError(
                f"{self.name} is not installed", "--offline", "leave --offline out once"
            )
        if not ui.confirm(f"Install {self.name} ({self.size})?"):
            raise InputError(f"{self.name} is not installed", self.option, self.mend)
        log = paths.ensure(paths.LOG) / f"{self.module}.log"
        with ui.step(self.name), log.open("wb") as file:
            done = subprocess.run(
                [sys.executable, *_PIP, "-r", str(self.lock)],
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                check=False,
            )
        if done.returncode:
            raise WorkError(f"pip could not install {self.name}", paths.shown(log))
        invalidate_caches()
