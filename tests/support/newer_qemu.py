"""QEMU of Debian's backports, beside the one that is installed.

Debian 13 and the backports of Debian 12 have QEMU 10, of which the plugin interface, the cores and
the boards are newer than those of Debian 12's 7.2. The packages are fetched as those for Linux VMs
are, and unpacked in the clone: nothing is installed.
"""

import os
import shlex
import shutil
import subprocess

from tenonos import paths
from tenonos.linux.tools import machine
from tenonos.locks import exclusive
from tenonos.run import qemu
from tenonos.setup import debian

NEWER = 9
"""The first major version with the second plugin interface."""
PACKAGES = ("qemu-system-arm", "qemu-system-data")
PROGRAM = f"bin/{qemu.BINARY}"


def folder():
    """A folder for the front of the path, with a newer QEMU; it stays in the clone's cache."""
    packages = [
        debian.package(name, architecture=machine(), suite="backports") for name in PACKAGES
    ]
    root = paths.CACHE / "qemu" / packages[0].stem
    with exclusive(paths.ensure(root.parent)):
        if not root.exists():
            part = root.with_suffix(".part")
            shutil.rmtree(part, ignore_errors=True)
            for package in packages:
                subprocess.run(["dpkg-deb", "-x", package, part], check=True)
            # The folder of the installed one's data is compiled in.
            binary, data = (shlex.quote(f"{root}/usr/{name}") for name in (PROGRAM, "share/qemu"))
            script = part / qemu.BINARY
            script.write_text(f'#!/bin/sh\nexec {binary} -L {data} "$@"\n')
            script.chmod(0o755)
            part.rename(root)
    return root


def put_on_path(monkeypatch):
    """Puts a newer QEMU in front of the path, unless the installed one is newer itself."""
    if int(qemu.version().partition(".")[0] or 0) < NEWER:
        monkeypatch.setenv("PATH", f"{folder()}{os.pathsep}{os.environ['PATH']}")
