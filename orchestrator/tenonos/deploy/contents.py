"""Contents of a built system: libraries, crates, Debian's packages and the tools that made it."""

from __future__ import annotations

import hashlib
import re
import subprocess
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from tenonos import __version__, logs, paths
from tenonos.build.c import COMPILER
from tenonos.errors import WorkError
from tenonos.linux import boot, deb, userland
from tenonos.linux.overlay import overlay
from tenonos.setup import debian, rust
from tenonos.setup.apt import ARCHITECTURE
from tenonos.system.model import System, Vm

if TYPE_CHECKING:
    from tenonos.build import Built
    from tenonos.generate.image import Image

PICOLIBC, LIBC = "picolibc-aarch64-linux-gnu", "libc6-dev-arm64-cross"
"""The packages with the C library of Tenon's applications, and of programs for Linux."""

_TREE = re.compile(r"(\S+) v(\S+)(?: \(([^*].*?)\))?\|([^|]*)\|(\S*)")


@dataclass(frozen=True)
class Component:
    """Something that goes into the image. `key` is its identity in the bill of materials."""

    key: str
    type: str
    """As CycloneDX names it: `library`, `application`, `operating-system`, `file`."""
    name: str
    version: str = ""
    licence: str = ""
    sha256: str = ""
    purl: str = ""
    source: str = ""


@dataclass(frozen=True)
class Contents:
    """What a system is made of."""

    version: str
    """The version of TenonOS, and the commit of the clone."""
    images: dict[str, tuple[Component, ...]]
    """Components by image and VM."""
    tools: tuple[Component, ...]


def of(built: Built) -> Contents:
    """The contents of a built system."""
    system = built.system
    found = {
        image.name: tuple(_compiled(image, built.elf_files[image.name].parent))
        for image in built.images
    }
    for vm in system.guests:
        if vm.kind != "tenon":
            found[vm.name] = tuple(_foreign(system, vm))
    disks = tuple(_file(disk.file) for disk in system.memory_disks if disk.file is not None)
    if disks:
        found["disks"] = disks
    return Contents(_version(), found, tuple(_tools(built, found)))


def _version() -> str:
    commit = _output("git", "-C", str(paths.ROOT), "rev-parse", "--short=12", "HEAD")
    if not commit:
        return __version__
    changed = _output("git", "-C", str(paths.ROOT), "status", "--porcelain", "-uno")
    return f"{__version__}+{commit}" + (".changed" if changed else "")


def _compiled(image: Image, folder: Path) -> Iterator[Component]:
    """The libraries and crates of an image that cargo compiles; of a crate only what is used stays
    in the image, by link-time optimisation."""
    ids = {library.package: library for library in image.libraries}
    checksums = _checksums(folder / "Cargo.lock")
    for name, version, path, licence, source in crates(image, folder):
        if name == image.package:
            continue
        if path:
            library = ids.get(name)
            key = library.id if library else f"crate/{name}"
            yield Component(key, "library", key, version, licence, source=source)
            continue
        # The former form of a choice, which is no SPDX expression.
        licence = licence.replace("/", " OR ")
        purl = f"pkg:cargo/{name}@{version}"
        sha256 = checksums.get((name, version), "")
        yield Component(purl, "library", name, version, licence, sha256, purl, source)
    yield Component("rust/core", "library", "rust/core", rust.toolchain().release, OWN)
    if image.app is not None and image.app.sources:
        yield Component(image.app.id, "application", image.app.id)
        yield _package(PICOLIBC, _installed(PICOLIBC), "all")


def crates(image: Image, folder: Path) -> list[tuple[str, ...]]:
    """Name, version, path, licence and source of each crate that is compiled into an image."""
    command, environment = rust.cargo(
        *("tree", "--offline", "--manifest-path", str(folder / "Cargo.toml")),
        *("--target", image.target, "--edges", "normal,no-proc-macro"),
        *("--prefix", "none", "--no-dedupe", "--format", "{p}|{l}|{r}"),
    )
    command = list(dict.fromkeys(command))  # --offline once
    done = subprocess.run(
        command, env=environment, cwd=folder, capture_output=True, text=True, check=False
    )
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.startswith("error")]
        what = f"{image.name}: cargo tree: {(lines or ['it failed'])[0]}"
        raise WorkError(what, mend=logs.keep(command, done.stderr))
    matches = map(_TREE.match, sorted(set(done.stdout.splitlines())))
    return [tuple(part or "" for part in match.groups()) for match in matches if match]


