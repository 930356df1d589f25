"""What Mortise does on a board with a GICv2, what it does not, and what a VM there sees."""

import fdt
import pytest
from descriptions import described, linux, motor, read
from test_trees import CONTENTS

from tenonos.build.images import space
from tenonos.errors import InputError
from tenonos.system import board as boards
from tenonos.system import device_trees
from tenonos.system.layout import lay_out

GOOD = described(
    "g",
    motor(cpus=[3]),
    linux(cpus=[0, 1]),
    board="qemu-virt-gicv2",
    mode="static",
)

CHANNEL = '\n[[channel]]\nname = "c"\nfrom = "motor"\nto = "linux"\nslots = 4\nsize = 64\n'


def test_all_own_their_interrupts_and_the_image_has_the_driver():
    loaded = read(GOOD)
    assert [vm.interrupts for vm in loaded.vms] == ["direct", "direct"]
    choices = space(loaded)
    config = choices.evaluate("mortise")
    assert config["LIB_MORTISE_GICV2"] and config["MORTISE_VIRTUAL_DEVICES"]
    other = space(read(GOOD.replace("qemu-virt-gicv2", "qemu-virt"))).evaluate("mortise")
    assert not other["LIB_MORTISE_GICV2"]


def test_it_is_the_same_machine_but_for_the_interrupt_controller_and_cards():
    one, other = boards.load("qemu-virt"), boards.load("qemu-virt-gicv2")
    same = ("cpus", "cpu", "ram", "cache", "image", "timer", "serial")
    assert all(getattr(one, field) == getattr(other, field) for field in same)
    # Cards and the SMMU that keeps them are described of the machine with a GICv3 alone.
    cards = {"pcie": one.devices["pcie"]}
    assert one.devices == other.devices | cards
    assert one.qemu.machine.replace("gic-version=3", "gic-version=2") == other.qemu.machine


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ('"static"', '"dynamic"', '4: mode = "dynamic": qemu-virt-gicv2 has a GICv2'),
        (
            "cpus = [0, 1]",
            'cpus = [0, 1]\ninterrupts = "shared"',
            '17: shared interrupts of VM "linux": qemu-virt-gicv2 has a GICv2',
        ),
        ("cpus = [3]", "cpus = [3]\ncolours = 4", '11: colours of VM "motor": qemu'),
        ('"256M"\n', '"256M"\n' + CHANNEL, '19: channel "c": qemu-virt-gicv2 has a GICv2'),
        ("cpus = [3]", "cpus = [3]\ninput = true", '14: VM "linux" has a serial port, and "motor"'),
    ],
)
def test_what_takes_a_gicv3_is_refused_in_one_line(old, new, what):
    with pytest.raises(InputError) as error:
        read(GOOD.replace(old, new, 1))
    assert str(error.value).startswith(f"system.toml:{what}"), error.value


def test_where_ram_begins_at_zero_a_header_is_in_the_page_behind():
    placed = lay_out(read(GOOD.replace("qemu-virt-gicv2", "qemu-zcu102")), 100_000, CONTENTS)
    motor, linux = placed.vm("motor"), placed.vm("linux")
    assert (motor.ipa, motor.argument, motor.entry) == (0, 0x1000, 0x8_0000)
    assert motor.payloads["header"].ipa == motor.argument
    assert min(motor.pa, linux.pa) >= 0x20_0000


def test_no_vm_has_a_serial_port_that_trees_have_no_words_for():
    text = GOOD.replace("qemu-virt-gicv2", "qemu-zcu102")
    with pytest.raises(InputError, match='qemu-zcu102 has no device "serial"'):
        read(text.replace("cpus = [0, 1]", 'cpus = [0, 1]\ndevices = ["serial"]'))


def test_a_board_without_redistributors_maps_none():
    for name in ("qemu-virt-gicv2", "qemu-zcu102"):
        assert boards.load(name).constants()["GICR_SIZE"] == 0
    assert boards.load("qemu-virt").constants()["GICR_SIZE"] == 4 * 0x2_0000


def test_a_tree_has_the_distributor_and_the_page_of_a_cpu_interface():
    loaded = read(GOOD)
    tree = fdt.parse_dtb(
        device_trees.linux(loaded, loaded.vm("linux"), lay_out(loaded, 100_000, CONTENTS))
    )
    cells = tree.get_property("reg", "/intc@8000000").data
    assert list(cells) == [0, 0x0800_0000, 0, 0x1000, 0, 0x0801_0000, 0, 0x1000]
    assert tree.get_property("compatible", "/intc@8000000").value == "arm,gic-400"
