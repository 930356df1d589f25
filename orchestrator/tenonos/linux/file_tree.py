"""Files of the processes of a Tenon VM: Debian's packages and a folder, as one archive."""

from __future__ import annotations

from pathlib import PurePosixPath

from elftools.common.exceptions import ELFError

from tenonos.errors import InputError
from tenonos.linux.overlay import contents, files_of
from tenonos.linux.userland import closure, libraries, needed
from tenonos.setup import debian
from tenonos.setup.initramfs import Entry, archive
from tenonos.system.model import System, Vm

C_LIBRARY = "libc6"
"""The package with the dynamic loader and the libraries that each dynamic program needs."""


def _libraries(system: System, vm: Vm, names: set[str]) -> dict[str, Entry]:
    """The shared libraries that programs of the folder need: those of the C library."""
    found = libraries([debian.package(C_LIBRARY)], names)
    if lacks := names - {PurePosixPath(name).name for name in found}:
        raise InputError(
            f"programs in {vm.files} need {', '.join(sorted(lacks))}",
            where=system.at(vm, "files"),
            mend="name the package with it in packages",
        )
    return found


def _needed(entry: Entry) -> list[str]:
    """The libraries of a program; a file that is none has none, and `execve` refuses it."""
    try:
        return needed(entry)
    except ELFError:
        return []


def file_tree(system: System, vm: Vm) -> bytes:
    """The archive; files of the folder replace those of packages."""
    names = sorted(set(vm.packages))
    found: dict[str, Entry] = {}
    if names:
        packages = [debian.package(name) for name in names]
        found |= {entry.name: entry for entry in closure(packages, debian.package)}
    if vm.files:
        own = {entry.name: entry for entry in contents(files_of(system, vm))}
        found |= own
        lacks = {name for entry in own.values() for name in _needed(entry)}
        lacks -= {PurePosixPath(name).name for name in found}
        if lacks:
            found |= _libraries(system, vm, lacks)
    return archive(list(found.values()), pages=True)
