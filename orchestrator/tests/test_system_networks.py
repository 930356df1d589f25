"""Networks between VMs: layout, device trees, and what is refused."""

import fdt
import pytest
from descriptions import described, linux, motor, read, table
from test_golden import CONTENTS

from tenonos.build.images import images
from tenonos.errors import InputError
from tenonos.setup import initramfs
from tenonos.system import device_trees, networks
from tenonos.system.layout import lay_out
from tenonos.system.schema import parse
from tenonos.system.write import render

LAN = table("network", name="lan", vms=["linux", "other"])


def other(**more):
    keys = {"name": "other", "kind": "linux", "cpus": [1], "memory": "256M"}
    return table("vm", **keys | more)


def system(*tables, **more):
    return read(described("networks", linux(cpus=[0]), other(**more), *tables))


def test_a_card_is_behind_the_disks_of_its_vm():
    disk = table("disk", vm="linux", size="1M")
    loaded = system(disk, LAN, table("network", name="field", vms=["other", "linux"]))
    layout = lay_out(loaded, 100_000, dict.fromkeys(("linux", "other"), CONTENTS["linux"]))
    first, second, third, fourth = layout.ports
    assert (first.vm, first.registers, first.interrupt) == ("linux", 0x0B00_0200, 97)
    assert (second.vm, second.registers, second.interrupt) == ("other", 0x0B00_0000, 96)
    assert (third.vm, third.registers, third.interrupt) == ("other", 0x0B00_0200, 97)
    assert (fourth.vm, fourth.registers, fourth.interrupt) == ("linux", 0x0B00_0400, 98)
    assert [port.mac.hex(":") for port in layout.ports] == [
        "02:74:6e:6e:00:01",
        "02:74:6e:6e:00:02",
        "02:74:6e:6e:01:01",
        "02:74:6e:6e:01:02",
    ]
    blob = device_trees.linux(loaded, loaded.vm("linux"), layout)
    tree = fdt.parse_dtb(blob)
    for base in ("b000000", "b000200", "b000400"):
        assert tree.exist_node(f"/virtio_mmio@{base}")
    assert not tree.exist_node("/virtio_mmio@b000600")


def test_keys_of_a_port_are_those_of_its_vm():
    port = table("network.port", vm="other", mac="02:00:00:00:00:99", rate="1M", isolated=True)
    (network,) = system(LAN, port).virtual_networks
    first, second = network.ports
    assert (first.mac, first.rate, first.isolated) == (None, None, False)
    assert (second.mac, second.rate, second.isolated) == (bytes.fromhex("020000000099"), 1 << 20, 1)
    assert networks.address(network, second) == second.mac


def test_a_network_beyond_the_last_number_is_refused():
    cards = [table("network", device="virtio0")] * networks.NUMBERS
    with pytest.raises(InputError, match=r":\d+: a system has more than 256 networks; use fewer$"):
        system(*cards, LAN)


def test_a_network_is_written_as_it_was_read():
    text = described("networks", linux(cpus=[0]), other(), LAN, table("network.port", vm="other"))
    spec, _ = parse(text, "networks")
    assert parse(render(spec), "networks")[0] == spec


