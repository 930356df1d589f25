"""Debian packages read without installing them: control fields and files, by python-debian.

Debian merged /bin, /sbin and /lib into /usr in steps that differ between releases and
packages. Here all files are placed without /usr, where busybox and the dynamic linker look first.
"""

from __future__ import annotations

import re
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from tenonos.errors import WorkError
from tenonos.setup.initramfs import FILE, LINK, PROGRAM, Entry

if TYPE_CHECKING:
    from debian.debfile import DebFile

_MERGED = re.compile(r"usr/(s?bin|lib)/")


def depends(package: Path) -> tuple[str, ...]:
    """The names of the packages it depends on; of alternatives the first."""
    from debian.deb822 import PkgRelation

    with opened(package) as content:
        fields = content.debcontrol()
    wishes = ", ".join(fields[key] for key in ("Pre-Depends", "Depends") if key in fields)
    if not wishes:
        return ()
    return tuple(
        str(alternatives[0]["name"])
        for alternatives in PkgRelation.parse_relations(wishes)
        if alternatives[0]["name"]
    )


def name_and_version(package: Path) -> tuple[str, str]:
    """The package's name, and its version."""
    with opened(package) as content:
        fields = content.debcontrol()
    return str(fields["Package"]), str(fields["Version"])


@lru_cache(maxsize=64)
def files(package: Path) -> dict[str, Entry]:
    """Its files and links by their path below the root."""
    found: dict[str, Entry] = {}
    with opened(package) as content:
        archive = content.data.tgz()
        for member in archive:
            entry = _entry(archive, member, found)
            if entry:
                found[entry.name] = entry
    return found


@contextmanager
def opened(package: Path) -> Iterator[DebFile]:
    """A package, open to be read."""
    # Loaded here: only a Linux VM with programs of Debian's needs the library.
    from debian.debfile import ArError, DebError, DebFile

    try:
        with DebFile(str(package)) as content:
            yield content
    except (ArError, DebError) as error:
        raise WorkError(f"{package.name} is not a Debian package: {error}") from None


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
    """The path of a package's file in the initramfs."""
    return _MERGED.sub(r"\1/", name.removeprefix("./"), count=1)


def libraries(entries: dict[str, Entry]) -> Iterator[Entry]:
    """The files in folders of the dynamic linker."""
    for entry in entries.values():
        if entry.name.startswith("lib/"):
            yield entry
