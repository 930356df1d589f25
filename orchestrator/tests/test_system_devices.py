"""Devices of VMs: one owner each, memory that they find, and what the emulator puts behind them."""

import fdt
import pytest

from tenonos import system
from tenonos.build.images import images, space
from tenonos.errors import InputError
from tenonos.run import device_backends, target
from tenonos.system import device_trees, manifest
from tenonos.system.layout import lay_out
from tenonos.system.memory_map import Content

IMAGE = {"image": 0x4000_0000, "tree": 0x4020_0000}
CONTENTS = {
    "linux": Content({"kernel": 4096, "tree": 4096}, 0, 4096),
    "guest": Content({"image": 4096, "tree": 4096}, 0, 4096, IMAGE, 0x4000_0000),
    "motor": Content({"image": 4096, "header": 4096}, 0, 4096),
}

GOOD = """\
name = "s"
board = "qemu-virt"
pool = "0.1"

[[vm]]
name = "linux"
kind = "linux"
cpus = [0]
memory = "256M"
devices = ["virtio1", "gpio"]

[[vm]]
name = "guest"
kind = "image"
image = "x"
cpus = [1]
memory = "16M"

[[vm]]
name = "motor"
kind = "tenon"
app = "motor"
cpus = [2]
memory = "16M"
"""
DISK = '\n[[disk]]\ndevice = "virtio1"\nsize = "1M"\n'
CARD = '\n[[card]]\ndevice = "pcie"\nmodel = "e1000e"\n'
OWNED, CARDS = 'devices = ["virtio1", "gpio"]', 'devices = ["pcie"]'
MEMORY = '\n[[disk]]\nvm = "linux"\nsize = "1M"\n'
NETWORK = '\n[[network]]\ndevice = "virtio1"\n'


def load(folder, text):
    (folder / "system.toml").write_text(text)
    return system.load(folder)


def test_disks_and_networks_are_behind_the_transports_of_their_page(tmp_path):
    (tmp_path / "a,b.img").write_bytes(b"content")
    text = GOOD + DISK + NETWORK + DISK.replace('size = "1M"', 'file = "a,b.img"')
    loaded = load(tmp_path, text)
    line = " ".join(device_backends.arguments(loaded, tmp_path / "built"))
    empty = tmp_path / "built" / "disk0"
    assert empty.stat().st_size == 1 << 20
    assert line == (
        f"-drive file={empty},format=raw,snapshot=on,if=none,id=disk0"
        " -device virtio-blk-device,drive=disk0,bus=virtio-mmio-bus.8"
        f" -drive file={tmp_path}/a,,b.img,format=raw,snapshot=on,if=none,id=disk1"
        " -device virtio-blk-device,drive=disk1,bus=virtio-mmio-bus.9"
        " -netdev user,id=network0,restrict=on"
        " -device virtio-net-device,netdev=network0,bus=virtio-mmio-bus.10"
    )
    assert device_backends.arguments(load(tmp_path, GOOD), tmp_path) == ()


def test_cards_take_the_slots_of_a_root_complex_in_their_order(tmp_path):
    text = GOOD.replace(OWNED, CARDS) + (DISK + NETWORK).replace("virtio1", "pcie") + CARD
    loaded = load(tmp_path, text)
    line = " ".join(device_backends.arguments(loaded, tmp_path))
    assert line == (
        f"-drive file={tmp_path}/disk0,format=raw,snapshot=on,if=none,id=disk0"
        " -device virtio-blk-pci,drive=disk0,bus=pcie.0"
        " -netdev user,id=network0,restrict=on"
        " -device virtio-net-pci,netdev=network0,romfile=,bus=pcie.0"
        " -device e1000e,bus=pcie.0"
    )


def test_a_vm_with_cards_has_them_confined_to_its_memory(tmp_path):
    texts = (GOOD, GOOD.replace(OWNED, CARDS))
    systems = [load(tmp_path, text) for text in texts]
    mortise = [space(each).evaluate("mortise") for each in systems]
    assert [config["LIB_MORTISE_SMMU"] for config in mortise] == [False, True]
    assert ["iommu=smmuv3" in target.machine_of(each) for each in systems] == [False, True]


def test_cards_without_an_iommu_are_assigned_to_no_vm(tmp_path, monkeypatch):
    board = system.load("motor-linux").board
    naked = board.devices["pcie"].model_copy(update={"iommu": None})
    monkeypatch.setitem(board.devices, "pcie", naked)
    with pytest.raises(InputError, match="has no IOMMU in front of it, and its cards reach all"):
        load(tmp_path, GOOD.replace(OWNED, CARDS))