def _checksums(lock: Path) -> dict[tuple[str, str], str]:
    packages = tomllib.loads(lock.read_text()).get("package", [])
    return {(p["name"], p["version"]): p["checksum"] for p in packages if "checksum" in p}


def _foreign(system: System, vm: Vm) -> Iterator[Component]:
    """The kernel, the packages and the files of a Linux VM, or of one with a prebuilt image."""
    if vm.kind == "image":
        yield from _prebuilt(system, vm)
        return
    if vm.debian_kernel:
        kernel = debian.fetched_kernel(str(vm.kernel))
        yield _package(kernel.package, kernel.version, kind="operating-system")
    else:
        yield _file(boot.kernel(system, vm), "operating-system")
    if vm.root == "disk":
        # Made by Debian's own tools from the packages of the root disk.
        yield _content("initramfs of the root disk", boot.initramfs(system, vm))
        return
    if vm.initramfs != boot.INITRAMFS:
        # A file, or a folder that is packed.
        yield _content(Path(str(vm.initramfs)).name, boot.initramfs(system, vm))
        return
    if vm.files:
        yield _content(vm.files, overlay(system.folder / vm.files))
    busybox = debian.fetched("busybox")
    if busybox is not None:
        yield _package(busybox.package, busybox.version)
    for package in userland.packages(vm.packages):
        yield _package(*deb.name_and_version(package))
    linked = [system.folder / name for name in vm.programs]
    yield from (_file(source, "application") for source in linked)
    if boot.has_tools(system, vm):
        yield Component("linux/module", "library", "linux/module", __version__, "GPL-2.0-only")
        yield Component("linux/tenonctl", "application", "linux/tenonctl", __version__, OWN)
    if linked or boot.has_tools(system, vm):
        yield _package(LIBC, _installed(LIBC), "all")


OWN = "MIT OR Apache-2.0"
"""The licence of TenonOS but for the kernel module."""


def _prebuilt(system: System, vm: Vm) -> Iterator[Component]:
    assert vm.foreign is not None
    u_boot = debian.fetched("u-boot")
    if vm.foreign.image == "u-boot" and u_boot is not None:
        yield _package(u_boot.package, u_boot.version, "all")
    for name in (vm.foreign.image, vm.foreign.device_tree, vm.initramfs):
        if name and (system.folder / name).is_file():
            yield _file(system.folder / name)


def _file(file: Path, kind: str = "file") -> Component:
    return _content(file.name, file.read_bytes(), kind)


def _content(name: str, content: bytes, kind: str = "file") -> Component:
    digest = hashlib.sha256(content).hexdigest()
    return Component(f"sha256:{digest}", kind, name, sha256=digest)


def _package(
    name: str, version: str, architecture: str = ARCHITECTURE, kind: str = "library"
) -> Component:
    """A package of Debian's."""
    at = f"@{quote(version, safe='.-_~')}" if version else ""
    purl = f"pkg:deb/debian/{quote(name, safe='.-_~')}{at}?arch={architecture}"
    return Component(purl, kind, name, version, purl=purl)


def _installed(package: str) -> str:
    """The version of a package of the host; empty if dpkg does not know it."""
    return _output("dpkg-query", "--show", "--showformat=${Version}", package)


def _tools(built: Built, found: dict[str, tuple[Component, ...]]) -> Iterator[Component]:
    """The tools that made the image."""
    yield Component("tenon", "application", "tenon", _version(), OWN)
    toolchain = rust.toolchain()
    yield Component("rustc", "application", "rustc", toolchain.release, OWN)
    own = any(toolchain.sysroot.glob("lib/rustlib/*/bin/rust-lld"))
    if not own and (lld := _number("ld.lld", "--version")):
        yield Component("lld", "application", "lld", lld)
    keys = {part.name for parts in found.values() for part in parts}
    if keys & {PICOLIBC, LIBC} and (gcc := _number(COMPILER, "-dumpfullversion")):
        yield Component("gcc", "application", COMPILER, gcc)


def _number(*command: str) -> str:
    match = re.search(r"\d+(?:\.\d+)+", _output(*command))
    return match[0] if match else ""


def _output(*command: str) -> str:
    """What a program prints; empty if it is missing or fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def unique(parts: Iterable[Component]) -> list[Component]:
    """The components without repetitions, by key."""
    return [each for _, each in sorted({part.key: part for part in parts}.items())]
