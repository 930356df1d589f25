"""Build of the module `tenon` and the programs of `linux/` for Linux VMs.

The module is built out of tree against the headers of Debian's kernel, all from Debian's signed
packages: the headers of this kernel for arm64, those all kernels share, and the programs of the
kernel's build system for the host. Programs are linked statically with `libtenon`, so that they
need nothing beside busybox.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from tenonos import logs, paths, ui
from tenonos.errors import WorkError
from tenonos.linux import deb
from tenonos.linux.artifact_cache import kept
from tenonos.locks import exclusive
from tenonos.setup import debian
from tenonos.setup.initramfs import FILE, PROGRAM, Entry

SOURCES = paths.ROOT / "linux"
CROSS = "aarch64-linux-gnu-"
_DEBIAN = {"x86_64": "amd64", "aarch64": "arm64"}
"""Debian's names of host architectures."""

LIBRARY = "libtenon"
"""The library's folder in `linux/`."""

_FLAGS = (
    *("-std=gnu11", "-Os", "-Wall", "-Wextra", "-Werror"),
    # The library of hyplets is compiled into them.
    "-mno-outline-atomics",
)
_ERROR = re.compile(
    r"^(?P<file>[^:\n]+):(?P<line>\d+):(?:\d+:)? (?:fatal )?error: (?P<what>.*)$", re.MULTILINE
)
_INCLUDE = (f"-I{SOURCES / 'include'}", f"-I{SOURCES / 'include/uapi'}")


def module(name: str = debian.CLOUD) -> Entry:
    """The kernel module, for a kernel of Debian's."""
    kernel = debian.fetched_kernel(name)
    recipe = [kernel.package.encode(), kernel.version.encode(), _compiler(), *_read("module")]
    content = kept("module", recipe, lambda: _make_own(kernel))
    return Entry("lib/modules/tenon.ko", FILE, content)


def program(name: str) -> Entry:
    """A program, by its folder."""
    sources = sorted((SOURCES / name).glob("*.c"))
    recipe = [_compiler(), *_read(name, LIBRARY)]
    content = kept(name, recipe, lambda: _link(name, sources))
    return Entry(f"bin/{name}", PROGRAM, content)


def _read(*folders: str) -> list[bytes]:
    """The inputs of a part of `linux/`: its sources, the headers, this file."""
    found = [Path(__file__)]
    for folder in (*folders, "include"):
        found += sorted(file for file in (SOURCES / folder).rglob("*") if file.is_file())
    return [part for file in found for part in (file.name.encode(), file.read_bytes())]


def _compiler() -> bytes:
    return _run([f"{CROSS}gcc", "--version"]).encode()


def _make_own(kernel: debian.Fetched) -> bytes:
    release = kernel.package.removeprefix(debian.IMAGE)
    folder = paths.ensure(paths.BUILD / "module")
    with ui.step(f"Building the module for Linux {release}"), exclusive(folder):
        work = folder / release
        shutil.rmtree(work, ignore_errors=True)
        shutil.copytree(SOURCES, work)
        return make(kernel, work, "tenon.ko")


def make(kernel: debian.Fetched, work: Path, name: str) -> bytes:
    """Build a module of `module/` in a copy of `linux/`."""
    build = _headers(kernel)
    settings = {
        "ARCH": "arm64",
        # The kernel's own compiler may be of another release.
        "CC": f"{CROSS}gcc",
        "CONFIG_DEBUG_INFO_BTF_MODULES": "",
        "CROSS_COMPILE": CROSS,
        "DEB_HOST_GNU_TYPE": CROSS.rstrip("-"),
        "DEB_BUILD_ARCH": machine(),
        "DEB_HOST_ARCH": "arm64",
        "M": str(work / "module"),
    }
    _run(["make", "-C", str(build), *(f"{k}={v}" for k, v in settings.items()), "modules"])
    # Debugging information would contain paths of this machine.
    _run([f"{CROSS}strip", "--strip-debug", str(work / "module" / name)])
    return (work / "module" / name).read_bytes()


