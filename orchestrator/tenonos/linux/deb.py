"""Debian packages read without installing them: the control fields, and every file.

Debian merged /bin, /sbin and /lib into /usr in steps that differ between releases and
packages. Here all are kept where busybox and the dynamic linker look first: without /usr.
"""

from __future__ import annotations

import re
import subprocess
import tarfile
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from tenonos.errors import WorkError
from tenonos.setup.initramfs import FILE, LINK, PROGRAM, Entry

_MERGED = re.compile(r"usr/(s?bin|lib)/")


def depends(package: Path) -> tuple[str, ...]:
    """The names of the packages it depends on, of alternatives the first."""
    done = subprocess.run(
        ["dpkg-deb", "-f", str(package), "Depends"], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise WorkError(f"{package.name} is no package: {done.stderr.strip()}")
    wishes = [wish.split("|")[0] for wish in done.stdout.split(",")]
    return tuple(re.sub(r"[\s(:].*", "", wish.strip()) for wish in wishes if wish.strip())


@lru_cache(maxsize=64)
def files(package: Path) -> dict[str, Entry]:
    """Its files and links by their path below the root."""
    found = {}
    command = ["dpkg-deb", "--fsys-tarfile", str(package)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as unpack:
        assert unpack.stdout is not None
        with tarfile.open(fileobj=unpack.stdout, mode="r|") as archive:
            for member in archive:
                entry = _entry(archive, member, found)
                if entry:
                    found[entry.name] = entry
    return found


def _entry(
    archive: tarfile.TarFile, member: tarfile.TarInfo, before: dict[str, Entry]
) -> Entry | None:
    name = place(member.name)
    if member.issym():
        return Entry(name, LINK, member.linkname.encode())
    if member.islnk():  # a hard link to a file that came before it
        return Entry(name, PROGRAM, before[place(member.linkname)].content)
    if not member.isfile():
        return None
    file = archive.extractfile(member)
    assert file is not None
    return Entry(name, PROGRAM if member.mode & 0o111 else FILE, file.read())


def place(name: str) -> str:
    """Where a package's file lies here."""
    return _MERGED.sub(r"\1/", name.removeprefix("./"), count=1)


def libraries(entries: dict[str, Entry]) -> Iterator[Entry]:
    """Those that lie where the dynamic linker looks."""
    for entry in entries.values():
        if entry.name.startswith("lib/"):
            yield entry
