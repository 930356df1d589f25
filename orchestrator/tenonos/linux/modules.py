"""Kernel modules in the initramfs of a Linux VM, loaded before the shell.

Debian's package has no modules.dep (depmod writes it at installation), so what a module
depends on is read from the module itself, as depmod does.
"""

from __future__ import annotations

import lzma
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from pathlib import PurePosixPath

from tenonos.errors import InputError
from tenonos.linux import deb
from tenonos.linux.artifact_cache import kept
from tenonos.setup import debian
from tenonos.setup.initramfs import FILE, Entry, archive, folders

LIST = "etc/modules"
"""The file with the modules in the order of loading, for init."""


def modules(
    names: Iterable[str], where: str, own: Sequence[Entry] = (), kernel: str = debian.CLOUD
) -> bytes:
    """An archive with modules of a Debian kernel, their dependencies, and our own modules."""
    names = list(names)
    if not names and not own:
        return b""
    packages = debian.kernel_packages(kernel)
    files = {name: entry for each in packages for name, entry in deb.files(each).items()}
    recipe = [*(each.name for each in packages), *names, *(entry.name for entry in own)]
    return kept(
        "modules",
        [*map(str.encode, recipe), *(entry.content for entry in own)],
        lambda: archive(_entries(names, files, where, own)),
    )


def _entries(
    names: list[str], package: dict[str, Entry], where: str, own: Sequence[Entry]
) -> list[Entry]:
    loaded: dict[str, Entry] = {}
    files = {normal(name): entry for name, entry in package.items() if ".ko" in name}
    for name in names:
        _load(normal(name), files, builtin(package), loaded, where)
    all_of_them = [*loaded.values(), *own]
    order = Entry(LIST, FILE, "".join(f"/{entry.name}\n" for entry in all_of_them).encode())
    listed = [order, *all_of_them]
    return [*folders(entry.name for entry in listed), *listed]


def _load(
    name: str,
    files: dict[str, Entry],
    inside: set[str],
    loaded: dict[str, Entry],
    where: str,
) -> None:
    """Add a module to `loaded` after its dependencies."""
    if name in loaded or name in inside:
        return
    if name not in files:
        close = get_close_matches(name, [*files, *inside], 1, 0.6)
        raise InputError(
            f'Debian\'s kernel has no module "{name}"',
            where=where,
            mend=f"did you mean {close[0]}?" if close else "modinfo names those of a Debian system",
        )
    content = plain(files[name])
    for other in dependencies(content):
        _load(normal(other), files, inside, loaded, where)
    loaded[name] = Entry(f"lib/modules/{name}.ko", FILE, content)


def normal(name: str) -> str:
    """A module's name in the kernel: that of its file, with underscores."""
    return PurePosixPath(name).name.partition(".ko")[0].replace("-", "_")


def builtin(package: dict[str, Entry]) -> set[str]:
    """The modules that are part of the kernel and need no loading."""
    lists = [entry for name, entry in package.items() if name.endswith("/modules.builtin")]
    return {normal(line) for entry in lists for line in entry.content.decode().split()}


def plain(entry: Entry) -> bytes:
    """The uncompressed content of a module."""
    return lzma.decompress(entry.content) if entry.name.endswith(".xz") else entry.content


def dependencies(content: bytes) -> list[str]:
    """The dependencies of a module, from its .modinfo (zero-terminated strings `key=value`)."""
    for text in content.split(b"\0"):
        if text.startswith(b"depends="):
            return [name for name in text[8:].decode().split(",") if name]
    return []