def test_disks_in_memory_are_in_the_system_image_and_in_the_tree_of_their_vm(tmp_path):
    (tmp_path / "content.img").write_bytes(b"content".ljust(512))
    file = MEMORY.replace('size = "1M"', 'file = "content.img"\nread_only = true')
    guest = MEMORY.replace("linux", "guest")
    loaded = load(tmp_path, GOOD + MEMORY + DISK + file + guest)
    assert "virtio-mmio-bus.8" in " ".join(device_backends.arguments(loaded, tmp_path / "built"))
    layout = lay_out(loaded, 100_000, CONTENTS)
    empty, written, other = layout.disks
    assert (empty.vm, written.vm, other.vm) == ("linux", "linux", "guest")
    assert written.pa == empty.pa + (1 << 20) and other.pa == written.pa + 4096
    assert layout.image_base + layout.image_size == other.pa + (1 << 20)
    assert min(vm.pa for vm in layout.vms.values()) >= other.pa + (1 << 20)
    # What one VM sees is nothing to the other.
    assert (empty.registers, empty.interrupt) == (other.registers, other.interrupt)
    assert (written.registers, written.interrupt) == (empty.registers + 512, empty.interrupt + 1)
    told = manifest.read(manifest.write(loaded, layout))["disks"]
    assert [disk["vm"] for disk in told] == [0, 0, 1]
    assert [(disk["sectors"], disk["read_only"]) for disk in told[:2]] == [(2048, 0), (1, 1)]
    tree = fdt.parse_dtb(device_trees.linux(loaded, loaded.vm("linux"), layout))
    for disk in (empty, written):
        path = f"/virtio_mmio@{disk.registers:x}"
        assert tree.get_property("compatible", path).value == "virtio,mmio"
        assert tree.get_property("interrupts", path).data == [0, disk.interrupt - 32, 1]
    assert not tree.exist_node("/virtio_mmio@b000400")


def test_a_tenon_vm_has_a_disk_if_its_image_has_a_driver(tmp_path):
    plain = 'app = "motor"\ncpus = [2]\nmemory = "16M"\n'
    text = GOOD.replace(plain, plain + 'interrupts = "shared"\n')
    assert text != GOOD
    loaded = load(tmp_path, text + MEMORY.replace("linux", "motor"))
    with pytest.raises(InputError, match='VM "motor" has a disk, and its image has no driver'):
        images(loaded)
    programs = text.replace('app = "motor"', 'app = "programs"\nprogram = "/bin/sh"')
    (tmp_path / "motor.config").write_text("CONFIG_LIB_TENON_LINUX_DISK=y\n")
    loaded = load(tmp_path, programs + MEMORY.replace("linux", "motor"))
    found = [
        device for image in images(loaded) for device in image.devices if image.name == "motor"
    ]
    assert [(device.kind, device.base) for device in found] == [
        ("virtio-mmio", loaded.board.transports)
    ]


def test_an_image_that_sees_its_memory_where_it_is_may_have_a_device_with_dma(tmp_path):
    there = 'memory_at = "0x5000_0000"\nmemory_seen_at = "0x5000_0000"\ndevices = ["virtio0"]'
    load(tmp_path, GOOD.replace('memory = "16M"', f'memory = "16M"\n{there}', 1))


