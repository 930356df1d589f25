"""Additional files of a bench: in a Linux VM's initramfs, or in the file tree of processes."""

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
    return put(made, {"bin/mark": marker.program(), **(files or {})})


def put(folder: Path, files: Mapping[str, bytes]) -> Path:
    """The folder, with executable files by their paths in it."""
    for name, content in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
        file.chmod(0o755)
    return folder
