"""The counting plugin on a machine without a kernel.

Hand-assembled instructions stand for both kernels: code that is declared as Mortise's is called
before each sample, and a status page and a task area are filled. All counts are known in advance.
"""

import struct

import pytest

from tenonos.run import RunOptions, Session, Target
from tenonos.run.plugin import FIRST, Passage, Visit
from tenonos.run.target import Machine, WatchedTask, WatchedVm

BASE = 0x4008_0000  # QEMU's load address of a kernel without a header
OTHER, MORTISE = BASE + 0xF00, BASE + 0x1000
STATUS, TASK, UART = 0x4400_0000, 0x4410_0000, 0x0900_0000
CALLED_ALREADY = 0x4420_0000
SAMPLES, PERIOD = 20, 1000
NOP, RET, WFI, SMC = 0xD503201F, 0xD65F03C0, 0xD503207F, 0xD4000003
HELLO = b"[00000.000000007] motor| hello\r\n"


class Program:
    """A minimal assembler."""

    def __init__(self):
        self.words = []

    @property
    def here(self):
        return BASE + 4 * len(self.words)

    def put(self, *words):
        self.words += words

    def load(self, register, value):
        for part in range(4):
            movk_or_movz = 0xF280_0000 if part else 0xD280_0000
            word = movk_or_movz | part << 21 | (value >> 16 * part & 0xFFFF) << 5
            self.put(word | register)

    def store(self, register, base, offset=0, size=3):
        self.put(size << 30 | 0x3900_0000 | offset >> size << 10 | base << 5 | register)

    def store_release(self, register, base):
        self.put(0xC89F_FC00 | base << 5 | register)

    def add(self, to, register, value):
        self.put(0x9100_0000 | value << 10 | register << 5 | to)

    def set(self, address, value, size=3):
        self.load(9, address)
        self.load(10, value)
        self.store(10, 9, size=size)

    def branch(self, target, link=False):
        self.put((0x9400_0000 if link else 0x1400_0000) | (target - self.here >> 2) & 0x3FF_FFFF)

    def branch_unless_equal(self, a, b, target):
        self.put(0xEB00_001F | b << 16 | a << 5)
        self.put(0x5400_0001 | (target - self.here >> 2 & 0x7_FFFF) << 5)


CALLED = (NOP, NOP, NOP, NOP, RET)
BEGIN, END = 0xD503_2FDF, 0xD503_2FFF  # the hint instructions of marks
LOOK, RETURN = 0xD538C100, 0xD69F03E0  # mrs x0, isr_el1; eret
TO_CALLER = (0xD51C_403E, 0xD51C_400C)  # msr elr_el2, x30; msr spsr_el2, x12
VISITED = (*TO_CALLER, NOP, LOOK, NOP, RETURN)


