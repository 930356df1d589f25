"""The browser for tests of pages: Debian's, installed when they first run.

No other command needs one, so the bootstrap does not install it.
"""

from __future__ import annotations

import os
import shutil
import subprocess

from tenonos import paths, ui
from tenonos.settings import SETTINGS
from tenonos.setup.apt import os_release
from tenonos.setup.doctor import KNOWN_SYSTEMS

PACKAGE = "chromium"
"""Debian's package; its program has the same name."""

_INSTALL = ("apt-get", "install", "--no-install-recommends")
_RETRIES = ("-o", "Acquire::Retries=5")
_QUIETLY = (
    *("-q", "-y", *_RETRIES, "-o", "DPkg::Lock::Timeout=120", "-o", "Dpkg::Use-Pty=0"),
    "--no-remove",
)


def find() -> str | None:
    """The installed browser."""
    return shutil.which(PACKAGE)


def provide() -> None:
    """Install the browser if it is missing; fail with the reason."""
    if find() is not None:
        return
    reason = _install()
    if reason is not None:
        command = " ".join((*_INSTALL, PACKAGE))
        ui.warn(f"pages are not tested in a browser: {reason}; as root: {command}")


def _install() -> str | None:
    """Install it; the reason if that failed."""
    release = os_release()
    if (release.get("ID"), release.get("VERSION_ID")) not in KNOWN_SYSTEMS:
        return "this is neither Debian 12 nor Debian 13"
    if SETTINGS.offline:
        return "it would have to be fetched, with --offline"
    root = [] if os.geteuid() == 0 else ["sudo"]
    if root and shutil.which("sudo") is None:
        return "it takes root to install one"
    if not ui.confirm(f"Install Debian's {PACKAGE} (120 MB), to test pages in?"):
        return "it was not wanted"
    log = paths.ensure(paths.LOG) / "browser.log"
    with ui.step(f"Debian's {PACKAGE}"), log.open("wb") as file:
        for arguments in (["apt-get", "-q", *_RETRIES, "update"], [*_INSTALL, *_QUIETLY, PACKAGE]):
            done = subprocess.run(
                [*root, *arguments],
                env=dict(os.environ, DEBIAN_FRONTEND="noninteractive"),
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                check=False,
            )
            if done.returncode:
                return f"{' '.join(arguments[:2])} failed, see {paths.shown(log)}"
    return None if find() else f"{PACKAGE} is installed, but not to be found"
