"""The translation tables of a running machine: memory that Mortise and guests can access.

The registers of each core give the active tables, and memory their contents. Page
colours, without 1:1 mappings, are in `test_colouring`.
"""

from __future__ import annotations

import contextlib
import struct
from dataclasses import dataclass

import pytest
from elftools.elf.elffile import ELFFile
from registers import Stub

from tenonos import build
from tenonos import system as systems
from tenonos.run import RunOptions, Session, Target, gdb, symbols
from tenonos.run.console import RAW
from tenonos.system.limits import BLOCK, PAGE

ADDRESS = (1 << 48) - PAGE
ROOT = (1 << 48) - 64
"""Address bits of TTBR0_EL2 for a table with few entries (Arm ARM, D19.2)."""
RAM = 0x4000_0000
"""Below, `qemu-virt` has no RAM."""

M, C, WXN = 1 << 0, 1 << 2, 1 << 19
"""SCTLR_EL2 (Arm ARM, D19.2): M, C, I and WXN."""


@dataclass(frozen=True)
class Leaf:
    """A page or block: input address, output address and permissions."""

    at: int
    pa: int
    size: int
    bits: int

    def overlaps(self, start, size):
        """Whether it overlaps this range."""
        return self.pa < start + size and start < self.pa + self.size


class Own(Leaf):
    """A leaf of a stage 1 at EL2 (Arm ARM, D8.3, D8.4)."""

    @property
    def written(self):
        """AP[2] is 0."""
        return not self.bits >> 7 & 1

    @property
    def executed(self):
        """XN is 0."""
        return not self.bits >> 54 & 1


class Guest(Leaf):
    """A leaf of a stage 2."""

    @property
    def written(self):
        """S2AP[1]."""
        return bool(self.bits >> 7 & 1)

    @property
    def executed(self):
        """XN[1] is 0."""
        return not self.bits >> 54 & 1


def leaves(memory, root, kind, tables, bits=39):
    """The leaves below a level 1 root for this number of address bits; adds the tables to a set."""
    found = []

    def walk(table, level, base, entries=512):
        size = PAGE << 9 * (3 - level)
        for index, (entry,) in enumerate(struct.iter_unpack("<Q", memory.at(table, 8 * entries))):
            at = base + index * size
            if entry & 1 and entry & 2 and level < 3:
                tables.add(entry & ADDRESS)
                walk(entry & ADDRESS, level + 1, at)
            elif entry & 1:
                found.append(kind(at, entry & ADDRESS, size, entry))

    walk(root, 1, 0, 1 << bits - 30)
    return found


class Reader:
    """Stops the machine at a line of a VM, and reads registers and tables."""

    def __init__(self, port, vm, line):
        self.port, self.vm, self.line = port, vm, line
        self.stub = None

    def chunk(self, chunk):
        pass

    def tick(self, session):
        if self.stub is None:
            with contextlib.suppress(ConnectionRefusedError):  # the emulator does not listen yet
                self.stub = Stub(self.port)
                self.stub.go()
        elif self.vm in session.transcripts and self.line in session.transcripts[self.vm].text:
            self.stub.stop()
            self.look(session)
            self.stub.close()
            session.finish()
            self.tick = lambda _: None

    def look(self, session):
        cores = self.stub.cores()
        read = {
            name: [self.stub.read(core, name) for core in cores]
            for name in ("SCTLR_EL2", "TCR_EL2", "TTBR0_EL2", "VTTBR_EL2")
        }
        # A core without a VM was never started.
        self.control = {cpu: value for cpu, value in enumerate(read["SCTLR_EL2"]) if value & M}
        roots = {cpu: read["TTBR0_EL2"][cpu] & ROOT for cpu in self.control}
        bits = {cpu: 64 - (read["TCR_EL2"][cpu] & 0x3F) for cpu in self.control}
        # A core's root table is in its record, not in a frame.
        self.core_tables = {cpu: set() for cpu in roots}
        self.own = {
            cpu: leaves(session.memory, root, Own, self.core_tables[cpu], bits[cpu])
            for cpu, root in roots.items()
        }
        # A VMID is the VM's index plus one; a core without a VMID has no tables.
        roots = {value >> 48: value & ADDRESS for value in read["VTTBR_EL2"] if value >> 48}
        self.vm_tables = {vmid - 1: {root} for vmid, root in roots.items()}
        self.guests = {
            vmid - 1: leaves(session.memory, root, Guest, self.vm_tables[vmid - 1])
            for vmid, root in roots.items()
        }

    @property
    def tables(self):
        """All leaves."""
        return set().union(*self.core_tables.values(), *self.vm_tables.values())

    def close(self, session):
        pass


JOB_MANAGER = "job-manager", "manager", "job-manager: 0 failed"


@pytest.fixture(
    scope="module",
    params=[("motor-linux", "linux", "tenon-ready"), JOB_MANAGER],
    ids=lambda param: param[0],
)
def machine(request):
    """A built system and its tables: beside Linux, and after life cycles of other VMs."""
    return read(*request.param)


def read(name, vm, line):
    """Runs a system until its VM prints this line, and reads the tables."""
    built = build.build(systems.load(name))
    reader = Reader(gdb.port(), vm, line)
    Session(Target.of(built), RunOptions(gdb=reader.port), [reader]).run()
    return built, reader


def joined(found):
    """The ranges that the leaves cover."""
    whole = []
    for leaf in sorted(found, key=lambda leaf: leaf.at):
        if whole and whole[-1][1] == leaf.at:
            whole[-1][1] = leaf.at + leaf.size
        else:
            whole.append([leaf.at, leaf.at + leaf.size])
    return [tuple(part) for part in whole]


