"""Parts of a disk that VMs have: where they are, what is refused, what the emulator has of it."""

import struct

import fdt
import pytest
from test_system_devices import CONTENTS, GOOD, MEMORY, load

from tenonos.build.images import space
from tenonos.errors import InputError
from tenonos.run import device_backends
from tenonos.system import device_trees, manifest, partition_table
from tenonos.system.layout import lay_out

NAMED = '\n[[disk]]\nname = "main"\ndevice = "virtio0"\nfile = "main.img"\n'
FIRST = '\n[[disk]]\nvm = "linux"\non = "main"\nat = "1M"\nsize = "2M"\n'
SECOND = '\n[[disk]]\nvm = "guest"\non = "main"\npartition = 2\n'
PLAIN = '\n[[disk]]\ndevice = "virtio1"\nsize = "1M"\n'
SIZE = 8 << 20


def mbr(*entries):
    """A partition table of these: kind, first sector, sectors."""
    table = b"".join(struct.pack("<4xB3xII", *entry) for entry in entries)
    return bytes(446) + table.ljust(64, b"\0") + b"\x55\xaa"


def gpt(*entries, size=128, count=128, place=2):
    """The same as a GPT, by first and last sector."""
    header = struct.pack(
        "<8sIIIIQQQQ16sQIII",
        *(b"EFI PART", 0x10000, 92, 0, 0, 1, 0, 34, 1000, bytes(16), place, count, size, 0),
    )
    table = b"".join(
        struct.pack("<16s16sQQ", b"k" * 16 if last else bytes(16), b"", first, last).ljust(
            size, b"\0"
        )
        for first, last in entries
    )
    return mbr((0xEE, 1, 0xFFFFFFFF)) + header.ljust(512, b"\0") + table


def disk(folder, content=None, size=SIZE):
    """A disk with a table, by default of an MBR with two partitions."""
    table = mbr((0x83, 2048, 4096), (0x83, 8192, 2048)) if content is None else content
    file = folder / "main.img"
    file.write_bytes(table.ljust(size, b"\0"))
    return file


def test_partitions_are_declared_to_mortise_and_their_vms(tmp_path):
    disk(tmp_path)
    loaded = load(tmp_path, GOOD + PLAIN + MEMORY + NAMED + FIRST + SECOND)
    layout = lay_out(loaded, 100_000, CONTENTS)
    told = manifest.read(manifest.write(loaded, layout))["disks"]
    assert [each["store"] for each in told] == ["memory", "drive", "drive"]
    places = [(each["place"]["start"], each["place"]["size"]) for each in told[1:]]
    assert places == [(0x0A00_0000, 512)] * 2
    assert [(each["vm"], each["first"], each["sectors"]) for each in told[1:]] == [
        (0, 2048, 4096),
        (1, 8192, 2048),
    ]
    # The image holds nothing of them, and each VM finds a transport of Mortise's.
    memory, one, two = layout.disks
    assert layout.image_base + layout.image_size == memory.pa + memory.room
    assert (one.registers, two.registers) == (memory.registers + 512, memory.registers)
    tree = fdt.parse_dtb(device_trees.linux(loaded, loaded.vm("linux"), layout))
    assert tree.exist_node(f"/virtio_mmio@{one.registers:x}")
    assert not tree.exist_node("/virtio_mmio@a000000")


def test_the_emulator_has_one_disk_for_them_and_transports_of_today(tmp_path):
    file = disk(tmp_path)
    line = " ".join(
        device_backends.arguments(load(tmp_path, GOOD + PLAIN + NAMED + FIRST), tmp_path)
    )
    assert line.startswith("-global virtio-mmio.force-legacy=false ")
    assert f"-drive file={file},format=raw,snapshot=on,if=none,id=disk1" in line
    assert line.endswith("-device virtio-blk-device,drive=disk1,bus=virtio-mmio-bus.0")
    keeps = load(tmp_path, GOOD + NAMED + "keep = true\n" + FIRST)
    assert "snapshot" not in " ".join(device_backends.arguments(keeps, tmp_path))
    assert "-global" not in device_backends.arguments(load(tmp_path, GOOD + PLAIN), tmp_path)


