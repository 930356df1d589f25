"""From a system to one bootable file.

`build` generates a crate per image, compiles the crates, lays memory out and packs the result.
Unchanged parts are not rebuilt, and builds are reproducible to the byte.
"""

import hashlib
import shutil
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tenonos import catalogue, locks, ui
from tenonos.build import c, cargo_paths, foreign
from tenonos.build.cargo import STAMP, compile_image
from tenonos.build.elf import HEADER_MAGIC, Flat, flatten
from tenonos.build.images import images as images_of
from tenonos.build.pack import pack
from tenonos.build.vm_image import vm_image
from tenonos.errors import InputError, WorkError
from tenonos.generate.image import Image, write
from tenonos.linux import boot, file_kind
from tenonos.paths import BUILD, replace_file, shown
from tenonos.system import colours, device_trees, errata, guest_header, manifest
from tenonos.system.bare import BARE
from tenonos.system.layout import lay_out
from tenonos.system.memory_map import HEADER_SIZE, TREE_SIZE, Content, Layout
from tenonos.system.model import System, Vm

__all__ = ["Built", "build", "compiled", "discard", "folder"]

ATTEMPTS = 3
"""Builds of an image in a row if its sources change meanwhile."""

_HEADER = struct.Struct("<8xQQ32s4s")


@dataclass(frozen=True)
class Built:
    """A built system: the file to boot, each image as ELF and flat, and the memory layout."""

    image: Path
    elf_files: dict[str, Path]
    flats: dict[str, Path]
    images: tuple[Image, ...]
    system: System
    layout: Layout
    vm_images: dict[str, Path]
    """Image files to create VMs at run time: one for each template, and for VMs named with
    --vm-image."""
    sources: str
    """A hash of what it was built from: `system.toml`, all inputs of each image, other payloads."""
    digest: str
    """SHA-256 of the file to boot."""


def folder(system: System) -> Path:
    """The build folder of a system; systems of one name in different places have different ones."""
    if catalogue.is_system_folder(system.folder):
        return BUILD / system.name
    digest = hashlib.sha256(str(system.folder).encode()).hexdigest()[:8]
    return BUILD / f"{system.name}-{digest}"


def discard(system: System) -> None:
    """Remove the build results of a system, except the compiler's incremental state."""
    shutil.rmtree(folder(system), ignore_errors=True)


def build(
    system: System,
    *,
    pristine: bool = False,
    defines: Sequence[str] = (),
    vm_images: Sequence[str] = (),
) -> Built:
    """Build a system.

    `pristine` removes earlier results first; `defines` are `CONFIG_X=y`; for each VM in `vm_images`
    an image file is written, from which a VM like it can be created at run time.
    """
    asked = [system.vm(name) for name in vm_images]
    for warning in colours.warnings(system):
        ui.warn(warning)
    if system.board.qemu is None:
        ui.warn(f"no image was ever run on {system.board.name}, a hardware board")
    if not system.board.errata.known:
        ui.warn(f"{errata.FILE} does not list the errata of {system.board.cpu}")
    target = folder(system)
    with locks.exclusive(target):
        if pristine:
            _empty(target)
        made = images_of(system, defines)
        for vm in system.guests:
            boot.require_programs(system, vm)
        cargo_paths.refresh(library for image in made for library in image.libraries)
        elf_files = {}
        for image in made:
            elf_files[image.name] = compiled(image, target, pristine)
        flats = {name: flatten(elf) for name, elf in elf_files.items()}
        files = {name: target / name / f"{name}.bin" for name in flats}
        for name, flat in flats.items():
            _write(files[name], flat.content)
        packed, layout = _pack(system, flats)
        file = target / "system.img"
        _write(file, packed)
        late = {}
        for vm in (*(template.vm for template in system.templates), *asked):
            late[vm.name] = target / f"{vm.name}.vm"
            _write(late[vm.name], vm_image(system, vm, flats))
        digest = hashlib.sha256(packed).hexdigest()
        sources = _sources(system, [target / name / STAMP for name in flats], digest)
    ui.detail(f"{shown(file)}: {len(packed)} bytes")
    return Built(file, elf_files, files, tuple(made), system, layout, late, sources, digest)


def _sources(system: System, stamps: Sequence[Path], digest: str) -> str:
    """The hash of a build's sources. Payloads that are not compiled here are in the packed file."""
    parts = [(system.folder / "system.toml").read_bytes(), *(file.read_bytes() for file in stamps)]
    hashed = [hashlib.sha256(part).digest() for part in parts]
    return hashlib.sha256(b"".join([*hashed, digest.encode()])).hexdigest()


