"""Frames for translation tables: what is counted beforehand, and what maps take."""

import itertools

import pytest

from tenonos import system
from tenonos.build.images import space
from tenonos.system import manifest, translation_tables
from tenonos.system.layout import lay_out
from tenonos.system.limits import BLOCK, PAGE
from tenonos.system.memory_map import Content

STATIC = [
    "bench-boot", "bench-linux", "bench-min", "bench-smp", "bench-tick", "hello", "hostile-direct",
    "hostile-gicv2", "hostile-shared", "motor-gicv2", "motor-linux", "motor-shared", "motor-zcu102",
    "selftest-smp", "two-linux", "u-boot",
]  # fmt: skip
"""Systems with counted frames, on each emulated board, with VMs of each kind."""


class Map:
    """A map as `core/paging` makes it: blocks as large as fit, and tables for the rest."""

    def __init__(self):
        self.tables = set()

    def add(self, at, target, size, level=1):
        grain = PAGE << 9 * (3 - level)
        end = at + size
        while at < end:
            stop = min((at // grain + 1) * grain, end)
            if (at | stop | target) % grain:
                self.tables.add((level, at // grain))
                self.add(at, target, stop - at, level + 1)
            target += stop - at
            at = stop


def content(vm):
    if vm.kind == "linux":
        return Content({"kernel": 30 << 20, "initramfs": 1 << 20, "tree": 16 << 10}, 0, 32 << 20)
    if vm.kind == "image":
        at = vm.foreign.load or vm.foreign.seen_at
        return Content({"image": 4 * BLOCK, "tree": 16 << 10}, 0, 0, {"image": at}, at)
    return Content({"image": 300_000, "header": PAGE}, 0, 310_000)


def taken(loaded, cores, mortise):
    """The frames that maps take, by the manifest, if Mortise has so many bytes."""
    board = loaded.board
    layout = lay_out(loaded, mortise, {vm.name: content(vm) for vm in loaded.vms})
    told = manifest.read(manifest.write(loaded, layout))["vms"]
    shared = next((vm.cpus[0] for vm in loaded.vms if vm.interrupts == "shared"), None)
    count = 0
    for cpu in cores:
        own = Map()
        own.add(layout.image_base, layout.image_base, mortise // PAGE * PAGE)
        own.add(layout.manifest_pa, layout.manifest_pa, layout.manifest_size)
        registers = [(board.gic.distributor.base, board.gic.distributor.size)]
        if board.gic.version == 2:
            registers.append((board.gic.cpu_interface.base, board.gic.cpu_interface.size))
        else:
            first = board.gic.redistributor.base
            registers += [(first + c * board.gic.stride, 0x2_0000) for c in range(max(cores) + 1)]
        registers.append((board.serial.base, -(-board.serial.size // PAGE) * PAGE))
        for vm, record in zip(loaded.vms, told, strict=True):
            if cpu in vm.cpus:
                registers.append((record["status"]["start"], PAGE))
            if vm.console == "ring" and (cpu in vm.cpus or cpu == shared):
                registers.append((record["log"]["start"], record["log"]["size"]))
        for base, size in registers:
            own.add(base, base, size)
        count += len(own.tables)
    for record in told:
        guest = Map()
        if board.gic.version == 2:
            guest.add(board.gic.cpu_interface.base, board.gic.cpu_interface.base, PAGE)
        for mapping in record["mappings"]:
            seen, there = mapping["intermediate"], mapping["physical"]
            guest.add(seen["start"], there["start"], seen["size"])
        count += 1 + len(guest.tables)
    return count


@pytest.mark.parametrize(("name", "mortise"), list(itertools.product(STATIC, (90_000, 1 << 20))))
def test_no_system_takes_more_than_are_counted(name, mortise):
    loaded = system.load(name)
    cores = {0, *(cpu for vm in loaded.vms for cpu in vm.cpus)}
    most = space(loaded).evaluate("mortise").values["MORTISE_PAGE_TABLES"]
    assert most == translation_tables.most(loaded, cores)
    found = taken(loaded, cores, mortise)
    assert found <= most
    if name == "bench-min":
        assert found == most, "a page of RAM that nobody uses"


def test_all_of_these_are_systems():
    assert set(STATIC) <= set(system.names())
