"""Physical addresses of an image's functions."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from tenonos.errors import InputError
from tenonos.system.bare import BARE

if TYPE_CHECKING:
    from tenonos.build import Built

MORTISE = "mortise"

_INTERRUPT = 0x80
"""Offset in a vector table of an IRQ that interrupts a thread: current level with SP_EL0 (Arm ARM,
D1.4.2)."""

_VECTORS = re.compile(r"tenon_vectors((?:\.\w+)*)")


def address(built: Built, image: str, symbol: str) -> int:
    """The physical address of a symbol, by which the counting plugin identifies code.

    Mortise runs where it is loaded, and so does an image without it; a Tenon's image is otherwise
    copied from its link address, a guest address, into the VM's RAM.
    """
    value = link_address(built, image, symbol)
    if image == MORTISE or built.system.mode == BARE:
        return value
    place = built.layout.vm(image)
    return value - place.ipa + place.pa


def interrupt(built: Built, image: str) -> int:
    """The physical address of the first instruction after the interrupt of a Tenon thread, on a
    machine with a GICv3."""
    return address(built, image, "tenon_vectors.v3") + _INTERRUPT


def text(built: Built, image: str) -> range:
    """The link addresses of an image's code."""
    return range(*(link_address(built, image, name) for name in ("__image_start", "__text_end")))


def link_address(built: Built, image: str, symbol: str) -> int:
    """The link address of a symbol."""
    wanted = _pattern(symbol)
    symbols = _symbols(built, image)
    values = {value for name, value in symbols if wanted.fullmatch(name)}
    if len(values) != 1:
        how = "no" if not values else "more than one"
        raise InputError(f"{how} symbol {symbol} in the image of {image}")
    return values.pop()


def has(built: Built, image: str, symbol: str) -> bool:
    """Whether an image has that symbol."""
    return any(name == symbol for name, _ in _symbols(built, image))


def variant(built: Built, image: str) -> str:
    """The suffix of the names of an image's vectors: the linker kept one table of several."""
    names = {name for name, _ in _symbols(built, image)}
    found = {match[1] or "" for name in names if (match := _VECTORS.fullmatch(name))}
    if len(found) != 1:
        raise InputError(f"{len(found)} tables of vectors in the image of {image}, not one")
    return found.pop()


def _symbols(built: Built, image: str) -> tuple[tuple[str, int], ...]:
    elf = built.elf_files[image]
    status = elf.stat()
    return _entries(elf, (status.st_ino, status.st_size, status.st_mtime_ns))


@lru_cache(maxsize=16)
def _entries(elf: Path, version: tuple[int, ...]) -> tuple[tuple[str, int], ...]:
    """The symbols of an ELF with their values, read once for each `version` of the file."""
    from elftools.elf.elffile import ELFFile

    with elf.open("rb") as file:
        table = ELFFile(file).get_section_by_name(".symtab")
        entries = [] if table is None else table.iter_symbols()
        return tuple((entry.name, int(entry["st_value"])) for entry in entries)


def _pattern(symbol: str) -> re.Pattern[str]:
    """The pattern of a symbol in the image: a plain name, or `crate::function` in either
    mangling."""
    parts = symbol.split("::")
    if len(parts) == 1:
        return re.compile(re.escape(symbol))
    path = "".join(f"{len(part)}{part}" for part in parts)
    return re.compile(rf"_ZN{path}17h[0-9a-f]{{16}}E|_RNv\w*_{path}")