def compiled(image: Image, target: Path, anew: bool = False) -> Path:
    """The ELF of an image, for a system with the build folder `target`; linked again if `anew`."""
    folder = target / image.name
    for _ in range(ATTEMPTS):
        objects = c.objects(image, folder / "c")
        write(image, folder, objects)
        elf = compile_image(image, folder, anew, objects)
        # Without a stamp, sources changed while they were compiled.
        if (folder / STAMP).exists():
            return elf
    raise WorkError(
        f"the sources of {image.name} change while they are built",
        mend="build again when nothing writes to them",
    )


def _pack(system: System, flats: dict[str, Flat]) -> tuple[bytes, Layout]:
    if system.mode == BARE:
        return _alone(system, flats[system.vms[0].name])
    payloads: dict[tuple[str, str], bytes] = {}
    contents = {}
    for vm in system.guests:
        parts, contents[vm.name] = _content(system, vm, flats)
        payloads |= {(vm.name, part): content for part, content in parts.items()}
    mortise = flats["mortise"]
    place = partial(lay_out, system, mortise.end - mortise.base, contents, mortise.text)
    # The length of the manifest does not depend on addresses.
    layout = place(len(manifest.write(system, place())))
    for vm in system.guests:
        if vm.kind == "tenon":
            payloads[vm.name, "header"] = guest_header.guest(system, vm, layout.guest(vm.name))
        else:
            payloads[vm.name, "tree"] = _tree(system, vm, layout)
    # Mortise without VMs reads no manifest.
    record = manifest.write(system, layout) if system.vms else b""
    stored = [disk.file.read_bytes() if disk.file else b"" for disk in system.memory_disks]
    return pack(mortise, record, payloads, layout, stored), layout


def _alone(system: System, flat: Flat) -> tuple[bytes, Layout]:
    """The bootable file of a system without Mortise: its image, unchanged."""
    vm, ram = system.vms[0], system.board.ram
    _check_limits(system, vm, flat)
    size = len(flat.content)
    return flat.content, Layout(ram.base, ram.size, flat.base, size, 0, 0, range(0), {})


def _content(system: System, vm: Vm, flats: dict[str, Flat]) -> tuple[dict[str, bytes], Content]:
    """The payloads of a VM without its device tree or header, and their sizes for the layout."""
    if vm.kind == "tenon":
        flat = flats[vm.name]
        _check_limits(system, vm, flat)
        sizes = {"image": len(flat.content), "header": HEADER_SIZE}
        return {"image": flat.content}, Content(sizes, 0, flat.end - flat.base)
    if vm.kind == "image":
        return foreign.content(system, vm)
    kernel = boot.kernel(system, vm)
    content = kernel.read_bytes()
    if len(content) < 64 or content[56:60] != HEADER_MAGIC:
        raise InputError(
            f"{shown(kernel)} is no arm64 Image: it is {file_kind.kind(content)}",
            where=system.at(vm, "kernel"),
            mend="give arch/arm64/boot/Image of Linux's build, not compressed",
        )
    text_offset, size, _, _ = _HEADER.unpack_from(content)
    parts = {"kernel": content, "initramfs": boot.initramfs(system, vm)}
    sizes = {name: len(part) for name, part in parts.items()} | {"tree": TREE_SIZE}
    # A header may state less than the file has, or nothing.
    return parts, Content(sizes, text_offset, max(size, len(content)))


def _tree(system: System, vm: Vm, layout: Layout) -> bytes:
    """The device tree of a VM: its own, completed from the system, or a generated one."""
    own = foreign.tree(system, vm) if vm.kind == "image" else b""
    if not own:
        return device_trees.linux(system, vm, layout)
    try:
        return device_trees.own(own, vm, layout.vm(vm.name))
    except ValueError as error:
        raise InputError(
            f'the device tree of VM "{vm.name}" is invalid: {error}',
            where=system.at(vm, "device_tree"),
            mend="give a .dtb file made by dtc",
        ) from None


def _check_limits(system: System, vm: Vm, flat: Flat) -> None:
    """Refuse an image larger than its declared limit."""
    limits = (
        ("image_limit", vm.image_limit, len(flat.content), "has {} bytes"),
        ("ram_limit", vm.ram_limit, flat.end - flat.base, "takes {} bytes of memory"),
    )
    for key, limit, size, says in limits:
        if limit is not None and size > limit:
            raise WorkError(
                f'the image of VM "{vm.name}" {says.format(size)}, and its limit is {limit}',
                where=system.at(vm, key),
                mend="./tenon size shows what it is made of",
            )


def _empty(target: Path) -> None:
    """Remove the content of a folder, except its lock file, which is held meanwhile."""
    for path in target.iterdir():
        if path.is_dir():
            shutil.rmtree(path)
        elif path.name != locks.FILE:
            path.unlink()


def _write(file: Path, content: bytes) -> None:
    """Replace a file atomically, and only if its content changes."""
    if file.exists() and file.read_bytes() == content:
        return
    replace_file(file, content)
