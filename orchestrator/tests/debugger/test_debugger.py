"""The commands of gdb, without gdb: VMs, cores, threads, core files, text."""

import io
import random
from dataclasses import replace
from pathlib import Path

import pytest

from tenonos.debugger import text
from tenonos.debugger.core_file import core_file, whole_pages
from tenonos.debugger.cores import CoreState, execution
from tenonos.debugger.model import Area, DebuggedSystem, DebuggedVm, DebuggerError
from tenonos.debugger.segments import writable
from tenonos.debugger.threads import Layout, Table, chosen, named, read_threads, registers
from tenonos.run.target import Machine, Target, WatchedVm
from tenonos.system.memory_map import ColouredMemory

RAM = Area(0x4000_0000, 0x5000_0000, 0x10_0000)
MOTOR = DebuggedVm("motor", "tenon", 1, (3,), "/motor.elf", (RAM,))
LINUX = DebuggedVm("linux", "linux", 2, (0, 1), None)
SYSTEM = DebuggedSystem("x", (MOTOR, LINUX), "/mortise.elf", (0x4020_0000, 0x4021_0000))
EL1, EL2 = 0x3C5, 0x3C9


def test_the_image_is_told_by_exception_level_and_vmid():
    def executed(level, vmid, pc=0x4008_0000):
        now = execution(SYSTEM, CoreState(level, vmid << 48 | 0x4030_0000, pc))
        return now.image, now.vm and now.vm.name, now.text

    assert executed(EL1, 1) == ("motor", "motor", "motor")
    assert executed(0, 2) == ("linux", "linux", "linux")
    assert executed(0x10, 2)[0] == "linux", "AArch32 at EL0"
    assert executed(EL2, 2, 0x4020_1000) == ("mortise", "linux", "mortise, for linux")
    assert executed(EL2, 0, 0x4020_1000) == ("mortise", None, "mortise")
    assert executed(EL2, 0) == (None, None, "firmware")
    assert executed(EL2, 0, 0) == (None, None, "nothing: it is off")
    assert executed(EL1, 7) == (None, None, "a VM of a manager, VMID 7")


def test_without_mortise_the_image_is_the_only_one():
    alone = DebuggedSystem("x", (replace(MOTOR, vmid=None),))
    assert execution(alone, CoreState(EL1, 0, 0)).image == "motor"
    assert alone.names == ["motor"]


def test_memory_is_found_in_its_pieces():
    second = Area(RAM.guest + RAM.size, 0x7000_0000, 0x1000)
    vm = replace(MOTOR, memory=(RAM, second))
    assert list(vm.pieces(RAM.guest + 0x10, 8)) == [(RAM.physical + 0x10, 8)]
    assert list(vm.pieces(second.guest - 4, 8)) == [(0x500F_FFFC, 4), (0x7000_0000, 4)]
    assert vm.room(second.guest - 4) == 4 + 0x1000
    assert vm.room(0x1000) == 0
    with pytest.raises(DebuggerError, match="0x40101000 is outside the RAM of motor"):
        list(vm.pieces(second.guest, 0x1001))


def test_a_system_is_described_to_the_debugger(tmp_path):
    target = Target(
        *(
            "x",
            "b",
            "static",
            tmp_path / "image",
            Machine("virt", "a", (), 4, 0x4000_0000, 1 << 30),
        ),
        (
            WatchedVm(
                0, "motor", "tenon", (3,), 0, range(0x5000_0000, 0x5010_0000), (), "", RAM.guest
            ),
            WatchedVm(1, "linux", "linux", (0, 1), 0, range(0x6000_0000, 0x7000_0000)),
        ),
        range(*SYSTEM.text),
        elf_files=(("mortise", Path("/mortise.elf")), ("motor", Path("/motor.elf"))),
    )
    assert DebuggedSystem.of(target) == SYSTEM
    file = SYSTEM.write(tmp_path)
    assert DebuggedSystem.from_json(file.read_text()) == SYSTEM
    coloured = ColouredMemory(0x5000_0000, 0x4000, range(0), 2, (0b01, 0b10))
    vm = replace(target.vms[0], memory=range(0x5000_2000, 0x5000_4000))
    placed = DebuggedSystem.of(replace(target, vms=(vm,), coloured=coloured)).vms[0]
    assert list(placed.pieces(RAM.guest, 0x2000)) == [(0x5000_1000, 0x1000), (0x5000_3000, 0x1000)]
    alone = DebuggedSystem.of(replace(target, vms=(), alone="motor")).vm("motor")
    assert (alone.vmid, alone.cores) == (None, (0, 1, 2, 3))
    assert list(alone.pieces(0x4000_0000, 8)) == [(0x4000_0000, 8)]


