"""VMs of any image: what is refused, what is placed where, and what their trees say."""

import struct
from itertools import pairwise

import fdt
import pytest

from tenonos import system
from tenonos.build import foreign
from tenonos.errors import InputError
from tenonos.system import device_trees, manifest
from tenonos.system.layout import lay_out

MIB = 1 << 20
GOOD = """\
name = "s"
board = "qemu-virt"
pool = "0.1"

[[vm]]
name = "guest"
kind = "image"
image = "image.bin"
cpus = [0, 1]
memory = "16M"
"""
REGION = '\n[[vm.region]]\nat = "{}"\nsize = "{}"\n'


def built(folder, more="", image=b"code" * 64):
    """The system of a guest with these keys as well, its parts and its layout."""
    (folder / "system.toml").write_text(GOOD + more)
    (folder / "image.bin").write_bytes(image)
    (folder / "data").write_bytes(b"d" * 5000)
    loaded = system.load(folder)
    parts, content = foreign.content(loaded, loaded.vms[0])
    return loaded, parts, lay_out(loaded, MIB, {"guest": content})


def elf(*segments, entry, machine=183):
    """An ELF of segments (virtual address, physical address, bytes, size in memory)."""
    header = struct.pack(
        *("<4sBBB9xHHIQQQIHHHHHH", b"\x7fELF", 2, 1, 1, 2, machine, 1, entry, 64, 0, 0),
        *(64, 56, len(segments), 64, 0, 0),
    )
    table, content, at = b"", b"", 64 + 56 * len(segments)
    for virtual, physical, data, size in segments:
        place = at + len(content)
        table += struct.pack("<IIQQQQQQ", 1, 7, place, virtual, physical, len(data), size, 8)
        content += data
    return header + table + content


def linux_image(text_offset, size):
    return struct.pack("<8xQQ32s4s4x", text_offset, size, b"", b"ARM\x64") + b"code"


def where(layout):
    return {part: payload.ipa for part, payload in layout.vm("guest").payloads.items()}


def test_bare_code_is_at_the_start_of_memory_and_its_tree_behind(tmp_path):
    _, parts, layout = built(tmp_path)
    place = layout.vm("guest")
    assert (place.ipa, place.entry, place.argument) == (0x4000_0000, 0x4000_0000, 0x4020_0000)
    assert place.pa != place.ipa
    assert parts == {"image": b"code" * 64}
    assert where(layout) == {"image": 0x4000_0000, "tree": 0x4020_0000}


def test_an_image_that_leaves_room_has_its_tree_in_front(tmp_path):
    image = linux_image(0x8_0000, 3 * MIB)
    _, _, layout = built(tmp_path, 'initramfs = "data"', image)
    assert where(layout) == {
        "image": 0x4008_0000,
        "tree": 0x4000_0000,
        "initramfs": 0x4040_0000,  # behind what it takes once it runs
    }
    assert layout.vm("guest").entry == 0x4008_0000


def test_the_stated_image_is_loaded(tmp_path):
    more = """\
load = "0x5010_0000"
entry = "0x5010_0080"
device_tree_at = "0x5000_1000"
initramfs = "data"
memory_at = "0x5000_0000"
memory_seen_at = "0x5000_0000"
"""
    _, _, layout = built(tmp_path, more)
    place = layout.vm("guest")
    assert (place.ipa, place.pa, place.entry) == (0x5000_0000, 0x5000_0000, 0x5010_0080)
    assert where(layout) == {
        "image": 0x5010_0000,
        "tree": 0x5000_1000,
        "initramfs": 0x5020_0000,
    }


def test_an_elf_has_a_piece_in_each_memory_and_begins_at_a_physical_address(tmp_path):
    image = elf(
        (0xFFFF_0000_4010_0020, 0x4010_0020, b"text", 4),
        (0xFFFF_0000_4010_1000, 0x4010_1000, b"data", 0x1000),
        (0x20_0000, 0x20_0000, b"far", 3),
        entry=0xFFFF_0000_4010_0020,
    )
    loaded, parts, layout = built(tmp_path, REGION.format("0x20_0000", "4M"), image)
    place = layout.vm("guest")
    assert place.entry == 0x4010_0020
    assert where(layout) == {"image": 0x20_0000, "image1": 0x4010_0000, "tree": 0x4000_0000}
    near = parts["image1"]
    assert (near[0x20:0x24], near[0x1000:0x1004], len(near)) == (b"text", b"data", 0x2000)
    assert set(near[0x1004:]) == {0}
    (told,) = manifest.read(manifest.write(loaded, layout))["vms"]
    (region,) = place.regions
    ranges = [(m["intermediate"]["start"], *m["physical"].values()) for m in told["mappings"]]
    assert ranges[:2] == [(place.ipa, place.pa, 16 * MIB), (0x20_0000, region.pa, 4 * MIB)]
    assert (told["kind"], told["console"]) == ("image", "pl011")
    ranges = sorted([(place.pa, place.size), (region.pa, region.size), (place.status_pa, 4096)])
    assert all(a + size <= b for (a, size), (b, _) in pairwise(ranges))


