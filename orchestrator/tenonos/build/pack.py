"""The system image: Mortise, its manifest and the VMs' pristine payloads in one flat file.

Mortise finds the manifest at the first page after its own end, and everything else through the
manifest. A boot loader reads one number: the total size in the header's `image_size`.
"""

import struct
from collections.abc import Sequence

from tenonos.build.elf import HEADER_MAGIC, Flat
from tenonos.errors import WorkError
from tenonos.system.memory_map import MANIFEST_MOST, Layout

_IMAGE_SIZE = 16
_MAGIC = 56


def pack(
    mortise: Flat,
    manifest: bytes,
    payloads: dict[tuple[str, str], bytes],
    layout: Layout,
    disks: Sequence[bytes] = (),
) -> bytes:
    """The packed image; `payloads` by VM and part, `disks` in the order of their memory."""
    if mortise.content[_MAGIC : _MAGIC + 4] != HEADER_MAGIC:
        raise WorkError("Mortise's image does not begin with an arm64 Image header")
    if len(manifest) > MANIFEST_MOST:
        raise WorkError(f"the manifest has {len(manifest)} bytes, {MANIFEST_MOST} at most")
    image = bytearray(layout.image_size)
    _put(image, 0, mortise.content)
    _put(image, layout.manifest_pa - layout.image_base, manifest)
    for (vm, part), content in payloads.items():
        place = layout.guest(vm).payloads[part]
        if len(content) > place.size:
            raise WorkError(
                f"{part} of VM {vm}: {len(content)} bytes; there is room for {place.size}"
            )
        _put(image, place.pa - layout.image_base, content)
    stores = [store for store in layout.disks if not store.drive]
    for store, content in zip(stores, disks, strict=True):
        _put(image, store.pa - layout.image_base, content)
    struct.pack_into("<Q", image, _IMAGE_SIZE, len(image))
    return bytes(image)


def _put(image: bytearray, at: int, content: bytes) -> None:
    image[at : at + len(content)] = content
