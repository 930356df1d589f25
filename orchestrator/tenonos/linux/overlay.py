"""Files of a system, laid over the initramfs of its Linux VM."""

from __future__ import annotations

from pathlib import Path

from tenonos.setup.initramfs import FILE, LINK, PROGRAM, Entry, archive, folders


def overlay(folder: Path) -> bytes:
    """An archive of all files below `folder`; executable files stay executable."""
    entries = [
        _entry(path, str(path.relative_to(folder)))
        for path in sorted(folder.rglob("*"))
        if path.is_symlink() or path.is_file()
    ]
    return archive([*folders(entry.name for entry in entries), *entries]) if entries else b""


def _entry(path: Path, name: str) -> Entry:
    if path.is_symlink():
        return Entry(name, LINK, str(path.readlink()).encode())
    mode = PROGRAM if path.stat().st_mode & 0o111 else FILE
    return Entry(name, mode, path.read_bytes())
