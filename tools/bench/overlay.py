"""Additional files of a bench in a Linux VM's initramfs."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

from tenonos import paths
from tenonos.system import System, Vm
from tools.bench import marker


def folder(system: System, linux: Vm, files: Mapping[str, bytes] | None = None) -> Path:
    """The files of the system, the marking program, and `files`."""
    made = paths.ensure(paths.BUILD / system.name) / "root"
    shutil.rmtree(made, ignore_errors=True)
    if linux.files:
        shutil.copytree(system.folder / linux.files, made)
    for name, content in {"bin/mark": marker.program(), **(files or {})}.items():
        file = made / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
        file.chmod(0o755)
    return made