def extent(built, name):
    """Address and size of Mortise's variable with this text in its symbol."""
    with built.elf_files[symbols.MORTISE].open("rb") as file:
        found = ELFFile(file).get_section_by_name(".symtab").iter_symbols()
        (place,) = ((it["st_value"], it["st_size"]) for it in found if name in it.name)
    return place


@pytest.mark.timeout(400)
def test_translation_is_on_and_what_is_written_is_never_executed(machine):
    built, reader = machine
    reserve = built.system.reserve
    used = {cpu for vm in built.system.vms for cpu in vm.cpus} | set(
        reserve.cpus if reserve else ()
    )
    assert set(reader.control) == used
    assert {control & (M | C | WXN) for control in reader.control.values()} == {M | C | WXN}


def test_only_code_is_executed_and_nobody_writes_it(machine):
    built, reader = machine
    start, text_end, constants_end = (
        symbols.address(built, symbols.MORTISE, name)
        for name in ("__image_start", "__text_end", "__rodata_end")
    )
    for own in reader.own.values():
        executed = [leaf for leaf in own if leaf.executed]
        assert joined(executed) == [(start, text_end)]
        assert not any(leaf.written for leaf in executed)
        constants = [leaf for leaf in own if not leaf.executed and not leaf.written]
        assert joined(constants)[0] == (text_end, constants_end)


def test_no_core_maps_memory_of_guests(machine):
    """All mappings are 1:1, and each window is empty."""
    built, reader = machine
    layout = built.layout
    memory = [(area.pa, area.size) for vm in layout.vms.values() for area in vm.memory]
    if layout.reserve is not None:
        memory.append((layout.reserve.pa, layout.reserve.size))
    for own in reader.own.values():
        assert [leaf for leaf in own if leaf.at != leaf.pa] == []
        assert [leaf for leaf in own for area in memory if leaf.overlaps(*area)] == []


def test_a_core_maps_its_own_stack_and_the_status_of_who_runs_there(machine):
    built, reader = machine
    start, size = extent(built, "MORTISE_STACKS")
    stride = size // built.system.board.cpus
    for cpu, own in reader.own.items():
        found = [leaf for leaf in own if leaf.overlaps(start, size)]
        top = start + stride * (cpu + 1)
        assert joined(found) == [(top - stride + PAGE, top)]
        for vm in built.system.vms:
            status = built.layout.vm(vm.name).status_pa
            assert any(leaf.overlaps(status, PAGE) for leaf in own) == (cpu in vm.cpus)


def test_a_core_maps_its_own_tables_and_those_of_who_runs_there(machine):
    """The stage 2 tables of a VM are mapped on its own cores only."""
    built, reader = machine
    vms = {vm.index: vm for vm in built.system.vms}
    tables = {cpu: reader.core_tables[cpu] for cpu in reader.own}
    for index, found in reader.vm_tables.items():
        # The creator of a VM at run time fills its tables, on another core.
        for cpu in vms[index].cpus if index in vms else reader.own:
            tables[cpu] = tables[cpu] | found
    for cpu, own in reader.own.items():
        reached = {table for table in reader.tables if any(it.overlaps(table, PAGE) for it in own)}
        assert reached == tables[cpu]


@pytest.mark.parametrize("machine", [JOB_MANAGER], indirect=True, ids=["job-manager"])
def test_a_core_maps_the_registers_of_those_that_wait_for_it(machine):
    built, reader = machine
    start, size = extent(built, "DISPATCH")
    stride = size // built.system.board.cpus
    for cpu, own in reader.own.items():
        found = joined(leaf for leaf in own if leaf.overlaps(start, size))
        shared = cpu in built.system.reserve.cpus
        assert found == ([(start + stride * cpu, start + stride * (cpu + 1))] if shared else [])


def test_a_guest_reaches_what_it_has_in_blocks(machine):
    built, reader = machine
    image = built.layout.image_base, built.layout.image_size
    for vm in built.system.vms:
        place, found = built.layout.vm(vm.name), reader.guests[vm.index]
        within = [leaf for leaf in found if leaf.overlaps(*image)]
        status = [(place.status_pa, PAGE, False)] if place.status_ipa else []
        assert [(leaf.pa, leaf.size, leaf.written) for leaf in within] == status
        areas = [(area, True) for area in place.memory] + [
            (area, False) for area in (*place.shared, *place.areas)
        ]
        ram = [leaf for leaf in found if leaf.pa >= RAM]
        assert sum(leaf.size for leaf in ram) == sum(area.size for area, _ in areas)
        for area, private in areas:
            inside = [leaf for leaf in ram if leaf.overlaps(area.pa, area.size)]
            assert joined(inside) == [(area.ipa, area.ipa + area.size)]
            assert {leaf.pa - leaf.at for leaf in inside} == {area.pa - area.ipa}
            assert {leaf.executed for leaf in inside} == {private}
            assert {leaf.written for leaf in inside} == {bool(area.flags)}
            if private:
                assert min(leaf.size for leaf in inside) >= BLOCK


def counted(built):
    """The frames for tables in the image."""
    (mortise,) = (image for image in built.images if image.name == "mortise")
    return mortise.config.values["MORTISE_PAGE_TABLES"]


def test_frames_are_as_many_as_are_counted(machine):
    built, reader = machine
    assert len(reader.tables) <= counted(built)


@pytest.mark.timeout(400)
def test_the_least_system_has_a_use_for_every_frame():
    built, reader = read("bench-min", RAW, "hello")
    _, size = extent(built, "MORTISE_FRAME_ROOM")
    assert len(reader.tables) == counted(built) == size // PAGE
