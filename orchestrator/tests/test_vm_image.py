"""Image files of dynamic VMs, read as a loader does."""

import struct

import pytest

from tenonos import system
from tenonos.build.elf import Flat
from tenonos.build.vm_image import vm_image
from tenonos.errors import InputError

FLAT = Flat(0x4008_0000, 0x4008_2000, b"\x5a" * 1000, {})


@pytest.fixture(scope="module")
def demo() -> system.System:
    return system.load("motor-linux")


def test_descriptor_and_segments(demo):
    file = vm_image(demo, demo.vm("motor"), {"motor": FLAT})
    magic, version, name, memory, window, entry, argument = struct.unpack_from("<4sI32sQQQQ", file)
    assert (magic, version, name.rstrip(b"\0")) == (b"TVM1", 1, b"motor")
    # Its log ring ends at 0x12000; its one task area begins in the next block.
    assert (memory, window) == (16 << 20, (2 << 20) + 0x20_1000)
    assert (entry, argument) == (0x4008_0000, 0x4000_0000)
    assert file[0x48:0x54] == bytes([1, 3, *[0xFF] * 7, 16, 0, 0])
    assert not any(file[0x54:0x100])
    count, zero = struct.unpack_from("<II", file, 0x100)
    assert (count, zero) == (2, 0)
    segments = [struct.unpack_from("<QQQ", file, 0x108 + 24 * n) for n in range(count)]
    for target, offset, size in segments:
        assert target % 64 == offset % 64 == size % 64 == 0
        assert offset + size <= len(file)
    (header, at, size), (image, start, _) = segments
    assert (header, image) == (argument, entry)
    assert file[at : at + 4] == b"TGST"
    # The areas in the header are where this VM will see them.
    (area,) = struct.unpack_from("<Q", file[at : at + size], 0x80 + 0x20)
    assert area == 0x8020_0000
    assert file[start : start + 1000] == FLAT.content
    assert not any(file[start + 1000 :])
    assert len(file) == start + 1024


def test_linux_is_not_made_at_run_time(demo):
    with pytest.raises(InputError, match='VM "linux" is Linux: only Tenon VMs are made at'):
        vm_image(demo, demo.vm("linux"), {"motor": FLAT})
