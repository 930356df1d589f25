"""Hardware boards without an emulator, and messages about them."""

import itertools
import re
from dataclasses import replace
from pathlib import Path

import pytest

from tenonos.errors import InputError
from tenonos.paths import ROOT
from tenonos.system import board

METAL = ["raspberry-pi-4", "rk3568", "zcu102"]
OF_NEWER_QEMU = ["qemu-imx8mp", "qemu-raspi4b"]


def test_these_are_metal_and_marked_so_wherever_a_reader_looks():
    assert sorted(set(board.names()) - set(board.played())) == sorted([*METAL, *OF_NEWER_QEMU])
    support = (ROOT / "SUPPORT.md").read_text()
    for name in METAL:
        (line,) = (line for line in support.splitlines() if line.startswith(f"| `{name}`"))
        assert "built" in line and "never run" in line
        assert "**Never run on metal**" in (board.load(name).folder / "README.md").read_text()


@pytest.mark.parametrize("name", METAL)
def test_no_emulator_plays_metal(name):
    with pytest.raises(InputError, match=f"{name} is a hardware board without an emulator"):
        _ = board.load(name).emulator


def test_the_zcu102_is_what_the_emulator_has_but_for_its_clocks():
    metal, played = board.load("zcu102"), board.load("qemu-zcu102")
    same = replace(
        played,
        name=metal.name,
        title=metal.title,
        instructions_per_second=metal.instructions_per_second,
        timer=metal.timer,
        devices={
            name: device.model_copy(update={"line": None})
            for name, device in played.devices.items()
        },
        qemu=None,
        folder=metal.folder,
    )
    assert metal == same


def test_the_raspberry_pi_is_what_the_emulator_has_but_for_clocks_and_memory():
    metal, played = board.load("raspberry-pi-4"), board.load("qemu-raspi4b")
    same = replace(
        played,
        name=metal.name,
        title=metal.title,
        instructions_per_second=metal.instructions_per_second,
        ram=metal.ram,
        timer=metal.timer,
        qemu=None,
        folder=metal.folder,
    )
    assert metal == same


@pytest.mark.parametrize("name", board.names())
def test_memory_reserved_by_a_board_is_assigned_to_no_vm(name):
    read = board.load(name)
    gic = read.gic
    kept = [*gic.spare, gic.detach_spi, *gic.channel_spis, read.serial.interrupt]
    taken = [i for device in read.devices.values() for i in device.interrupts]
    taken = [i for i in taken if i != read.serial.interrupt]
    assert len({*kept, *taken}) == len(kept) + len(taken)
    assert all(32 <= intid < 256 for intid in kept), "mortise/state knows eight rows of SPIs"
    frames = sorted(read.frames().values())
    assert all(a + size <= b for (a, size), (b, _) in itertools.pairwise(frames))
    for base, size in frames:
        assert base >= read.ram_end or base + size <= read.ram.base
        assert base + size <= 4 << 30, "the first table has four gibibytes"


def test_a_board_has_a_kconfig_of_its_name():
    for name in board.names():
        folder: Path = board.load(name).folder
        assert (folder / "Kconfig").read_text().startswith(f"config {board.load(name).symbol}\n")


def test_a_board_beyond_four_gibibytes_is_refused(tmp_path, monkeypatch):
    """The kernels map no more for themselves."""
    text = (ROOT / "boards/qemu-virt/board.toml").read_text()
    (tmp_path / "boards/high").mkdir(parents=True)
    high = re.sub(r"(?<=\nname = )\"qemu-virt\"", '"high"', "\n" + text)
    high, count = re.subn(r"(\[ram\]\nbase = )\S+", r"\g<1>0xf000_0000", high)
    assert count == 1
    (tmp_path / "boards/high/board.toml").write_text(high)
    monkeypatch.setattr(board, "ROOT", tmp_path)
    with pytest.raises(InputError, match=r"the RAM ends at 0x1[0-9a-f]{8}, beyond the 4 GiB"):
        board.load("high")