FIELDS = ("id", "stack_pointer", "queue", "blocked_on", "priority", "state.priority", "wait_reason")
LAYOUT = Layout(
    size=96,
    thread={name: (8 * index, 8) for index, name in enumerate(FIELDS)}
    | {"name": (64, 16), "joiners": (80, 16)},
    mutex={"state.owner": (8, 8)},
    current=16,
    waits={0: "Dormant", 1: "None", 2: "Timer", 3: "Unpark", 4: "Queue"},
    storage=tuple(RAM.guest + 0x1000 + 0x100 * index for index in range(5)),
    kernels=(RAM.guest + 0x800,),
    context=96,
)
NAMES = RAM.guest + 0x4000
MUTEX = RAM.guest + 0x6000
STACK = RAM.guest + 0x8000


class Memory:
    """The RAM of `motor`."""

    def __init__(self):
        self.data = bytearray(RAM.size)

    def read(self, address, size):
        found = [self.data[at - RAM.physical :][:n] for at, n in MOTOR.pieces(address, size)]
        return bytes(b"".join(found))

    def word(self, address, value):
        at = address - RAM.guest
        self.data[at : at + 8] = value.to_bytes(8, "little")

    def thread(self, index, name=b"worker", **fields):
        base = LAYOUT.storage[index]
        for field, value in fields.items():
            self.word(base + LAYOUT.thread[field.replace("state_", "state.")][0], value)
        text_at = NAMES + 64 * index
        self.data[text_at - RAM.guest : text_at - RAM.guest + len(name)] = name
        self.word(base + 64, text_at)
        self.word(base + 72, len(name))


@pytest.fixture
def memory():
    memory = Memory()
    memory.thread(0, b"main", id=2, priority=8, state_priority=20, wait_reason=1)
    memory.thread(1, b"idle", id=1, wait_reason=1)
    memory.thread(2, id=3, wait_reason=4, blocked_on=MUTEX, stack_pointer=STACK | 1)
    memory.thread(3, id=4, wait_reason=4, queue=NAMES)
    memory.word(MUTEX + 8, LAYOUT.storage[0])
    memory.word(LAYOUT.kernels[0] + 16, LAYOUT.storage[0])
    return memory


def test_threads_are_read_from_memory(memory):
    threads = read_threads(memory.read, LAYOUT)
    assert [(t.number, t.name) for t in threads] == [
        *((1, "idle"), (2, "main"), (3, "worker"), (4, "worker")),
    ]
    main = threads[1]
    assert (main.priority, main.base_priority, main.core) == (20, 8, 0)
    names = {MUTEX: "table_lock"}
    states = [thread.state(names, threads, (3,), {3}) for thread in threads]
    assert states == [
        "ready",
        "runs on core 3",
        "waits for mutex table_lock, owned by main (2)",
        f"waits for {NAMES:#x}",
    ]
    assert main.state({}, threads, (3,), ()) == "runs on core 3, which has descheduled the VM"
    private = {NAMES: "SLOTS[0].alone.state"}
    assert threads[3].state(private, threads, (3,), ()) == "sleeps or waits for a signal"
    others = [replace(threads[0], wait=wait) for wait in ("Timer", "Unpark", "Dormant", "77")]
    assert [thread.state({}, threads, (3,), ()) for thread in others] == [
        *("sleeps", "waits to be unparked", "not started", "unknown state 77"),
    ]


def test_a_thread_that_waits_for_the_end_of_another_names_it(memory):
    memory.word(LAYOUT.storage[3] + LAYOUT.thread["queue"][0], LAYOUT.storage[2] + 80 + 8)
    threads = read_threads(memory.read, LAYOUT)
    assert threads[3].state({}, threads, (3,), ()) == "waits for the end of worker (3)"


