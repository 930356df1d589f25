"""A file tree of unpacked Debian packages with the database of dpkg, as a tar archive.

It is what `dpkg --unpack` leaves: `dpkg --configure -a` in it, on a machine of its architecture,
completes the installation. So no maintainer script or program of that architecture runs
here. /bin, /lib and /sbin are links into /usr (merged /usr) from the beginning.
"""

from __future__ import annotations

import io
import re
import subprocess
import tarfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from tenonos.errors import WorkError
from tenonos.linux.deb import opened

_MERGED = ("bin", "lib", "sbin")
_DPKG = "var/lib/dpkg"
_SCRIPTS = ("preinst", "postinst", "prerm", "postrm", "config")


def write(target: Path, packages: Iterable[Path], files: Mapping[str, tuple[int, str]]) -> None:
    """Write the archive of packages; `files` are further ones, by path: mode and content."""
    status: list[str] = []
    interests: dict[str, list[str]] = {}
    with tarfile.open(target, "w", format=tarfile.GNU_FORMAT) as archive:
        for name in ("usr", *(f"usr/{name}" for name in _MERGED)):
            archive.addfile(_folder(name))
        for name in _MERGED:
            archive.addfile(_link(name, f"usr/{name}"))
        for package in packages:
            names = _add_files(archive, package)
            stanza = _add_control(archive, package, names, interests)
            status.append(stanza)
        for name, lines in interests.items():
            _add_file(archive, f"{_DPKG}/triggers/{name}", "".join(lines))
        _add_file(archive, f"{_DPKG}/status", "\n".join(status))
        _add_file(archive, f"{_DPKG}/available", "")
        for name, (mode, text) in files.items():
            _add_file(archive, name, text, mode)


def _add_files(archive: tarfile.TarFile, package: Path) -> list[str]:
    """Add the files of a package; their paths as the package states them."""
    names = []
    command = ["dpkg-deb", "--fsys-tarfile", str(package)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as unpack:
        assert unpack.stdout is not None
        try:
            with tarfile.open(fileobj=unpack.stdout, mode="r|") as source:
                for member in source:
                    names.append("/." if member.name == "." else member.name.removeprefix("."))
                    member.name = _merged(member.name)
                    if member.islnk():
                        member.linkname = _merged(member.linkname)
                    content = source.extractfile(member) if member.isfile() else None
                    if member.name not in ("", ".", *_MERGED):
                        archive.addfile(member, content)
        except tarfile.TarError as error:
            raise WorkError(f"{package.name} is not a Debian package: {error}") from None
    return names


def _merged(name: str) -> str:
    """A path with what is in /bin, /lib and /sbin below /usr."""
    name = name.removeprefix("./")
    return re.sub(rf"^({'|'.join(_MERGED)})/", r"usr/\1/", name)


def _add_control(
    archive: tarfile.TarFile, package: Path, names: list[str], interests: dict[str, list[str]]
) -> str:
    """Add the control files of a package; its paragraph of dpkg's status."""
    with opened(package) as content:
        control = content.control
        fields = control.debcontrol()
        name = str(fields["Package"])
        known = name
        if fields.get("Multi-Arch") == "same":
            known += f":{fields['Architecture']}"
        _add_file(archive, f"{_DPKG}/info/{known}.list", "".join(f"{path}\n" for path in names))
        parts = control.tgz()
        texts = {
            member.name.removeprefix("./"): file.read()
            for member in parts
            if (file := parts.extractfile(member)) is not None
        }
    for part, text in texts.items():
        if part != "control":
            mode = 0o755 if part in _SCRIPTS else 0o644
            _add_file(archive, f"{_DPKG}/info/{known}.{part}", text, mode)
    for file, line in _interests(known, texts.get("triggers", b"").decode()):
        interests.setdefault(file, []).append(line)
    paragraph = str(fields.dump()).rstrip("\n")
    first, rest = paragraph.split("\n", 1)
    lines = [first, "Status: install ok unpacked", rest]
    if conffiles := list(_conffiles(texts)):
        lines += ["Conffiles:", *conffiles]
    return "\n".join(lines) + "\n"


def _conffiles(texts: Mapping[str, bytes]) -> Iterator[str]:
    sums = {}
    for line in texts.get("md5sums", b"").decode().splitlines():
        digest, _, name = line.partition("  ")
        sums[f"/{name}"] = digest
    for line in texts.get("conffiles", b"").decode().splitlines():
        if line in sums:
            yield f" {line} {sums[line]}"


def _interests(package: str, triggers: str) -> Iterator[tuple[str, str]]:
    """Trigger interests (deb-triggers(5)): the file of dpkg, and its line."""
    for line in triggers.splitlines():
        words = line.split("#")[0].split()
        if len(words) == 2 and words[0].startswith("interest"):
            waiting = package + ("/noawait" if words[0].endswith("-noawait") else "")
            named = words[1].startswith("/")
            yield ("File", f"{words[1]} {waiting}\n") if named else (words[1], f"{waiting}\n")


def _folder(name: str) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.type, entry.mode = tarfile.DIRTYPE, 0o755
    return entry


def _link(name: str, target: str) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.type, entry.linkname, entry.mode = tarfile.SYMTYPE, target, 0o777
    return entry


def _add_file(archive: tarfile.TarFile, name: str, content: str | bytes, mode: int = 0o644) -> None:
    data = content.encode() if isinstance(content, str) else content
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = len(data), mode
    archive.addfile(entry, io.BytesIO(data))