MORE = 'memory = "16M"\n\n[[vm]]\nname = "motor"'
# what is changed in GOOD, to what, the whole line of the complaint
WRONG = [
    (MORE, MORE.replace("\n", '\ndevices = ["virtio1"]\n', 1), '18: device "virtio1" is given to'),
    (
        MORE,
        MORE.replace("\n", '\ndevices = ["virtio0"]\n', 1),
        '18: device "virtio0" reads and writes memory where it is, and VM "guest" sees its own'
        " elsewhere; write memory_at and memory_seen_at, the same address",
    ),
    (
        'app = "motor"',
        'app = "motor"\ndevices = ["virtio0"]',
        '23: device "virtio0" reads and writes memory where it is, and VM "motor" sees its own'
        " elsewhere; give it to a Linux VM,",
    ),
    ("", DISK.replace("virtio1", "virtoi1"), '27: qemu-virt has no device "virtoi1"; did you mean'),
    (
        "",
        DISK.replace("virtio1", "gpio"),
        '27: device "gpio" is not a page of virtio transports; use',
    ),
    (
        "",
        NETWORK.replace("virtio1", "virtio0"),
        '27: device "virtio0" belongs to no VM; write devices = ["virtio0"] for the VM that has it',
    ),
    (
        'app = "motor"',
        'app = "motor"\ndevices = ["serial"]',
        '23: VM "motor" may not own the serial port, which is the console of others; give it'
        " to a Linux or a Tenon VM that is the only one",
    ),
    (
        "",
        NETWORK * 4 + DISK * 5,
        '36: more than 8 disks, networks and cards are behind "virtio1"; use',
    ),
    ("", DISK + 'file = "disk"', "26: a disk has a file, or is empty and has a size; write file"),
    ("", '\n[[disk]]\ndevice = "virtio1"', "26: a disk has a file, or is empty and has a size;"),
    ("", DISK.replace('size = "1M"', 'file = "none.img"'), '28: no disk "none.img"; give a file'),
    (
        "",
        DISK + 'format = "fat"',
        "29: a disk with a format has a file, which is made of a size at the first run; write file",
    ),
    (
        "",
        DISK + 'file = "made.img"\nformat = "fat"',
        "28: a FAT volume of 1048576 bytes cannot be made; write a size from",
    ),
    (
        "",
        DISK.replace("1M", "8M") + 'file = "none/made.img"\nformat = "fat"',
        "29: there is no folder none for the disk; make it",
    ),
    ("", MEMORY + 'format = "fat"', "29: format is for a disk behind a device; remove it, or"),
    (
        "",
        CARD,
        '27: device "pcie" belongs to no VM; write devices = ["pcie"] for the VM that has it',
    ),
    ("", CARD.replace("pcie", "virtio1"), '27: device "virtio1" has no bus for cards; use pcie'),
    (
        "",
        CARD.replace("e1000e", "edu id=1"),
        '28: model: "edu id=1" is not a device of QEMU; write',
    ),
    (
        OWNED,
        CARDS.replace('["pcie"]', '["pcie"]\ncolours = 4'),
        '10: device "pcie": VM "linux" has',
    ),
    (
        'app = "motor"',
        'app = "motor"\ndevices = ["pcie"]',
        '23: device "pcie": interrupts of VM "motor" do not come to Mortise; write interrupts =',
    ),
    (
        GOOD,
        GOOD.replace("[[vm]]", 'mode = "dynamic"\n\n[[vm]]', 1).replace(OWNED, CARDS),
        '12: device "pcie": VMs come and go; write mode = "static"',
    ),
    (
        "",
        "\n[[disk]]\nsize = 512",
        "26: a disk is behind a device, or a VM's in memory or on another disk;",
    ),
    (
        "",
        MEMORY + 'device = "virtio1"',
        "26: a disk is behind a device, or a VM's in memory or on another disk;",
    ),
    ("", DISK + "read_only = true", "29: a disk behind a device can be written; remove read_only"),
    (
        "",
        MEMORY.replace("linux", "linus"),
        '27: no VM "linus"; those that may have one: linux, guest',
    ),
    (
        "",
        MEMORY.replace("linux", "motor"),
        '27: the interrupts of VM "motor" are direct, and a disk in memory has a virtual one; write'
        ' interrupts = "shared" for it',
    ),
    (
        'app = "motor"\ncpus = [2]\nmemory = "16M"\n',
        'app = "motor"\ncpus = [2]\nmemory = "16M"\ninterrupts = "shared"\n'
        + 2 * MEMORY.replace("linux", "motor"),
        '28: VM "motor" is a Tenon VM, which has one disk or one network card; give the disk to',
    ),
    (
        'devices = ["virtio1", "gpio"]\n',
        f"colours = 4\n{MEMORY}\n",
        '13: VM "linux" has colours, and a disk in memory has none; give it to a VM without',
    ),
    (
        "",
        MEMORY.replace("1M", "1025"),
        "28: a disk of 1025 bytes is not one of whole sectors; make",
    ),
    ("", MEMORY * 5, '42: VM "linux" has more than 4 disks of Mortise\'s, or all 8; use'),
]


@pytest.mark.parametrize(("old", "new", "line"), WRONG, ids=[w[2].split(";")[0] for w in WRONG])
def test_what_cannot_be_is_refused_in_one_line(tmp_path, monkeypatch, old, new, line):
    monkeypatch.chdir(tmp_path)
    assert old in GOOD
    with pytest.raises(InputError) as complaint:
        load(tmp_path, GOOD.replace(old, new, 1) if old else GOOD + new)
    assert str(complaint.value).startswith(f"system.toml:{line}"), complaint.value