def slot_table(count):
    places = {"thread": (0, 8), "number": (8, 4), "joiners": (16, 8), "result": (24, 8)}
    return Table(RAM.guest + 0xA000, count, 48, places)


def test_threads_without_names_have_those_of_a_trace(memory):
    """A pthread has that of its start routine, another thread that of its static."""
    slots, routine = slot_table(4), 0x4008_1000
    for index, (storage, start) in enumerate(((0, 0), (2, routine), (3, routine), (4, 0x77))):
        memory.word(slots.field(index, "thread")[0], LAYOUT.storage[storage])
        memory.word(slots.field(index, "result")[0], start)
    memory.thread(4, b"pthread", id=5, wait_reason=1)
    memory.word(LAYOUT.storage[1] + 64, 0)
    threads = read_threads(memory.read, replace(LAYOUT, slots=slots))
    wanted = [thread.symbol for thread in threads]
    assert wanted == [LAYOUT.storage[1], None, routine, routine, 0x77]
    found = named(threads, {routine: "fill", LAYOUT.storage[1]: "app::IDLE"})
    assert [thread.name for thread in found] == ["app::IDLE", "main", "fill", "fill 2", "0x77"]
    assert chosen(found, "fill 2", "motor").number == 4


def test_pthreads_have_the_names_that_the_program_gave_them(memory):
    slots = slot_table(3)
    names = Table(RAM.guest + 0xB000, 3, 24, {"owner": (0, 8), "text": (8, 16)})
    uses = ((2, 7, 7, b"log\ter"), (3, 8, 7, b"former"), (0, 1, 1, b""))
    for index, (storage, number, owner, name) in enumerate(uses):
        memory.word(slots.field(index, "thread")[0], LAYOUT.storage[storage])
        memory.word(slots.field(index, "number")[0], number)
        memory.word(names.field(index, "owner")[0], owner << 32 | index)
        at = names.field(index, "text")[0] - RAM.guest
        memory.data[at : at + 16] = name.ljust(16, b"\0")
    memory.word(LAYOUT.storage[3] + LAYOUT.thread["queue"][0], slots.field(0, "joiners")[0])
    threads = read_threads(memory.read, replace(LAYOUT, slots=slots, names=names))
    assert [thread.name for thread in threads] == ["idle", "main", "log?er", "worker"]
    assert threads[3].state({}, threads, (3,), ()) == "waits for the end of log?er (3)"
    unnamed = read_threads(memory.read, replace(LAYOUT, slots=slots))
    assert unnamed[2].name == "worker" and unnamed[3].joined == LAYOUT.storage[2]


def test_a_thread_is_chosen_by_number_or_by_its_only_name(memory):
    threads = read_threads(memory.read, LAYOUT)
    assert chosen(threads, "main", "motor").number == 2
    assert chosen(threads, "4", "motor").number == 4
    with pytest.raises(DebuggerError, match=r"2 threads of motor are named worker: .*, 3, 4$"):
        chosen(threads, "worker", "motor")
    with pytest.raises(DebuggerError, match="motor has no thread 9; see tenon-threads motor"):
        chosen(threads, "9", "motor")


def test_the_registers_of_a_suspended_thread_are_in_its_context(memory):
    for index in range(12):
        memory.word(STACK + 8 * index, 100 + index)
    thread = chosen(read_threads(memory.read, LAYOUT), "3", "motor")
    values = registers(memory.read, LAYOUT, thread)
    assert values[19:31] == list(range(100, 112))
    assert values[31:34] == [STACK + 96, 111, 0]


def test_names_of_a_guest_are_cut_and_cleaned(memory):
    memory.thread(3, b"\x1b[2J\xff" + b"x" * 100)
    memory.word(LAYOUT.storage[2] + 64, 0xFFFF_0000_0000)
    memory.word(LAYOUT.storage[1] + 64, 0)
    names = [thread.name for thread in read_threads(memory.read, LAYOUT)]
    assert names == ["-", "main", "?", "?[2J\N{REPLACEMENT CHARACTER}" + "x" * 19]