def program(mortise=CALLED, cores=1):
    """The image, and both ends of the measured path. A second core calls Mortise's code once,
    before the first one does."""
    code = Program()
    if cores == 2:
        code.load(9, CALLED_ALREADY)
        code.load(0, 0xC400_0003)  # PSCI CPU_ON
        code.load(1, 1)
        code.load(2, OTHER)
        code.put(SMC)
        code.put(0xF940_012A, 0xB4FF_FFEA)  # ldr x10, [x9]; cbz x10, .-4
    code.load(12, 0x3C9)  # EL2 with SP_EL2, everything masked
    for byte in HELLO:
        code.set(UART, byte, size=0)
    code.set(STATUS, 1 << 32 | 0x54534E54)
    code.set(STATUS + 0x28, 2)  # running
    code.set(STATUS + 0x30, 1 << 32)  # one vCPU
    code.set(TASK, 1 << 32 | 0x4B534154)
    code.set(TASK + 0x28, PERIOD)
    code.set(TASK + 0x38, 64)
    for register, value in ((1, TASK), (2, 0), (3, SAMPLES), (4, TASK + 0x1000), (5, 0)):
        code.load(register, value)
    code.load(7, TASK + 0x40)
    code.load(8, STATUS + 0x200)
    loop = code.here
    code.branch(MORTISE, link=True)
    code.add(11, 11, 1)
    code.store(11, 8)  # one exit by interrupt
    start = code.here
    code.put(BEGIN, NOP, END)
    end = code.here
    code.store(2, 4, 0)  # seq
    code.store(5, 4, 8)  # release
    code.add(6, 5, 16)
    code.store(6, 4, 16)  # begin
    code.store(11, 4, 24)  # exits
    code.add(4, 4, 32)
    code.add(5, 5, PERIOD)
    code.add(2, 2, 1)
    code.store_release(2, 7)
    code.branch_unless_equal(2, 3, loop)
    code.put(WFI)
    code.branch(code.here - 4)
    code.words += [NOP] * ((OTHER - code.here) // 4)
    code.branch(MORTISE, link=True)
    code.set(CALLED_ALREADY, 1)
    code.put(WFI)
    code.branch(code.here - 4)
    code.words += [NOP] * ((MORTISE - code.here) // 4)
    code.put(*mortise)
    return struct.pack(f"<{len(code.words)}I", *code.words), start, end


@pytest.fixture
def machine(tmp_path):
    return make_target(tmp_path, *program())


def make_target(tmp_path, image_bytes, start, end, cores=1):
    image = tmp_path / "image"
    image.write_bytes(image_bytes)
    task = WatchedTask("motor", "control", PERIOD, PERIOD, TASK, 0x1000 + 64 * 32)
    ram = range(BASE, MORTISE)
    target = Target(
        name="bare",
        board="qemu-virt",
        mode="static",
        image=image,
        machine=Machine(
            "virt,virtualization=on,gic-version=3",
            "cortex-a53",
            ("-nodefaults", "-nic", "none", "-display", "none"),
            cpus=cores,
            ram_base=0x4000_0000,
            ram_size=256 << 20,
        ),
        vms=(WatchedVm(0, "motor", "tenon", (0,), STATUS, ram, (task,)),),
        mortise_text=range(MORTISE, MORTISE + 0x1000),
    )
    return target, (start, end)


def options(periods=SAMPLES - 1, **more):
    """Options of a run with a window that the last sample closes: all records precede its end."""
    return RunOptions(seconds=periods * PERIOD / 1e9, boot_limit=30, **more)


@pytest.mark.timeout(60)
def test_every_count_is_exact_and_repeats(machine):
    target, route = machine
    texts = []
    for _ in range(2):
        session = Session(target, options(10, deterministic=True, routes=(route,)), [])
        result = session.run()
        texts.append(result.to_json())
    assert texts[0] == texts[1]
    assert result.failure is None
    vm, task, path = result.vms[0], result.periodic[0], result.paths[0]
    assert (vm.state, vm.exits_in_window) == ("running", 9)
    assert vm.exits.irq == 10, "as of the last sample of the window, not of the end"
    assert vm.el2_instructions_in_window == 9 * 5
    assert (task.released, task.completed, task.late, task.duplicates) == (10, 10, 0, 0)
    assert (task.first_ns, task.last_ns) == (0, 9 * PERIOD)
    assert (task.latency_ns.min, task.latency_ns.max) == (16, 16)
    # Those of the window, and the one of the sample that closes it.
    assert (path.min, path.max, path.count) == (3, 3, 11)
    assert (result.channels[0].messages, result.channels[0].lost) == (10, 0)
    assert session.transcripts["motor"].text == "hello"


@pytest.mark.timeout(60)
def test_code_of_all_cores_is_counted_by_the_core_that_executes_it(tmp_path):
    target, route = make_target(tmp_path, *program(cores=2), cores=2)
    records = []
    asked = {"routes": (route, (MORTISE, MORTISE + 4 * 4)), "count": records.append}
    result = Session(target, options(deterministic=True, **asked), []).run()
    assert result.vms[0].el2_instructions_in_window == (SAMPLES - 2) * 5
    called = [r.vcpu for r in records if isinstance(r, Passage) and r.path == 1]
    assert called == [1] + [0] * SAMPLES


@pytest.mark.timeout(60)
def test_every_visit_is_reported(tmp_path):
    target, route = make_target(tmp_path, *program(VISITED))
    records = []
    routes = (route, (MORTISE, MORTISE + 4 * 5))
    plan = ("visits", "steps", "marks", f"reach {MORTISE + 8:x}")
    asked = {"routes": routes, "plan": plan, "count": records.append}
    more = options(deterministic=True, **asked)
    Session(target, more, []).run()
    visits = [record for record in records if isinstance(record, Visit)]
    assert len(visits) == SAMPLES - 1, "the last one's end is never known"
    assert {(visit.vcpu, visit.before, visit.after) for visit in visits} == {(0, FIRST, FIRST)}
    assert {(visit.entry, visit.instructions) for visit in visits} == {(MORTISE, 6)}
    assert {visit.steps for visit in visits} == {tuple(range(MORTISE, MORTISE + 24, 4))}
    sections = {(visit.section, visit.first, visit.last) for visit in visits}
    assert sections == {(4, MORTISE, MORTISE + 12)}, "the look ends it"
    assert {visit.sysreg_writes for visit in visits} == {2}
    inside = [r for r in records if isinstance(r, Passage) and r.path == 1]
    assert {(passage.instructions, passage.el2, passage.other) for passage in inside} == {(5, 5, 0)}
    marked = [r for r in records if isinstance(r, Passage) and r.path == 2]
    assert {(passage.instructions, passage.el2) for passage in marked} == {(2, 0)}
    reached = [r.el2_everywhere for r in records if isinstance(r, Passage) and r.path == 3]
    assert reached == [2] * (SAMPLES - 1), "from the mark on, on any core; none before the first"


@pytest.mark.timeout(60)
def test_host_timing_reads_the_same_from_memory(machine):
    target, _ = machine
    result = Session(target, options(10), []).run()
    assert result.failure is None
    assert result.timing == "host" and result.note
    assert result.periodic[0].completed == 10
    assert result.vms[0].exits_in_window == 9
    assert result.vms[0].el2_instructions_in_window is None
    assert result.channels[0].messages == SAMPLES


@pytest.mark.timeout(60)
def test_an_emulator_that_fails_is_reported(machine, tmp_path):
    from dataclasses import replace

    from tenonos.errors import WorkError

    target, _ = machine
    broken = replace(target, machine=replace(target.machine, cpu="cortex-a1"))
    with pytest.raises(WorkError, match="cortex-a1"):
        Session(broken, options(), []).run()


@pytest.mark.timeout(60)
def test_a_clone_may_be_anywhere(machine, tmp_path, monkeypatch):
    from tenonos import paths
    from tenonos.run import memory

    odd = tmp_path / "a, b" / ("long" * 30)
    monkeypatch.setattr(memory, "_SHM", tmp_path / "none")
    monkeypatch.setattr(paths, "RUN", odd)
    target, _ = machine
    session = Session(target, options(10, deterministic=True), [])
    assert session.run().periodic[0].completed == 10
    assert session._ram.path.is_relative_to(odd)
