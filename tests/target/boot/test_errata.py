"""Systems on CPUs with errata: their images boot, and guests are told of workarounds."""

from dataclasses import replace

import pytest
from test_guests import compile_guest

from tenonos import build
from tenonos import system as systems
from tenonos.analysis import errata as sequences
from tenonos.run import RunOptions, Session, Target

SYSTEM = """\
name = "errata"
board = "qemu-virt"
pool = "0.1"

[[vm]]
name = "guest"
kind = "image"
image = "smccc.elf"
cpus = [0]
memory = "2M"
interrupts = "shared"

[[vm]]
name = "tenon"
kind = "tenon"
app = "hello"
cpus = [1]
memory = "2M"
"""

TLBI, DSB_ISH = 0xD50C_83DF, 0xD503_3B9F
"""TLBI VMALLS12E1IS, and the barrier that completes it."""


@pytest.fixture
def booted(tmp_path):
    """Boots the system on a board with another CPU: what was built, and the guest's lines."""

    def boot(cpu, emulated):
        (tmp_path / "system.toml").write_text(SYSTEM)
        compile_guest(tmp_path, "smccc", "-Ttext=0x40080000")
        system = systems.load(tmp_path)
        qemu = system.board.emulator.model_copy(update={"cpu": emulated})
        board = replace(system.board, cpu=f"arm,{cpu}", qemu=qemu)
        built = build.build(replace(system, board=board))
        session = Session(Target.of(built), RunOptions(0.5, deterministic=True), [])
        result = session.run()
        assert result.failure is None
        states = {vm.name: vm.state for vm in result.vms}
        assert states["guest"] == "off" and "hello" in session.transcripts["tenon"].text
        lines = session.transcripts["guest"].text.splitlines()
        return built, dict(line.split(": ") for line in lines if ": " in line)

    return boot


NONE = "ffffffff ffffffff"
"""NOT_SUPPORTED, by HVC and by SMC."""


def assert_told(answers):
    """The convention is there, and no workaround, as the emulator's firmware has none."""
    names = ("version", "version by PSCI", "has version", "has features")
    version, *others = (answers.pop(name) for name in names)
    assert version == "00010001 00010001"
    assert others == ["00000000 00000000"] * 3
    assert len(answers) == 7


@pytest.mark.timeout(400)
def test_a_cortex_a53_has_no_workarounds_and_needs_none(booted):
    built, answers = booted("cortex-a53", "cortex-a53")
    assert_told(answers)
    assert set(answers.values()) == {NONE}
    assert invalidations(built) and all(times == 1 for times in invalidations(built))


@pytest.mark.timeout(400)
def test_a_cortex_a72_asks_its_firmware(booted):
    """The emulator's firmware has PSCI and not SMCCC, so that Mortise does not call it further."""
    _, answers = booted("cortex-a72", "cortex-a72")
    assert_told(answers)
    assert set(answers.values()) == {NONE}


@pytest.mark.timeout(400)
def test_a_cortex_a55_invalidates_twice(booted):
    """Emulated as the CPU nearest to it that each supported QEMU has."""
    built, answers = booted("cortex-a55", "cortex-a76")
    assert_told(answers)
    assert invalidations(built) and all(times == 2 for times in invalidations(built))


def invalidations(built):
    """For each broadcast invalidation of Mortise, how many times in a row it is done."""
    content = built.elf_files["mortise"].read_bytes()

    def scan(code):
        words, index = code.words, 0
        while index < len(words):
            times = 0
            while index < len(words) and words[index] == TLBI:
                times += 1
                index += 2 if words[index + 1] == DSB_ISH else 1
            if times:
                yield times
            index += 1

    return [place.address for place in sequences.places(content, scan)]
