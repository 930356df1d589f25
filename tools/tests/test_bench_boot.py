"""Linux as it is started without Mortise: the packed payloads where a VM has them."""

import struct

from tenonos.system.memory_map import Payload, VmLayout
from tools.bench.boot import unwrapped

BASE = 0x4020_0000
PACKED = bytes(0x1000) + b"kernel".ljust(0x1000, b"k") + b"tree"


def place():
    payloads = {
        "kernel": Payload(0x4040_0000, BASE + 0x1000, 0x1000),
        "tree": Payload(0x4060_0000, BASE + 0x2000, 4),
    }
    return VmLayout(
        name="linux",
        ipa=0x4040_0000,
        size=0x40_0000,
        entry=0x4040_0000,
        argument=0x4060_0000,
        window=range(0),
        status_ipa=0,
        log_ipa=None,
        tasks={},
        channels={},
        payloads=payloads,
        pa=0x4040_0000,
        status_pa=0,
        log_pa=None,
        log_size=0,
    )


def test_payloads_lie_where_the_vm_has_them():
    image = unwrapped(PACKED, BASE, place())
    assert image[0x20_0000:0x20_1000] == PACKED[0x1000:0x2000]
    assert image[0x40_0000:] == b"tree"


def test_the_kernel_is_started_with_its_tree():
    image = unwrapped(PACKED, BASE, place())
    first, size, magic = struct.unpack("<I12xQ32x4s", image[:60])
    assert (size, magic) == (len(image), b"ARM\x64")
    start = 4 * (first & 0x3FF_FFFF)
    code = struct.unpack_from("<4I", image, start)
    # LDR (literal): the register and the word that it loads (Arm ARM, C6.2.168).
    loads = {
        word & 31: start + 4 * index + 4 * (word >> 5 & 0x7_FFFF)
        for index, word in enumerate(code)
        if word >> 24 == 0x58
    }
    values = {register: struct.unpack_from("<Q", image, at)[0] for register, at in loads.items()}
    assert values == {0: 0x4060_0000, 4: 0x4040_0000}
    assert code[3] == 0xD61F_0000 | 4 << 5
