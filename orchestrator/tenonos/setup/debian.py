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
from tenonos.linux import deb
from tenonos.locks import exclusive
from tenonos.settings import SETTINGS
from tenonos.setup.apt import ARCHITECTURE, BACKPORTS, PrivateApt

IMAGE = "linux-image-"
"""What names of kernel packages begin with."""
KERNEL = f"{IMAGE}cloud-arm64"
CLOUD = "debian-cloud"
"""The name of `KERNEL` in a system."""
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
    suite: str | None = None
    """The suite that it is from, if it is not of the release itself."""

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
def private_apt(architecture: str = ARCHITECTURE, suite: str | None = None) -> PrivateApt:
    """The private apt of an architecture; its lists are fetched once per run."""
    apt = PrivateApt(architecture=architecture, suite=suite)
    apt.update()
    return apt


def _online(what: str) -> None:
    """Refuse to fetch what may not be fetched."""
    if SETTINGS.offline:
        raise WorkError(f"Debian's {what} is not fetched yet", mend="run once without --offline")


def _fetch(
    name: str, package: Callable[[PrivateApt], str], wanted: str, prepare: Callable[[bytes], bytes]
) -> Path:
    with exclusive(_folder()):
        found = fetched(name)
        if found:
            return found.path
        _online(f"arm64 {name}")
        with ui.step(f"Fetching Debian's arm64 {name}"):
            apt = private_apt()
            exact = package(apt)
            version = apt.show(exact)["Version"]
            downloaded = apt.download(exact, version, paths.ensure(_folder()))
            content = prepare(member(downloaded, re.compile(wanted)))
            target = _folder() / f"{name}-{version.replace(':', '-')}"
            paths.replace_file(target, content, 0o755)
            downloaded.unlink()
            _remember(name, Fetched(exact, version, _sha256(target), target.name))
        return target


def kernel(name: str = CLOUD) -> Path:
    """An arm64 kernel of Debian's, by its name in a system: an unmodified, uncompressed Image."""
    if found := fetched(_kernel_key(name)):
        return found.path
    package_name, _, suite = (KERNEL if name == CLOUD else name).partition("/")
    with exclusive(_folder()):
        _online(f"kernel {package_name}")
        exact, version = _newest_kernel(private_apt(suite=suite or None), package_name)
    parts = _kernel_packages(exact, version, suite or None)
    wanted = re.compile(r"\./boot/vmlinuz-.*|\./usr/lib/modules/[^/]+/vmlinuz")
    # From Linux 7 on, a package of its own has the image.
    holder = next((part for part in parts if "linux-binary" in part.name), parts[0])
    content = plain_image(member(holder, wanted))
    with exclusive(_folder()):
        target = _folder() / f"kernel-{exact.removeprefix(IMAGE)}-{version.replace(':', '-')}"
        paths.replace_file(target, content, 0o755)
        entry = Fetched(exact, version, _sha256(target), target.name, suite or None)
        _remember(_kernel_key(name), entry)
    return target


def fetched_kernel(name: str = CLOUD) -> Fetched:
    """The package of a kernel, with its version."""
    kernel(name)
    found = fetched(_kernel_key(name))
    assert found is not None
    return found


def kernel_packages(name: str = CLOUD) -> list[Path]:
    """The packages of a kernel, with the modules of exactly that kernel."""
    found = fetched_kernel(name)
    return _kernel_packages(found.package, found.version, found.suite)


def _kernel_packages(name: str, version: str, suite: str | None) -> list[Path]:
    image = package(name, version, suite=suite)
    release = name.removeprefix(IMAGE)
    own = [other for other in deb.depends(image) if other.endswith(f"-{release}")]
    return [image, *(package(other, version, suite=suite) for other in own)]


def _kernel_key(name: str) -> str:
    return "kernel" if name == CLOUD else f"kernel {name}"


def _newest_kernel(apt: PrivateApt, name: str) -> tuple[str, str]:
    """The package of the newest kernel, on which a metapackage depends, and its version."""
    try:
        fields = apt.show(name)
        flavour = re.escape(name.removeprefix(IMAGE))
        if match := re.search(rf"{IMAGE}\d[^ ,]*-{flavour}", fields.get("Depends", "")):
            fields = apt.show(match[0])
    except WorkError:
        fields = {}
    if "Version" not in fields:
        raise WorkError(
            f"Debian has no kernel {name} for {apt.architecture}",
            mend=f"name {KERNEL} or {IMAGE}rt-arm64, with /{BACKPORTS} for a newer one",
        )
    return fields["Package"], fields["Version"]


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
    suite: str | None = None,
) -> Path:
    """A whole package, in one version if it must match something fetched before; `suite`: of
    another suite than the release, such as its `backports`.

    WorkError if Debian has no package of that name.
    """
    key = f"package {name}" if architecture == ARCHITECTURE else f"package {name}:{architecture}"
    key += f"/{suite}" if suite else ""
    with exclusive(_folder()):
        found = fetched(key)
        if found and version in (None, found.version):
            return found.path
        _online(name)
        with ui.step(f"Fetching Debian's {name}"):
            apt = private_apt(architecture, suite)
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
            _remember(key, Fetched(name, version, _sha256(file), shown, suite))
        return file