def test_an_elf_is_read_by_what_it_loads(tmp_path):
    """Empty and wrong parts of other kinds, as of Unikraft, are not what a loader reads."""
    load = struct.pack("<IIQQQQQQ", 1, 7, 64 + 3 * 56, 0x4000_0000, 0x4000_0000, 4, 8, 8)
    for odd in (
        struct.pack("<IIQQQQQQ", 2, 6, 0, 0, 0, 0, 0, 8),  # PT_DYNAMIC without a table
        struct.pack("<IIQQQQQQ", 2, 6, 1 << 60, 0, 0, 1 << 60, 0, 8),
        struct.pack("<IIQQQQQQ", 3, 4, 1 << 60, 0, 0, 9, 9, 1),  # PT_INTERP
        struct.pack("<IIQQQQQQ", 4, 4, 0, 0, 0, 3, 3, 4),  # PT_NOTE
        struct.pack("<IIQQQQQQ", 1, 4, 0, 0, 0, 0, 0, 4),  # PT_LOAD of nothing
    ):
        head = elf((0, 0, b"", 0), entry=0x4000_0004)[:64]
        head = head[:40] + struct.pack("<Q", 1 << 50) + head[48:56]  # sections beyond the end
        image = head + struct.pack("<HHHH", 3, 64, 99, 98) + odd + load + odd + b"text"
        _, parts, layout = built(tmp_path, image=image)
        assert parts["image"] == b"text\0\0\0\0"
        assert layout.vm("guest").entry == 0x4000_0004


def test_a_tree_is_made_of_what_it_has(tmp_path):
    loaded, _, layout = built(tmp_path, REGION.format("0x0", "2M"))
    tree = fdt.parse_dtb(device_trees.linux(loaded, loaded.vms[0], layout))
    assert tree.get_property("reg", "/memory@40000000").data == [0, 0x4000_0000, 0, 16 * MIB]
    assert not tree.exist_property("bootargs", "/chosen")
    assert not tree.exist_node("/memory@0")


def test_a_tree_of_the_user_gets_what_the_system_states(tmp_path):
    loaded, _, layout = built(tmp_path)
    blob = device_trees.linux(loaded, loaded.vms[0], layout)
    (tmp_path / "own.dtb").write_bytes(blob)
    own = 'device_tree = "own.dtb"\n'
    loaded, _, layout = built(tmp_path, own)
    assert foreign.tree(loaded, loaded.vms[0]) == blob
    assert device_trees.own(blob, loaded.vms[0], layout.vm("guest")) == blob
    loaded, _, layout = built(tmp_path, own + 'cmdline = "a=b"\ninitramfs = "data"')
    told = fdt.parse_dtb(device_trees.own(blob, loaded.vms[0], layout.vm("guest")))
    assert told.get_property("bootargs", "/chosen").value == "a=b"
    start = layout.vm("guest").payloads["initramfs"].ipa
    assert told.get_property("linux,initrd-start", "/chosen").data == [0, start]
    assert told.get_property("linux,initrd-end", "/chosen").data == [0, start + 5000]
    for wrong in (b"", blob[4:], blob[:-8]):
        with pytest.raises(ValueError, match="it has no valid header"):
            device_trees.own(wrong, loaded.vms[0], layout.vm("guest"))


