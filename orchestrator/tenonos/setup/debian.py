"""Debian's own arm64 files: the cloud kernel, a static busybox, U-Boot, whole packages.

Each is the unmodified file out of the distribution's signed package, or the package itself. Version
and hash of a fetched file are recorded, and the same file is used from then on, so that
measurements are comparable and no network is needed; `./tenon clean --all` removes it.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import subprocess
import tarfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tenonos import paths, ui
from tenonos.errors import WorkError
from tenonos.locks import exclusive
from tenonos.settings import SETTINGS
from tenonos.setup.apt import ARCHITECTURE, PrivateApt, backports, own_archive

KERNEL = "linux-image-cloud-arm64"
BUSYBOX = "busybox-static"
U_BOOT = "u-boot-qemu"

IMAGE_MAGIC = b"ARM\x64"
"""At offset 56 of an arm64 Image (Documentation/arch/arm64/booting.rst)."""


@dataclass(frozen=True)
class Fetched:
    """One file of a package, and the package."""

    package: str
    version: str
    sha256: str
    file: str

    @property
    def path(self) -> Path:
        """The file itself."""
        return _folder() / self.file


def _folder() -> Path:
    return paths.CACHE / "debian"


def _record() -> Path:
    return _folder() / "fetched.json"


def fetched(name: str) -> Fetched | None:
    """The fetched file for `name` (kernel, busybox), if it is present and intact."""
    record = _record()
    if not record.exists():
        return None
    entry = json.loads(record.read_text()).get(name)
    if entry is None:
        return None
    found = Fetched(**entry)
    if not found.path.exists() or _sha256(found.path) != found.sha256:
        return None
    return found


def _remember(name: str, entry: Fetched) -> None:
    record = _record()
    known = json.loads(record.read_text()) if record.exists() else {}
    known[name] = vars(entry)
    part = record.with_suffix(".part")
    part.write_text(json.dumps(known, indent=2) + "\n")
    part.replace(record)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def member(package: Path, wanted: re.Pattern[str]) -> bytes:
    """The file of a .deb with a matching path, unpacked alone."""
    command = ["dpkg-deb", "--fsys-tarfile", str(package)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as unpack:
        assert unpack.stdout is not None
        with tarfile.open(fileobj=unpack.stdout, mode="r|") as archive:
            for entry in archive:
                if entry.isfile() and wanted.fullmatch(entry.name):
                    file = archive.extractfile(entry)
                    assert file is not None
                    content = file.read()
                    unpack.kill()
                    return content
    raise WorkError(f"no file like {wanted.pattern} in {package.name}")


def plain_image(content: bytes) -> bytes:
    """The arm64 Image of a kernel, decompressed if necessary."""
    if content[:2] == b"\x1f\x8b":
        content = gzip.decompress(content)
    if content[56:60] != IMAGE_MAGIC:
        raise WorkError("Debian's kernel is not an arm64 Image", mend="name a kernel by path")
    return content


@cache
def _apt(architecture: str = ARCHITECTURE, *, newer: bool = False) -> PrivateApt:
    """The private apt of an architecture; its lists are fetched once per run."""
    suites = backports if newer else own_archive
    apt = PrivateApt(architecture=architecture, suites=suites)
    apt.update()
    return apt


def _fetch(
    name: str, package: Callable[[PrivateApt], str], wanted: str, prepare: Callable[[bytes], bytes]
) -> Path:
    with exclusive(_folder()):
        found = fetched(name)
        if found:
            return found.path
        if SETTINGS.offline:
            raise WorkError(
                f"Debian's arm64 {name} is not fetched yet", mend="run once without --offline"
            )
        with ui.step(f"Fetching Debian's arm64 {name}"):
            apt = _apt()
            exact = package(apt)
            version = apt.show(exact)["Version"]
            downloaded = apt.download(exact, version, paths.ensure(_folder()))
            content = prepare(member(downloaded, re.compile(wanted)))
            target = _folder() / f"{name}-{version.replace(':', '-')}"
            part = target.with_suffix(".part")
            part.write_bytes(content)
            part.chmod(0o755)
            part.replace(target)
            downloaded.unlink()
            _remember(name, Fetched(exact, version, _sha256(target), target.name))
        return target


def _newest_kernel(apt: PrivateApt) -> str:
    """The package of the newest kernel, on which the metapackage depends."""
    depends = apt.show(KERNEL).get("Depends", "")
    match = re.search(r"linux-image-[^ ,]+-cloud-arm64", depends)
    if not match:
        raise WorkError(f"{KERNEL} depends on no kernel", mend="name a kernel by path")
    return match[0]


def kernel() -> Path:
    """Debian's cloud kernel for arm64: an unmodified, uncompressed Image."""
    return _fetch("kernel", _newest_kernel, r"\./boot/vmlinuz-.*", plain_image)


def busybox() -> Path:
    """A static arm64 busybox."""
    return _fetch("busybox", lambda _: BUSYBOX, r"\./(usr/)?bin/busybox", lambda content: content)


def u_boot() -> Path:
    """U-Boot for QEMU's generic Arm machine, linked to address 0."""
    wanted = r"\./usr/lib/u-boot/qemu_arm64/u-boot\.bin"
    return _fetch("u-boot", lambda _: U_BOOT, wanted, lambda content: content)


def package(
    name: str,
    version: str | None = None,
    architecture: str = ARCHITECTURE,
    *,
    newer: bool = False,
) -> Path:
    """A whole package, in one version if it must match something fetched before; `newer`: of the
    release's backports.

    WorkError if Debian has no package of that name.
    """
    key = f"package {name}" if architecture == ARCHITECTURE else f"package {name}:{architecture}"
    key += "/backports" if newer else ""
    with exclusive(_folder()):
        found = fetched(key)
        if found and version in (None, found.version):
            return found.path
        if SETTINGS.offline:
            raise WorkError(
                f"Debian's {name} is not fetched yet", mend="run once without --offline"
            )
        with ui.step(f"Fetching Debian's {name}"):
            apt = _apt(architecture, newer=newer)
            version = version or apt.show(name).get("Version")
            if version is None:
                raise WorkError(f"Debian has no package {name} for {architecture}")
            try:
                file = apt.download(name, version, paths.ensure(_folder() / "packages"))
            except WorkError as error:
                # A kernel of last month, with headers replaced in Debian since.
                raise WorkError(
                    error.what, mend="./tenon clean --all, for the newest of all"
                ) from None
            shown = str(file.relative_to(_folder()))
            _remember(key, Fetched(name, version, _sha256(file), shown))
        return file


def kernel_package() -> Path:
    """The package of `kernel`, with the modules of exactly that kernel."""
    kernel()
    found = fetched("kernel")
    assert found is not None
    return package(found.package, found.version)
