"""Files of the processes of a Tenon VM: Debian's packages and a folder, as one archive."""

from __future__ import annotations

from tenonos.linux.overlay import contents, files_of
from tenonos.linux.userland import closure
from tenonos.setup import debian
from tenonos.setup.initramfs import Entry, archive
from tenonos.system.model import System, Vm


def file_tree(system: System, vm: Vm) -> bytes:
    """The archive; files of the folder replace those of packages."""
    names = sorted(set(vm.packages))
    found: dict[str, Entry] = {}
    if names:
        packages = [debian.package(name) for name in names]
        found |= {entry.name: entry for entry in closure(packages, debian.package)}
    if vm.files:
        found |= {entry.name: entry for entry in contents(files_of(system, vm))}
    return archive(list(found.values()))