def _headers(kernel: debian.Fetched) -> Path:
    """The folder to build modules in, from unpacked header packages."""
    release, version = kernel.package.removeprefix(debian.IMAGE), kernel.version
    root = paths.CACHE / "linux" / f"headers-{release}-{version}"
    build = root / "usr/src" / f"linux-headers-{release}"
    own = debian.package(f"linux-headers-{release}", version, suite=kernel.suite)
    common, kbuild = _others(own)
    makefile = build / "Makefile"
    with exclusive(root.parent):
        if not root.exists():
            part = root.with_suffix(".part")
            shutil.rmtree(part, ignore_errors=True)
            shared = debian.package(common, version, suite=kernel.suite)
            programs = debian.package(kbuild, architecture=machine(), suite=kernel.suite)
            for package in (own, shared, programs):
                _run(["dpkg-deb", "-x", str(package), str(part)])
            part.rename(root)
        # Installed, they are in /usr/src.
        before = makefile.read_text()
        text = re.sub(r"[^\s=]*/usr/src/", f"{root}/usr/src/", before)
        if text != before:
            makefile.write_text(text)
    return build


def _others(headers: Path) -> tuple[str, str]:
    """The packages that the headers need: the common headers, and the build system."""
    names = deb.depends(headers)
    common = [name for name in names if name.endswith("-common")]
    kbuild = [name for name in names if name.startswith("linux-kbuild-")]
    if not common or not kbuild:
        raise WorkError(f"{headers.name} does not name what modules are built with")
    return common[0], kbuild[0]


def machine() -> str:
    """The name that Debian has for this machine's architecture."""
    machine = platform.machine()
    if machine not in _DEBIAN:
        raise WorkError(f"Debian's kernel headers are not for building on {machine}")
    return _DEBIAN[machine]


def own(source: Path) -> Entry:
    """A program of a system, built from one C file and the headers here."""
    # With the files that it includes.
    included = _run([f"{CROSS}gcc", *_FLAGS, *_INCLUDE, "-E", str(source)])
    recipe = [_compiler(), source.read_bytes(), included.encode(), *_read(LIBRARY)]
    content = kept("program", recipe, lambda: _link(source.stem, [source]))
    return Entry(f"bin/{source.stem}", PROGRAM, content)


def library() -> bytes:
    """The library, as an archive."""
    return kept(f"{LIBRARY}.a", [_compiler(), *_read(LIBRARY)], _archive)


def _archive() -> bytes:
    with ui.step(f"Building {LIBRARY}"):
        work = paths.ensure(paths.BUILD / LIBRARY)
        objects = []
        for source in sorted((SOURCES / LIBRARY).glob("*.c")):
            objects.append(str(work / f"{source.stem}.o"))
            _compile("-c", "-o", objects[-1], str(source))
        archive = work / f"{LIBRARY}.a"
        archive.unlink(missing_ok=True)
        # Without times and owners: the same sources make the same bytes.
        _run([f"{CROSS}ar", "rcsD", str(archive), *objects])
        return archive.read_bytes()


def _link(name: str, sources: Iterable[Path]) -> bytes:
    archive = library()
    with ui.step(f"Building {name}"), TemporaryDirectory(dir=paths.ensure(paths.BUILD)) as work:
        used, target = Path(work) / f"{LIBRARY}.a", Path(work) / name
        used.write_bytes(archive)
        files = [str(file) for file in sources]
        _compile("-static", "-s", "-o", str(target), *files, str(used))
        return target.read_bytes()


def _compile(*arguments: str) -> None:
    _run([f"{CROSS}gcc", *_FLAGS, *_INCLUDE, *arguments])


def _run(command: Sequence[str]) -> str:
    """The output of a tool. If it fails, WorkError with its first message, and all in a log."""
    try:
        done = subprocess.run(
            command,
            env=dict(os.environ, LC_ALL="C"),
            capture_output=True,
            text=True,
            check=False,
        )
    except FileNotFoundError:
        raise WorkError(
            f"{command[0]} is not installed", mend="./tenon doctor says what is missing"
        ) from None
    if done.returncode:
        raise _failure(command, done)
    return done.stdout


def _failure(command: Sequence[str], done: subprocess.CompletedProcess[str]) -> WorkError:
    mend = logs.keep(command, done.stdout + done.stderr)
    if error := _ERROR.search(done.stderr):
        return WorkError(error["what"], f"{paths.shown(Path(error['file']))}:{error['line']}", mend)
    messages = done.stderr.splitlines()
    lines = [line for line in messages if "rror" in line or "undefined reference" in line]
    reason = (lines or messages or [f"it ended with status {done.returncode}"])[0]
    return WorkError(f"{command[0]}: {reason.strip()}", mend=mend)