def test_memory_with_noise_is_read_without_an_error():
    fields = {
        "thread": (0, 8),
        "number": (8, 4),
        "joiners": (16, 8),
        "owner": (0, 8),
        "text": (8, 16),
        "result": (24, 8),
    }
    table = Table(RAM.guest + 0xA000, 64, 48, fields)
    layout = replace(LAYOUT, slots=table, names=table)
    for seed in range(50):
        memory = Memory()
        memory.data = bytearray(random.Random(seed).randbytes(RAM.size))
        threads = read_threads(memory.read, layout)
        assert len(threads) == len(LAYOUT.storage)
        for thread in threads:
            assert "\n" not in thread.state({}, threads, (3,), ())
            with pytest.raises(DebuggerError, match="outside the RAM"):
                registers(memory.read, LAYOUT, thread)


def test_a_core_file_has_threads_and_memory():
    from elftools.elf.elffile import ELFFile

    first, second = [*range(33), 0x3C5], [1 << 63] * 34
    file = ELFFile(io.BytesIO(core_file([first, second], [(0x4000, b"abcd"), (0x9000, b"x" * 9)])))
    assert (file["e_type"], file["e_machine"]) == ("ET_CORE", "EM_AARCH64")
    notes, *loads = file.iter_segments()
    assert [(load["p_vaddr"], load.data()) for load in loads] == [
        *((0x4000, b"abcd"), (0x9000, b"x" * 9)),
    ]
    # Each note: a header of 20 bytes, `struct elf_prstatus` of 392, its registers at 112.
    for index, values in enumerate((first, second)):
        status = notes.data()[412 * index + 20 :][:392]
        assert int.from_bytes(status[32:36], "little") == index + 1
        words = [int.from_bytes(status[112 + 8 * i :][:8], "little") for i in range(34)]
        assert words == values
    assert notes["p_filesz"] == 824


def test_ranges_become_whole_pages_without_overlaps():
    assert whole_pages([(0x1010, 0x10), (0x1FF0, 0x20), (0x5000, 0)], 1 << 20) == [(0x1000, 0x2000)]
    assert whole_pages([(0, 1), (0x3000, 0x1001)], 0x2000) == [(0, 0x1000), (0x3000, 0x1000)]


def test_writable_segments_are_limited(tmp_path):
    head = bytearray(64 + 3 * 56)
    head[32:40], head[54:58] = (64).to_bytes(8, "little"), b"\x38\0\x03\0"
    for index, (kind, flags, address, size) in enumerate(
        ((1, 5, 0x1000, 8), (1, 6, 0x2000, 0x100), (1, 6, 0x3000, 0x1000))
    ):
        at = 64 + 56 * index
        head[at : at + 8] = kind.to_bytes(4, "little") + flags.to_bytes(4, "little")
        head[at + 16 : at + 24] = address.to_bytes(8, "little")
        head[at + 40 : at + 48] = size.to_bytes(8, "little")
    file = tmp_path / "elf"
    file.write_bytes(head)
    assert writable(str(file), 0x200) == [(0x2000, 0x100), (0x3000, 0x100)]


def test_arguments_and_tables():
    assert text.split_condition("store if buffer == 0") == ("store", "buffer == 0")
    assert text.split_condition("main.c:16 if(n>1)") == ("main.c:16", "(n>1)")
    assert text.split_condition("notify") == ("notify", "")
    assert text.is_function("store", "store") and text.is_function("store", "app::store")
    assert not any(text.is_function("store", name) for name in (None, "restore", "store::new"))
    listed = (
        "Num     Type           Disp Enb Address            What\n"
        "-1      breakpoint     keep y   <MULTIPLE>         \n"
        "\tstop only if sample == 0x10000000\n"
        "-1.1                        y   0x000000004008a2d0 in store at b.c:16 inf 1\n"
        "-1.2                        y   0x000000004008a300 in f at b.c:16 inf 1\n"
    )
    assert text.placed(listed) == [0x4008A2D0, 0x4008A300]
    assert text.table([["a", "long"], ["bcd", ""]]) == "a    long\nbcd"
    assert [text.cores(numbers) for numbers in ((), (2,), (0, 1, 3))] == ["-", "2", "0-1, 3"]
    assert text.line(ValueError("a\n b")) == "a b" and text.line(KeyError()) == "KeyError"
    bare = ValueError('No symbol table is loaded.  Use the "file" command.')
    assert text.line(bare).startswith("the selected VM has no symbols; tenon-vm NAME FILE loads")
