"""Devices of the board: given to the VM with a driver for them, and to no other."""

import re
from dataclasses import replace

import pytest

from tenonos import system
from tenonos.build.images import images
from tenonos.plan import devices
from tenonos.plan.compose import compose
from tenonos.plan.models import Guest
from tenonos.pool import library
from tenonos.system import board
from tenonos.system.schema import parse

ONE_LINUX = "PCI devices are confined to the memory of one Linux VM"
DIMMER = "dim a lamp by PWM at 1 kHz on a GPIO pin"


def written(answer, folder):
    assert answer.accepted, (answer.missing, answer.reason)
    answer.write(folder)
    return folder


def test_a_device_is_assigned_to_the_vm_with_its_driver_only(pool, tmp_path):
    answer = compose(f"{DIMMER} beside a 1 kHz control loop and Linux", pool=pool, name="lamp")
    spec, _ = parse(answer.files["system.toml"], "system.toml")
    assert {vm.name: vm.devices for vm in spec.vm if vm.devices} == {"dimmer": ["gpio"]}
    loaded = system.load(written(answer, tmp_path))
    reached = {image.name: [d.kind for d in image.devices] for image in images(loaded)}
    assert {name: kinds for name, kinds in reached.items() if kinds} == {"dimmer": ["pl061"]}


def test_linux_has_the_cards_that_mortise_keeps_to_its_memory(pool, tmp_path):
    answer = compose("a 1 kHz control loop beside Linux, behind an IOMMU", pool=pool, name="cards")
    loaded = system.load(written(answer, tmp_path))
    assert {vm.name: vm.devices for vm in loaded.vms if vm.devices} == {"linux": ("pcie",)}


def test_an_image_without_the_device_reaches_none(pool, tmp_path):
    file = written(compose(DIMMER, pool=pool, name="lamp"), tmp_path) / "system.toml"
    text, count = re.subn(r'devices = \["gpio"\]', 'devices = ["rtc"]', file.read_text())
    assert count == 1
    file.write_text(text)
    assert all(image.devices == () for image in images(system.load(tmp_path)))


def test_without_mortise_an_image_has_what_it_drives(pool, tmp_path):
    answer = compose(f"{DIMMER} on bare metal", pool=pool, name="lamp")
    assert "devices" not in answer.files["system.toml"]
    (image,) = images(system.load(written(answer, tmp_path)))
    assert [device.base for device in image.devices] == [0x0903_0000]


@pytest.mark.parametrize(
    ("objective", "word", "why"),
    [
        ("two dimmers", "dimmers", "qemu-virt has 1 pl061, and a device has one owner"),
        (
            "a dimmer beside Linux that is created from Linux on demand",
            "dimmer",
            "a VM that is created on demand has no devices",
        ),
        ("a 1 kHz control loop with an IOMMU", "IOMMU", ONE_LINUX),
        ("two Linux and DMA protection", "DMA protection", ONE_LINUX),
    ],
)
def test_what_cannot_be_given_is_refused_with_its_words(pool, objective, word, why):
    answer = compose(objective, pool=pool)
    assert not answer.accepted
    assert [clash.source for clash in answer.conflict] == [word]
    assert answer.reason == why


def test_a_board_without_the_driven_device_is_reported(pool):
    found = compose(DIMMER, pool=pool, name="lamp")
    bare = replace(board.load("qemu-virt"), devices={})
    with pytest.raises(devices.NoDevice, match="has no pl061") as told:
        devices.given(pool, bare, [Guest(name="dimmer", kind="tenon")], found.images)
    assert told.value.images == ("dimmer",)


def test_every_device_that_a_driver_is_for_is_known_to_a_board():
    known = {device.kind for name in board.names() for device in board.load(name).devices.values()}
    driven = {kind for crate in library.index().libraries for kind in crate.drives}
    assert driven
    assert driven <= known
