"""Page colours: memory and translation tables of VMs in disjoint sets of a cache."""

from __future__ import annotations

import struct

import pytest

from tenonos import build
from tenonos import system as systems
from tenonos.run import RunOptions, Session, Target
from tenonos.system import colours
from tenonos.system.limits import BLOCK, PAGE

ADDRESS = (1 << 48) - PAGE
DEVICES = 0x4000_0000
"""Below, `qemu-virt` has no RAM."""


class Watch:
    """Restarts Linux, and ends the run when its shell is ready again."""

    def __init__(self):
        self.asked = False

    def chunk(self, chunk):
        pass

    def tick(self, session):
        ready = session.transcripts["linux"].text if "linux" in session.transcripts else ""
        if not self.asked and "linux" in session.ready:
            self.asked = True
            session.send("linux", b"reboot -f\n")
        elif ready.count("tenon-ready") > 1:
            session.finish()

    def close(self, session):
        self.memory = {vm.name: tables(session, vm.index) for vm in session.target.vms}


def tables(session, vm):
    """The tables of a VM's stage 2, and what they map: address, physical address and bytes."""
    coloured = session.target.coloured
    status = colours.status(coloured, vm)
    own = [
        page
        for page in coloured.tables
        if page % PAGE == 0 and coloured.parts[vm] >> colour(page) & 1
    ]
    root = own[own.index(status) + 1]
    found, leaves = [], []

    def walk(table, level, base):
        found.append(table)
        entries = struct.unpack("<512Q", session.memory.at(table, PAGE))
        size = PAGE << 9 * (3 - level)
        for index, entry in enumerate(entries):
            if not entry & 1:
                continue
            at = base + index * size
            if level < 3 and entry & 2:
                walk(entry & ADDRESS, level + 1, at)
            else:
                leaves.append((at, entry & ADDRESS, size))

    walk(root, 1, 0)
    return found, leaves


def colour(physical):
    return physical // PAGE % 16


@pytest.fixture(scope="module")
def run():
    built = build.build(systems.load("motor-coloured"))
    watch = Watch()
    result = Session(Target.of(built), RunOptions(deterministic=True), [watch]).run()
    return built, result, watch.memory


@pytest.mark.timeout(400)
def test_both_run_and_linux_starts_anew(run):
    _, result, _ = run
    motor, linux = result.vms
    assert (motor.state, motor.restarts, motor.exits_in_window) == ("running", None, 0)
    assert (linux.state, linux.restarts) == ("running", 1)
    (task,) = result.periodic
    assert task.released == task.completed > 500
    assert task.duplicates == 0


def test_nothing_is_mapped_that_has_a_colour_of_another(run):
    built, _, memory = run
    for vm in built.system.vms:
        found, leaves = memory[vm.name]
        own = [c for c in range(16) if built.layout.coloured.parts[vm.index] >> c & 1]
        ram = [leaf for leaf in leaves if leaf[1] >= DEVICES]
        assert {size for _, _, size in ram} == {PAGE}
        assert {colour(pa) for _, pa, _ in ram} == set(own)
        assert {colour(table) for table in found} <= set(own)
        place = built.layout.vm(vm.name)
        inside = {ipa for ipa, _, _ in ram if place.ipa <= ipa < place.ipa + place.size}
        assert len(inside) == place.size // PAGE
        assert len(found) >= place.size // BLOCK


def test_no_page_is_two_ones(run):
    _, _, memory = run
    pages = [pa for _, leaves in memory.values() for _, pa, _ in leaves if pa >= DEVICES]
    tables = [table for found, _ in memory.values() for table in found]
    assert len(pages + tables) == len(set(pages + tables))