ARM_ELF = elf((0x4000_0000, 0x4000_0000, b"text", 4), entry=0x4000_0000)
# more keys, the image, the whole line of the complaint
WRONG = [
    ('app = "motor"', b"x", '11: app is for Tenon VMs, and "guest" is an image VM; remove it'),
    ('kernel = "x"', b"x", '11: kernel is for Linux VMs, and "guest" is an image VM; remove it'),
    ('interrupts = "direct"', b"x", '11: image VM "guest" needs shared interrupts: its GIC'),
    ('load = "0x21"', b"x", "11: load 0x21 is not a multiple of 64; 0x0 is"),
    ('entry = "0x4000_0002"', b"x" * 64, "11: entry 0x40000002 is not a multiple of 4; 0x40000000"),
    (
        'memory_seen_at = "0x4010_0000"',
        b"x",
        '11: memory of VM "guest" (0x40100000 to 0x410fffff) is not whole blocks of 2 MiB;',
    ),
    (
        'memory_seen_at = "0x0780_0000"',
        b"x",
        '11: memory of VM "guest" (0x7800000 to 0x87fffff) overlaps the GIC distributor; move',
    ),
    (
        REGION.format("0x40e0_0000", "4M"),
        b"x",
        '13: a region of VM "guest" (0x40e00000 to 0x411fffff) overlaps its memory; move one',
    ),
    (
        REGION.format("0x80_0000_0000", "2M"),
        b"x",
        '13: a region of VM "guest" (0x8000000000 to 0x80001fffff) is not what a VM can see;',
    ),
    (REGION.format("0x0", "1M"), b"x", '13: a region of VM "guest" (0x0 to 0xfffff) is not whole'),
    (
        'load = "0x0"',
        b"x" * 64,
        '11: its image (0x0 to 0x3f) is not in the memory of VM "guest"; that is at 0x40000000 to',
    ),
    (
        'entry = "0x4000_0040"',
        b"x" * 64,
        '11: entry 0x40000040 of VM "guest" is not in its image; that is at 0x40000000',
    ),
    (
        'device_tree_at = "0x4000_0000"',
        b"x" * 64,
        '11: the device tree of VM "guest" at 0x40000000 overlaps its image; leave device_tree_at',
    ),
    (
        'device_tree_at = "0x40ff_f000"',
        b"x" * 64,
        "11: its device tree (0x40fff000 to 0x41002fff) is not in the memory",
    ),
    ('device_tree = "my.dtb"', b"x", '11: no device_tree "my.dtb"; give a file'),
    ('initramfs = "my.cpio"', b"x", '11: no initramfs "my.cpio"; give a file'),
    ("", b"x" * 15 * MIB, '10: the memory of VM "guest" has no room for its tree beside its image'),
    ("", b"", '8: image "image.bin" is empty; give an ELF, an arm64 Image or bare code'),
    ("", b"\x1f\x8bzip", '8: image "image.bin" is compressed; give'),
    (
        "",
        ARM_ELF[:80],
        '8: "image.bin" is not an ELF for 64-bit Arm: its program headers are beyond the end of '
        "the file; link it",
    ),
    ("", ARM_ELF[:40], '8: "image.bin" is not an ELF for 64-bit Arm: it ends within its header;'),
    ("", ARM_ELF[:-1], '8: "image.bin" is not an ELF for 64-bit Arm: program header 0 is beyond'),
    ("", elf(entry=0), '8: "image.bin" is not an ELF for 64-bit Arm: it has nothing to load; link'),
    (
        "",
        elf((0x4000_0000, 0x4000_0000, b"text", 3), entry=0x4000_0000),
        '8: "image.bin" is not an ELF for 64-bit Arm: program header 0 has more in the file than',
    ),
    (
        "",
        elf((0x4000_0000, 0x4000_0000, b"text", 1 << 44), entry=0x4000_0000),
        '8: its image (0x40000000 to 0x10003fffffff) is not in the memory of VM "guest"; that is',
    ),
    (
        "",
        elf((0x4000_0000, (1 << 64) - 4, b"text", 1 << 60), entry=0x4000_0000),
        "8: its image (0xfffffffffffffffc to ",
    ),
    ("", elf((0, 0, b"text", 4), entry=0, machine=62), '8: "image.bin" is not an ELF for'),
    ('load = "0x4000_0000"', ARM_ELF, '11: the image of VM "guest" is an ELF, which has its own'),
    (
        "",
        elf((0, 0, b"text", 4), entry=0),
        '8: its image (0x0 to 0x3) is not in the memory of VM "guest"; that is at 0x40000000 to',
    ),
    (
        '\n[[vm]]\nname = "b"\nkind = "tenon"\napp = "hello"\ncpus = [2]\nmemory = "4M"\n'
        '\n[[channel]]\nname = "c"\nfrom = "b"\nto = "guest"\nslots = 4\nsize = 64\n',
        b"x",
        '19: channel "c" has an end in an image VM, which does not know of channels; channels',
    ),
]


@pytest.mark.parametrize(("more", "image", "line"), WRONG, ids=[w[2].split(";")[0] for w in WRONG])
def test_what_cannot_be_is_refused_in_one_line(tmp_path, monkeypatch, more, image, line):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError) as complaint:
        built(tmp_path, more, image)
    assert str(complaint.value).startswith(f"system.toml:{line}"), complaint.value
    assert "\n" not in str(complaint.value)


def test_an_image_is_asked_for(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "system.toml").write_text(GOOD.replace('image = "image.bin"\n', ""))
    with pytest.raises(InputError, match=r'^system.toml:5: image VM "guest" has no image; add'):
        system.load(tmp_path)
    (tmp_path / "system.toml").write_text(GOOD)
    loaded = system.load(tmp_path)
    with pytest.raises(InputError, match=r'8: no image "image.bin"; give a file, .*or u-boot'):
        foreign.content(loaded, loaded.vms[0])
