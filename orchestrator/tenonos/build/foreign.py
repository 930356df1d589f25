"""Prebuilt guest images: an ELF, an arm64 Image, or a raw binary."""

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tenonos.build import program_headers
from tenonos.build.elf import HEADER_MAGIC
from tenonos.build.program_headers import Segment
from tenonos.errors import InputError
from tenonos.setup import debian
from tenonos.system.foreign import within
from tenonos.system.limits import CHUNK, PAGE
from tenonos.system.memory_map import TREE_SIZE, Content
from tenonos.system.model import Foreign, System, Vm
from tenonos.system.range_allocator import up

U_BOOT = "u-boot"
"""The name for Debian's U-Boot."""

_HEADER = struct.Struct("<8xQQ32s4s")
_ELF, _GZIP = b"\x7fELF", b"\x1f\x8b"


@dataclass(frozen=True)
class _Loadable:
    """A loadable image: its pieces by address, its entry point, its extent."""

    pieces: dict[int, bytes]
    entry: int
    size: int = 0


def content(system: System, vm: Vm) -> tuple[dict[str, bytes], Content]:
    """The payloads of a VM with a prebuilt image, without its tree, and sizes for the layout."""
    foreign = vm.foreign
    assert foreign is not None and foreign.image is not None
    image = foreign.image
    file = debian.u_boot() if image == U_BOOT else _file(system, vm, "image", image)
    found = _loadable(system, vm, foreign, file.read_bytes())
    parts, at = {}, {}
    for number, (base, piece) in enumerate(sorted(found.pieces.items())):
        part = f"image{number or ''}"
        parts[part], at[part] = piece, base
    if vm.initramfs is not None:
        parts["initramfs"] = _file(system, vm, "initramfs", vm.initramfs).read_bytes()
        if not parts["initramfs"]:
            raise InputError(
                f'initramfs "{vm.initramfs}" is empty',
                where=system.at(vm, "initramfs"),
                mend="write the file, or leave the key out",
            )
    sizes = {part: len(piece) for part, piece in parts.items()}
    sizes["tree"] = TREE_SIZE + up(len(tree(system, vm)), PAGE)
    entry = found.entry if foreign.entry is None else foreign.entry
    return parts, Content(sizes, image_size=found.size, at=at, entry=entry)


def tree(system: System, vm: Vm) -> bytes:
    """The device tree supplied with the image; empty, if one is to be generated."""
    assert vm.foreign is not None
    name = vm.foreign.device_tree
    return b"" if name is None else _file(system, vm, "device_tree", name).read_bytes()


def _file(system: System, vm: Vm, key: str, name: str) -> Path:
    path = system.folder / name
    if not path.is_file():
        known = f", or {U_BOOT}" if key == "image" else ""
        raise InputError(
            f'no {key} "{name}"',
            where=system.at(vm, key),
            mend=f"give a file, by its path from {system.folder.name}{known}",
        )
    return path


def _loadable(system: System, vm: Vm, foreign: Foreign, image: bytes) -> _Loadable:
    if image.startswith(_ELF):
        if foreign.load is not None:
            raise InputError(
                f'the image of VM "{vm.name}" is an ELF, which has its own load addresses',
                where=system.at(vm, "load"),
                mend="remove it",
            )
        return _elf(system, vm, foreign, image)
    if not image or image.startswith(_GZIP):
        raise InputError(
            f'image "{foreign.image}" is {"compressed" if image else "empty"}',
            where=system.at(vm, "image"),
            mend="give an ELF, an arm64 Image or bare code",
        )
    load, size = foreign.seen_at, len(image)
    if len(image) >= 64 and image[56:60] == HEADER_MAGIC:
        offset, extent, _, _ = _HEADER.unpack_from(image)
        load, size = load + offset, max(size, extent)
    load = load if foreign.load is None else foreign.load
    return _Loadable({load: image}, load, size)


def _elf(system: System, vm: Vm, foreign: Foreign, image: bytes) -> _Loadable:
    memory = [range(foreign.seen_at, foreign.seen_at + vm.memory)]
    memory += [range(region.at, region.at + region.size) for region in foreign.regions]
    try:
        header = program_headers.header(image)
        segments = program_headers.loads(image, header)
    except ValueError as error:
        raise InputError(
            f'"{foreign.image}" is not an ELF for 64-bit Arm: {error}',
            where=system.at(vm, "image"),
            mend="link it for AArch64, little endian, with something to load",
        ) from None
    for segment in segments:
        # Before anything of that size is allocated.
        span = range(segment.physical, segment.physical + segment.size)
        within(system, vm, "image", "its image", span, memory)
    return _Loadable(_pieces(image, segments, memory), _physical(segments, header.entry))


def _pieces(image: bytes, segments: Sequence[Segment], memory: Sequence[range]) -> dict[int, bytes]:
    """The content to load, as one piece for each range of memory, zeroed parts included."""
    pieces: dict[int, bytes] = {}
    for home in memory:
        mine = [s for s in segments if s.physical in home]
        if mine:
            base = min(s.physical for s in mine) // CHUNK * CHUNK
            piece = bytearray(max(s.physical + s.size for s in mine) - base)
            for segment in mine:
                at, content = segment.physical - base, segment.content(image)
                piece[at : at + len(content)] = content
            pieces[base] = bytes(piece)
    return pieces


def _physical(segments: Sequence[Segment], entry: int) -> int:
    """The physical address of a virtual address of the image, for entry with the MMU off."""
    for segment in segments:
        if 0 <= entry - segment.virtual < segment.size:
            return entry - segment.virtual + segment.physical
    return entry