def test_a_disk_that_is_second_behind_its_page_has_the_second_transport(tmp_path):
    disk(tmp_path)
    more = NAMED.replace("main", "more").replace('file = "more.img"', 'size = "2M"')
    both = FIRST + FIRST.replace("main", "more").replace('"1M"', '"0"')
    layout = lay_out(load(tmp_path, GOOD + NAMED + more + both), 100_000, CONTENTS)
    assert [each.pa for each in layout.disks] == [0x0A00_0000, 0x0A00_0200]


def test_mortise_has_a_driver_where_a_part_is_and_nowhere_else(tmp_path):
    disk(tmp_path)
    texts = (GOOD, GOOD + MEMORY, GOOD + NAMED + FIRST)
    configs = [space(load(tmp_path, text)).evaluate("mortise") for text in texts]
    assert [config["LIB_MORTISE_DRIVE"] for config in configs] == [False, False, True]
    assert [config["LIB_HW_VIRTIO_BLK"] for config in configs] == [False, False, True]


def test_only_read_parts_may_be_the_same(tmp_path):
    disk(tmp_path)
    both = [each + "read_only = true\n" for each in (FIRST, FIRST.replace("linux", "guest"))]
    assert len(load(tmp_path, GOOD + NAMED + "".join(both)).disks) == 3


def test_partitions_follow_the_table_of_the_disk(tmp_path):
    assert partition_table.find(disk(tmp_path), 1) == (1 << 20, 2 << 20)
    assert partition_table.find(disk(tmp_path), 2) == (4 << 20, 1 << 20)
    file = disk(tmp_path, gpt((2048, 4095), (0, 0), (40, 40)))
    assert partition_table.find(file, 1) == (1 << 20, 1 << 20)
    assert partition_table.find(file, 3) == (40 * 512, 512)
    assert partition_table.find(disk(tmp_path, gpt((34, 35), (36, 99), size=256)), 2) == (
        36 * 512,
        64 * 512,
    )


BROKEN = [
    (b"", "has no partition table"),
    (mbr((0x83, 1, 1)), "has no partition 2"),
    (mbr((0x83, 1, 1), (0x83, 5, 0)), "has no partition 2"),
    (mbr((0xEE, 1, 1)), "has a broken GPT"),
    (gpt((34, 35)), "has no partition 2"),
    (gpt((34, 35), count=1), "has no partition 2"),
    (gpt((34, 35), (99, 36)), "has a broken GPT"),
    (gpt((34, 35), (36, 99), size=16), "has a broken GPT"),
    (gpt((34, 35), (36, 99), size=1 << 30), "has a broken GPT"),
    (gpt((34, 35), (36, 99), place=2**64 - 1), "has a broken GPT"),
]


@pytest.mark.parametrize(("content", "why"), BROKEN)
def test_a_table_that_has_no_such_partition(tmp_path, content, why):
    with pytest.raises(ValueError, match=why):
        partition_table.find(disk(tmp_path, content), 2)
    if why == "has no partition table":
        (tmp_path / "main.img").write_bytes(b"short")
        with pytest.raises(ValueError, match=why):
            partition_table.find(tmp_path / "main.img", 1)


