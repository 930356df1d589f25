"""RAM of the emulated machine as a shared file, and the temporary folder of a run."""

from __future__ import annotations

import mmap
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

from tenonos.system.memory_map import ColouredMemory

_SHM, _MEMORY = Path("/dev/shm"), Path("/proc/meminfo")
_PREFIX = "tenon-run-"


class Ram:
    """A read-only view of the machine's RAM.

    The emulator maps the same file, so observation costs the guests neither exits nor instructions.
    """

    def __init__(
        self, path: Path, base: int, size: int, coloured: ColouredMemory | None = None
    ) -> None:
        self.path, self.base, self.size, self.coloured = path, base, size, coloured
        with path.open("w+b") as file:
            file.truncate(size)  # sparse: only touched pages take space
        with path.open("rb") as file:
            self._view = mmap.mmap(file.fileno(), size, prot=mmap.PROT_READ, flags=mmap.MAP_SHARED)

    def read(self, address: int, size: int) -> bytes:
        """The bytes at an address of the layout, which may be in coloured memory."""
        if self.coloured is None:
            return self.at(address, size)
        return b"".join(self.at(*piece) for piece in self.coloured.pieces(address, size))

    def at(self, address: int, size: int) -> bytes:
        """The bytes at a physical address."""
        offset = address - self.base
        if offset < 0 or offset + size > self.size:
            raise ValueError(f"{address:#x}+{size:#x} is outside RAM")
        return self._view[offset : offset + size]

    def written(self, step: int = 1 << 24) -> Iterator[tuple[int, bytes]]:
        """Address and content of all written memory, in pieces of at most `step`.

        The rest of the file is holes, which a read through the map would fill.
        """
        with self.path.open("rb", buffering=0) as file:
            at = 0
            while True:
                try:
                    at = file.seek(at, os.SEEK_DATA)
                    end = min(file.seek(at, os.SEEK_HOLE), at + step)
                except OSError:  # only a hole from here on
                    return
                file.seek(at)
                data = file.read(end - at)
                yield self.base + at, data
                at += len(data)

    def close(self) -> None:
        """Unmap the view."""
        self._view.close()


class RunFolder:
    """A temporary folder of one run, removed at its end."""

    def __init__(self, ram_size: int, fallback: Path) -> None:
        self._parent = _SHM if _roomy(_SHM, ram_size) else fallback
        self.path = Path()

    def __enter__(self) -> Path:
        self._parent.mkdir(parents=True, exist_ok=True)
        _sweep(self._parent)
        self.path = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-", dir=self._parent))
        return self.path

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        shutil.rmtree(self.path, ignore_errors=True)


def _sweep(parent: Path) -> None:
    """Remove the folders of killed runs: those of processes that no longer exist."""
    for folder in parent.glob(f"{_PREFIX}*-*"):
        owner = folder.name.removeprefix(_PREFIX).split("-")[0]
        if owner.isdecimal() and not Path("/proc", owner).exists() and Path("/proc/self").exists():
            shutil.rmtree(folder, ignore_errors=True)


def _roomy(folder: Path, size: int) -> bool:
    # Half as much in reserve: another run may be growing into the same space. Files of a folder in
    # memory are never written back, so that memory has to suffice as well.
    room = size + size // 2
    in_reach = os.access(folder, os.W_OK) and shutil.disk_usage(folder).free > room
    return in_reach and _available() > room


def _available() -> int:
    """Bytes of memory that the host has for programs; without that figure, any number."""
    try:
        found = re.search(r"^MemAvailable: +(\d+) kB$", _MEMORY.read_text(), re.MULTILINE)
    except OSError:
        found = None
    return int(found[1]) << 10 if found else 1 << 62
