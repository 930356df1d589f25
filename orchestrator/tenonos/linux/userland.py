"""Debian programs in the initramfs, with the shared libraries that they are linked with.

A named package is included whole, without documentation. Of its dependencies only the shared
libraries that programs need to start (DT_NEEDED, ELF gABI) are included, found by searching the
dependencies as far as needed: a measuring tool must not bring an interpreter or a graphics stack
into a Linux of a few megabytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from io import BytesIO
from pathlib import Path, PurePosixPath

from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile

from tenonos.errors import WorkError
from tenonos.linux import deb
from tenonos.linux.artifact_cache import kept
from tenonos.setup import debian
from tenonos.setup.initramfs import LINK, Entry, archive, folders

_LEFT_OUT = ("usr/share/doc", "usr/share/man", "usr/share/info", "usr/share/locale",
             "usr/share/lintian", "usr/share/bash-completion")  # fmt: skip

_MERGED = [Entry(f"usr/{name}", LINK, f"../{name}".encode()) for name in ("bin", "lib", "sbin")]

Get = Callable[[str], Path]


def programs(names: Iterable[str], get: Get = debian.package) -> bytes:
    """An archive of the named packages, cached by their versions."""
    packages = [get(name) for name in sorted(set(names))]
    if not packages:
        return b""
    recipe = [_source(), *(package.name.encode() for package in packages)]
    return kept("packages", recipe, lambda: archive(closure(packages, get)))


def packages(names: Iterable[str], get: Get = debian.package) -> list[Path]:
    """The named packages, and those with the libraries that they need."""
    named = [get(name) for name in sorted(set(names))]
    used = dict.fromkeys(named)
    if named:
        closure(named, get, used)
    return sorted(used)


def _source() -> bytes:
    """The code that selects files, an input of the cache."""
    return Path(__file__).read_bytes() + Path(deb.__file__).read_bytes()


def closure(packages: list[Path], get: Get, used: dict[Path, None] | None = None) -> list[Entry]:
    """The files of packages and their libraries, folders first. `used` receives the packages that
    the libraries are from."""
    taken: dict[str, Entry] = {}
    for package in packages:
        whole = {name: entry for name, entry in deb.files(package).items() if _wanted(name)}
        taken |= whole
        _link(package, whole, taken, get, {} if used is None else used)
    names = ["usr/-", "bin/-", "lib/-", "sbin/-", *taken]
    return [*folders(names), *_MERGED, *(taken[name] for name in sorted(taken))]


def libraries(packages: list[Path], sonames: set[str]) -> dict[str, Entry]:
    """Those of these libraries that packages have, with libraries of the same packages that they
    need."""
    found: dict[str, Entry] = {}
    wanted = set(sonames)
    while wanted:
        new = {name: e for package in packages for name, e in _of(package, wanted).items()}
        found |= new
        named = {soname for entry in new.values() for soname in needed(entry)}
        wanted = named - {PurePosixPath(name).name for name in found}
        if not new:
            break
    return found


def _wanted(name: str) -> bool:
    return not name.startswith(_LEFT_OUT)


def _link(
    package: Path,
    new: dict[str, Entry],
    taken: dict[str, Entry],
    get: Get,
    used: dict[Path, None],
) -> None:
    """Add to `taken` the libraries that `new`, files of `package`, need to be loaded, and to `used`
    their packages."""
    missing = {soname for entry in new.values() for soname in needed(entry)}
    missing -= {PurePosixPath(name).name for name in taken}
    sources: list[Callable[[], Path]] = [lambda: package]
    # dpkg-shlibdeps lists the package of every library as a dependency.
    direct = deb.depends(package)
    sources += [partial(get, name) for name in sorted(direct, key=partial(_unlikely, missing))]
    for source in sources:
        if not missing:
            return
        found = source()
        libraries = _of(found, missing)
        missing -= {PurePosixPath(name).name for name in libraries}
        taken |= libraries
        if libraries:
            used[found] = None
            _link(found, libraries, taken, get, used)
    if missing:
        raise WorkError(
            f"no package that {package.name} depends on has {', '.join(sorted(missing))}"
        )


def _unlikely(missing: set[str], package: str) -> tuple[bool, bool]:
    """Sort key of dependencies: packages are named after their libraries."""
    stems = [soname.partition(".so")[0].rstrip("0123456789-.").lower() for soname in missing]
    return not any(package.startswith(stem) for stem in stems), not package.startswith("lib")


def _of(package: Path, sonames: set[str]) -> dict[str, Entry]:
    """The libraries of these names in a package, with the targets of their links."""
    entries = deb.files(package)
    found: dict[str, Entry] = {}
    for entry in deb.libraries(entries):
        if PurePosixPath(entry.name).name not in sonames:
            continue
        found[entry.name] = entry
        while entry.mode == LINK:
            target = _resolved(entry)
            if target not in entries:
                break
            entry = entries[target]
            found[entry.name] = entry
    return found


def _resolved(link: Entry) -> str:
    """The target of a link, below the root."""
    target = link.content.decode()
    path = PurePosixPath(target if target.startswith("/") else f"/{link.name}/../{target}")
    parts: list[str] = []
    for part in path.parts[1:]:
        parts = parts[:-1] if part == ".." else [*parts, part]
    return deb.place("/".join(parts))


def needed(entry: Entry) -> list[str]:
    """The shared libraries that a file needs."""
    if entry.mode == LINK or entry.content[:4] != b"\x7fELF":
        return []
    dynamic = ELFFile(BytesIO(entry.content)).get_section_by_name(".dynamic")
    if not isinstance(dynamic, DynamicSection):
        return []
    return [tag.needed for tag in dynamic.iter_tags("DT_NEEDED")]