# what is added to GOOD behind the named disk, the whole line of the complaint
WRONG = [
    (FIRST.replace('"main"', '"mian"'), '33: no disk "mian"; those with a name: main'),
    (FIRST.replace('at = "1M"\n', ""), '33: a part of "main" is given by at and size'),
    (FIRST + "partition = 1\n", '33: a part of "main" is given by at and size, or by'),
    (
        '\n[[disk]]\nvm = "linux"\non = "main"\n',
        '33: a part of "main" is given by at and size, or by partition; write at',
    ),
    (FIRST.replace("1M", "100"), "34: a part that begins at byte 100 does not begin with a sector"),
    (FIRST.replace("2M", "100"), "35: a part of 100 bytes is not one of whole sectors; make it a"),
    (
        FIRST.replace("2M", "8M"),
        '34: a part from 1048576 to 9437184 is beyond the end of disk "main"; it has 8388608 bytes',
    ),
    (SECOND.replace("2", "3"), '34: disk "main" has no partition 3; write at and size'),
    (SECOND.replace("2", "5"), '34: disk "main" has no partition 5: an MBR has four; write at'),
    (SECOND.replace("2", "0"), "34: partition: input should be greater than or equal"),
    (FIRST + FIRST.replace("1M", "2M"), '40: it overlaps another part of disk "main" (line 31)'),
    (
        FIRST + "read_only = true\n" + FIRST.replace("linux", "guest"),
        '41: it overlaps another part of disk "main" (line 31); that one is from 1048576 to 31457',
    ),
    (FIRST + SECOND.replace("2", "1"), '40: it overlaps another part of disk "main" (line 31)'),
    (FIRST + 'file = "main.img"\n', '36: a disk on "main" has existing content; leave'),
    (FIRST + 'name = "a"\n', "36: name is for a disk behind a device, by which parts of it say"),
    (FIRST + "keep = true\n", "36: keep is for a disk behind a device; remove it, or write device"),
    (MEMORY + 'at = "0"\n', "34: at is for a disk that is on another one; remove it, or write on"),
    (MEMORY + "partition = 1\n", "34: partition is for a disk that is on another one; remove it"),
    (PLAIN + 'on = "main"\n', "34: on is for a disk of a VM's; remove it, or write vm for this"),
    (PLAIN + "keep = true\n", "34: persistent writes need a file, and this disk has none;"),
    (
        FIRST.replace("linux", "motor"),
        '32: the interrupts of VM "motor" are direct, and a part of a disk has a virtual one;',
    ),
    (FIRST.replace("linux", "linus"), '32: no VM "linus"; those that may have one: linux, guest'),
    (FIRST + NAMED, '38: two disks are called "main"; rename one'),
    (
        FIRST + NAMED.replace('name = "main"\n', ""),
        '38: device "virtio0" belongs to Mortise with all its disks, and no VM',
    ),
    (
        FIRST + '\n[[network]]\ndevice = "virtio0"\n',
        '38: device "virtio0" belongs to Mortise with all its disks, and no VM',
    ),
    ("", '27: no VM has a part of disk "main"; add a [[disk]] with vm and on = "main"'),
]


@pytest.mark.parametrize(("new", "line"), WRONG, ids=[w[1].split(";")[0] for w in WRONG])
def test_what_cannot_be_is_refused_in_one_line(tmp_path, monkeypatch, new, line):
    monkeypatch.chdir(tmp_path)
    disk(tmp_path)
    with pytest.raises(InputError) as complaint:
        load(tmp_path, GOOD + NAMED + new)
    assert str(complaint.value).startswith(f"system.toml:{line}"), complaint.value


OTHERWISE = [
    (
        'devices = ["virtio1", "gpio"]',
        'devices = ["virtio0", "gpio"]',
        '10: device "virtio0" belongs to Mortise, as VMs have parts of disk "main"; give the VM',
    ),
    (
        'device = "virtio0"',
        'device = "pcie"',
        '28: disk "main" is a card, of which Mortise has no driver; put it behind a page of virtio',
    ),
    (
        'file = "main.img"',
        'size = "8M"',
        '40: disk "main" is empty at first, and has no partitions; write at and size, or give it a',
    ),
]


@pytest.mark.parametrize(("old", "new", "line"), OTHERWISE, ids=[w[2][:30] for w in OTHERWISE])
def test_the_disk_is_behind_a_page_of_mortises_own(tmp_path, monkeypatch, old, new, line):
    monkeypatch.chdir(tmp_path)
    disk(tmp_path)
    text = GOOD + NAMED + FIRST + SECOND
    assert old in text
    with pytest.raises(InputError) as complaint:
        load(tmp_path, text.replace(old, new, 1))
    assert str(complaint.value).startswith(f"system.toml:{line}"), complaint.value


def test_mortise_has_two_such_disks_at_most(tmp_path):
    disk(tmp_path)
    names = ("main", "b", "c")
    three = [NAMED.replace('name = "main"', f'name = "{name}"') for name in names]
    some = [FIRST.replace('"main"', f'"{name}"') for name in names]
    with pytest.raises(InputError, match="Mortise has more than 2 disks of which VMs have parts"):
        load(tmp_path, GOOD + "".join(three + some))
