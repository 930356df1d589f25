"""The machine's memory as a file."""

import mmap
import os

from tenonos.run import memory
from tenonos.run.memory import Ram
from tenonos.system.limits import PAGE
from tenonos.system.memory_map import ColouredMemory

MIB = 1 << 20


def test_what_was_written_is_found_without_filling_the_holes(tmp_path):
    ram = Ram(tmp_path / "ram", 0x4000_0000, 64 * MIB)
    with (tmp_path / "ram").open("r+b") as file, mmap.mmap(file.fileno(), 0) as view:
        view[5 * MIB] = 1
        view[40 * MIB : 40 * MIB + 3] = b"end"
    pieces = list(ram.written(step=4096))
    assert sum(len(data) for _, data in pieces) < 8 * MIB
    found = {base + at for base, data in pieces for at, byte in enumerate(data) if byte}
    assert found == {0x4000_0000 + 5 * MIB, *range(0x4280_0000, 0x4280_0003)}
    assert os.stat(tmp_path / "ram").st_blocks * 512 < 8 * MIB
    assert ram.read(0x4280_0000, 3) == b"end"
    ram.close()


def test_unwritten_memory_reads_as_zero(tmp_path):
    ram = Ram(tmp_path / "ram", 0, MIB)
    assert list(ram.written()) == []
    ram.close()


def test_pages_of_a_part_are_read_as_consecutive(tmp_path):
    # Pages of two colours in turn, one for each of two parts.
    coloured = ColouredMemory(PAGE, 4 * PAGE, range(0), 2, (1, 2))
    ram = Ram(tmp_path / "ram", 0, MIB, coloured)
    with (tmp_path / "ram").open("r+b") as file, mmap.mmap(file.fileno(), 0) as view:
        for page in range(6):
            view[page * PAGE : (page + 1) * PAGE] = bytes([page]) * PAGE
    assert set(ram.read(0, PAGE)) == {0}
    assert ram.read(2 * PAGE - 1, 2) == bytes([1, 3])
    assert ram.read(4 * PAGE - 1, 2) == bytes([2, 4])
    assert ram.at(2 * PAGE, 1) == bytes([2])
    ram.close()


def test_ram_that_exceeds_the_memory_of_the_host_is_a_file_on_disk(tmp_path, monkeypatch):
    """A file of a folder in memory is never written back: the host would kill the emulator."""
    shared, figures, disk = (tmp_path / name for name in ("shm", "meminfo", "disk"))
    shared.mkdir()
    monkeypatch.setattr(memory, "_SHM", shared)
    monkeypatch.setattr(memory, "_MEMORY", figures)
    for kilobytes, parent in ((1_000, disk), (3_000, shared)):
        figures.write_text(f"MemTotal:  {kilobytes} kB\nMemAvailable:  {kilobytes} kB\n")
        with memory.RunFolder(1 << 20, disk) as folder:
            assert folder.parent == parent
    figures.unlink()
    with memory.RunFolder(1 << 20, disk) as folder:
        assert folder.parent == shared
