"""Folder to deploy: what a board needs to boot a built system, and what the system is made of.

Two builds of one commit write the same bytes: no file has a time, a random number or a path of this
machine.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from tenonos import outputs
from tenonos.deploy import boot_files, contents, page, sbom
from tenonos.errors import WorkError
from tenonos.paths import shown

if TYPE_CHECKING:
    from tenonos.build import Built

__all__ = ["IMAGE", "PAGE", "SBOM", "SUMS", "check", "write"]

IMAGE = f"boot/{boot_files.IMAGE}"
PAGE, SBOM, SUMS = "README.md", "sbom.cdx.json", "SHA256SUMS"
"""The page to read, the bill of materials in CycloneDX, hashes for `sha256sum -c`."""


def check(folder: Path | None) -> None:
    """Refuse a folder that cannot be written, before the work starts."""
    if folder is not None:
        outputs.check_folder(folder, "-o")


def write(built: Built, folder: Path) -> None:
    """Write the folder: all files of it, or none. Files of an earlier deployment there that are no
    longer part of it are removed."""
    files: dict[str, str | bytes] = {IMAGE: _image(built)}
    files |= {f"boot/{name}": each for name, each in boot_files.of(built.system).items()}
    files |= {f"elf/{name}.elf": file.read_bytes() for name, file in built.elf_files.items()}
    files |= {f"vm/{name}.vm": file.read_bytes() for name, file in built.vm_images.items()}
    found = contents.of(built)
    digests = hashes(files)
    files[SBOM] = sbom.document(built.system.name, found, digests)
    files[PAGE] = page.text(built, found, [*files, SUMS])
    digests |= hashes({name: files[name] for name in (SBOM, PAGE)})
    files[SUMS] = "".join(f"{digest}  {name}\n" for name, digest in sorted(digests.items()))
    before = _listed(folder / SUMS)
    outputs.write_folder(folder, files)
    for name in before - files.keys():
        outputs.remove(folder, name)


def hashes(files: Mapping[str, str | bytes]) -> dict[str, str]:
    """SHA-256 of each file, by name."""
    return {
        name: hashlib.sha256(content.encode() if isinstance(content, str) else content).hexdigest()
        for name, content in sorted(files.items())
    }


def _image(built: Built) -> bytes:
    """The file to boot, if it is still the one that was built."""
    content = built.image.read_bytes()
    if hashlib.sha256(content).hexdigest() != built.digest:
        raise WorkError(
            f"{shown(built.image)} is not what was built: another build has replaced it",
            mend="build it again, while nothing else builds it",
        )
    return content


def _listed(sums: Path) -> set[str]:
    """The files of an earlier deployment, by its list of hashes."""
    if not sums.is_file():
        return set()
    lines = sums.read_text(errors="replace").splitlines()
    return {name for _, _, name in (line.partition("  ") for line in lines) if name}