MAC = "02:00:00:00:00:99"
PORT = table("network.port", vm="other", mac=MAC)


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        (
            (table("network", name="lan"),),
            'a network is behind a device, or between VMs; write device = "virtio0", or name',
        ),
        (
            (table("network", device="virtio0", vms=["linux", "other"]),),
            "a network is behind a device, or between VMs; ",
        ),
        (
            (table("network", device="virtio0", name="lan"),),
            "name is for a network between VMs; remove it",
        ),
        (
            (table("network", vms=["linux", "other"]),),
            'a network between VMs has a name; write name = "lan"',
        ),
        (
            (table("network", name="lan", vms=["linux", "other"], forward=["7:7/udp"]),),
            "forward is for a network behind a device; remove it",
        ),
        ((LAN, LAN), 'two networks are called "lan"; rename one'),
        (
            (table("network", name="lan", vms=["linux"]),),
            'network "lan" has one VM; name two or more',
        ),
        (
            (table("network", name="lan", vms=["linux", "linux"]),),
            'VM "linux" is twice in network "lan"; name it once',
        ),
        (
            (table("network", name="lan", vms=["linux", "none"]),),
            'no VM "none"; those there are: linux, other',
        ),
        (
            (LAN, table("network.port", vm="none")),
            'VM "none" is not in network "lan"; those in it: linux, other',
        ),
        ((LAN, PORT, PORT), 'VM "other" has two tables of keys; remove one'),
        (
            (LAN, table("network.port", vm="linux", mac=MAC), PORT),
            'VM "other" has the address of VM "linux"; give it another mac',
        ),
        (
            (LAN, table("network.port", vm="other", mac="01:00:00:00:00:01")),
            "01:00:00:00:00:01 is not the address of one card; write one as mac =",
        ),
        (
            (LAN, table("network.port", vm="other", mac="2:1")),
            'mac: "2:1" is not an Ethernet address; write one as 02:00:00:00:00:01',
        ),
        (
            (LAN, table("network.port", vm="other", address="10.0.0.2")),
            'address: "10.0.0.2" is not an IPv4 address with its prefix; write one as 10.0.0.2/24',
        ),
        (
            (LAN, table("network.port", vm="other", address="224.0.0.1/4")),
            'address: "224.0.0.1/4" is not the address of one host; write one as 10.0.0.2/24',
        ),
        (
            (
                LAN,
                table("network.port", vm="linux", address="10.0.0.2/24"),
                table("network.port", vm="other", address="10.0.0.2/16"),
            ),
            'VM "other" has the address of VM "linux"; give it another one',
        ),
        (
            tuple(LAN.replace("lan", f"lan{number}") for number in range(5)),
            'VM "linux" has more than 4 disks and network cards of Mortise\'s; use fewer',
        ),
    ],
)
def test_what_a_network_may_not_be(tables, message):
    with pytest.raises(InputError) as refused:
        system(*tables)
    assert message in str(refused.value)


def test_vms_of_a_network_have_virtual_interrupts_and_no_colours():
    both = table("network", name="lan", vms=["motor", "linux"])
    direct = (motor(cpus=[1]), linux(cpus=[0]), both)
    with pytest.raises(InputError, match='the interrupts of VM "motor" are direct'):
        read(described("networks", *direct))
    shared = (motor(cpus=[1], interrupts="shared"), linux(cpus=[0]), both)
    assert read(described("networks", *shared)).virtual_networks
    coloured = (
        motor(cpus=[1], interrupts="shared", colours=1),
        linux(cpus=[0], colours=1),
        both,
    )
    with pytest.raises(InputError, match='VM "motor" has colours'):
        read(described("networks", *coloured))


BOTH = table("network", name="lan", vms=["motor", "linux"])
SHARED = motor(cpus=[1], interrupts="shared")


def test_an_address_is_that_of_a_guest_which_is_configured_by_it():
    own = table("network.port", vm="linux", address="10.0.0.2/24")
    loaded = read(described("networks", SHARED, linux(cpus=[0]), BOTH, own))
    card = {"02:74:6e:6e:00:02": "10.0.0.2/24"}
    assert networks.hosts(loaded, loaded.vm("linux")) == card
    assert networks.hosts(loaded, loaded.vm("motor")) == {}
    script = initramfs.init(card)
    given = "02:74:6e:6e:00:02) ip addr add 10.0.0.2/24 dev ${card##*/}; ip link set ${card##*/} up"
    assert given in script and script.index(given) < script.index("/etc/start")
    assert initramfs.init({}) == initramfs.INIT
    for more in ({"initramfs": "own.cpio"}, {"root": "disk", "devices": ["virtio0"]}):
        with pytest.raises(InputError, match='VM "linux" is not configured by its description'):
            read(described("networks", SHARED, linux(cpus=[0], **more), BOTH, own))


def test_the_card_of_a_tenon_vm_is_a_device_of_its_image():
    loaded = read(described("networks", SHARED, linux(cpus=[0]), BOTH))
    card = networks.card(loaded, "motor")
    assert (card.kind, card.base, card.size) == ("virtio-mmio", 0x0B00_0000, 0x200)
    assert networks.card(read(described("networks", SHARED, linux(cpus=[0]))), "motor") is None
    with pytest.raises(InputError, match='VM "motor" is in a network, and its image has no driver'):
        images(loaded)
    with pytest.raises(InputError, match='VM "motor" is in two networks'):
        read(described("networks", SHARED, linux(cpus=[0]), BOTH, BOTH.replace("lan", "field")))
