"""Folders of a system, as archives: files laid over the initramfs of its Linux VM, or its root."""

from __future__ import annotations

from pathlib import Path

from tenonos.errors import InputError
from tenonos.setup.initramfs import FILE, LINK, PROGRAM, Entry, archive, folders
from tenonos.system.model import System, Vm


def files_of(system: System, vm: Vm) -> Path:
    """The folder that a VM names as its `files`."""
    path = system.folder / str(vm.files)
    if not path.is_dir():
        its = "file tree of processes" if vm.kind == "tenon" else "initramfs"
        raise InputError(
            f'no folder "{vm.files}"',
            where=system.at(vm, "files"),
            mend=f"what is in it is put into the {its}, by its path",
        )
    return path


def overlay(folder: Path) -> bytes:
    """An archive of all that is below `folder`."""
    entries = contents(folder)
    return archive(entries) if entries else b""


def contents(folder: Path) -> list[Entry]:
    """The entries of all that is below `folder`; executable files stay executable."""
    found = {str(path.relative_to(folder)): path for path in sorted(folder.rglob("*"))}
    kept = {name: path for name, path in found.items() if path.is_symlink() or path.is_file()}
    # With empty folders: the points where an init mounts.
    parents = folders(f"{name}/-" for name in found if name not in kept)
    return [*parents, *(_entry(path, name) for name, path in kept.items())]


def _entry(path: Path, name: str) -> Entry:
    if path.is_symlink():
        return Entry(name, LINK, str(path.readlink()).encode())
    mode = PROGRAM if path.stat().st_mode & 0o111 else FILE
    return Entry(name, mode, path.read_bytes())
