"""Kinds of files, by their first bytes: what a kernel takes as an initramfs, and what else it is.

Linux unpacks archives of cpio in the format newc, plain or compressed (init/initramfs.c and
lib/decompress.c of its tree). Of anything else it says little, and starts without a root.
"""

from __future__ import annotations

import bz2
import lzma
import zlib
from collections.abc import Callable

_HEAD = 2048
"""The bytes that decide about a kind."""

_NEWC = (b"070701", b"070702")
_COMPRESSED = {
    b"\x1f\x8b": "gzip",
    b"BZh": "bzip2",
    b"\xfd7zXZ\0": "xz",
    b"\x5d\0\0": "lzma",
    b"\x89LZO\0": "lzo",
    b"\x02\x21\x4c\x18": "lz4",
    b"\x28\xb5\x2f\xfd": "zstd",
}
_KINDS: tuple[tuple[int, bytes, str], ...] = (
    (0, b"\x7fELF", "an ELF file, such as a program or a vmlinux"),
    (0, b"070707", "a cpio archive in an old format"),
    (0, b"\xc7\x71", "a cpio archive in an old format"),
    (0, b"\x71\xc7", "a cpio archive in an old format"),
    (0, b"\x04\x22\x4d\x18", "compressed by lz4 in a format that Linux does not read"),
    (0, b"\x27\x05\x19\x56", "an image with a header of U-Boot"),
    (0, b"\xd0\x0d\xfe\xed", "a device tree or a FIT image"),
    (0, b"ANDROID!", "a boot image of Android"),
    (0, b"!<arch>\n", "a package of Debian or a static library"),
    (0, b"PK\x03\x04", "a zip archive"),
    (0, b"hsqs", "an image of squashfs"),
    (0, b"#!", "a script"),
    (0, b"MZ", "an EFI program"),
    (56, b"ARM\x64", "a kernel image for arm64"),
    (257, b"ustar", "a tar archive"),
    (1080, b"\x53\xef", "an image of an ext file system"),
)
_REMEDIES = {
    "a cpio archive in an old format": "write it with `cpio -o -H newc`",
    "compressed by lz4 in a format that Linux does not read": "compress it with `lz4 -l`",
    "an image with a header of U-Boot": "take the header of 64 bytes off",
    "a tar archive": "unpack it, and give the folder",
}
_REMEDY = "give a folder, or an archive by `cpio -o -H newc`, compressed or not"


def kind(content: bytes) -> str:
    """What a file is, as the end of a sentence."""
    if not content:
        return "empty"
    if not content.strip(b"\0"):
        return "zeros only"
    for magic, name in _COMPRESSED.items():
        if content.startswith(magic):
            return f"compressed by {name}"
    if content.startswith(_NEWC):
        return "a cpio archive"
    # The header of an arm64 kernel may begin as an EFI program does.
    for at, magic, name in sorted(_KINDS, key=lambda each: each[0] == 0):
        if content[at : at + len(magic)] == magic:
            return name
    return "text" if _is_text(content[:_HEAD]) else "of no kind that is known here"


def no_initramfs(content: bytes) -> tuple[str, str] | None:
    """Why Linux takes a file for no initramfs, and the remedy; None if it takes it."""
    plain = content.lstrip(b"\0")
    if plain.startswith(_NEWC):
        return None
    name = next((name for magic, name in _COMPRESSED.items() if plain.startswith(magic)), None)
    if name is None:
        found = kind(content)
        return f"is {found}", _REMEDIES.get(found, _REMEDY)
    try:
        head = _expanded(name, plain)
    except (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError) as error:
        return f"is compressed by {name}, and damaged: {error}", _REMEDY
    if head is None or head.startswith(_NEWC):
        return None
    found = kind(head)
    return f"is compressed by {name}, and inside it is {found}", _REMEDIES.get(found, _REMEDY)


def _expanded(name: str, content: bytes) -> bytes | None:
    """The first bytes of a compressed file; None if there is no library for it here."""
    part = content[: 1 << 16]
    expand: dict[str, Callable[[], bytes]] = {
        "gzip": lambda: zlib.decompressobj(31).decompress(part, _HEAD),
        "bzip2": lambda: bz2.BZ2Decompressor().decompress(content, _HEAD),
        "xz": lambda: lzma.LZMADecompressor().decompress(content, _HEAD),
        "lzma": lambda: lzma.LZMADecompressor().decompress(content, _HEAD),
    }
    return expand[name]() if name in expand else None


def _is_text(head: bytes) -> bool:
    """Whether these bytes are text in UTF-8, perhaps cut within a character."""
    text = head.decode("utf-8", "replace").removesuffix("\ufffd")
    return all(each.isprintable() or each.isspace() for each in text) and "\ufffd" not in text
