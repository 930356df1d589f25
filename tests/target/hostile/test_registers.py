"""Each register that EL1 can write holds its value while another VM runs on the core."""

import re
import subprocess
from dataclasses import replace

import pytest
from conftest import SUPPORT

from tenonos import build
from tenonos import system as systems
from tenonos.run import RunOptions, Session, Target

SYSTEM = """\
name = "marks"
board = "qemu-virt"
pool = "0.1"
mode = "dynamic"
""" + "".join(
    f"""
[[vm]]
name = "{name}"
kind = "image"
image = "{name}.elf"
cpus = [1]
memory = "2M"
interrupts = "shared"
"""
    for name in ("one", "other")
)

MARKS = {"one": 0x5A5A_5A5A_5A5A_5A5A, "other": 0xA5A5_A5A5_A5A5_A5A5}
TURN = 5
"""Milliseconds between mark and look: several slices of the other VM."""

OLDEST = {
    *("S3_0_C1_C0_0", "S3_0_C1_C0_2", "S3_0_C2_C0_0", "S3_0_C2_C0_1", "S3_0_C2_C0_2"),
    *("S3_0_C4_C0_0", "S3_0_C4_C0_1", "S3_0_C4_C1_0", "S3_0_C4_C6_0", "S3_0_C5_C2_0"),
    *("S3_0_C6_C0_0", "S3_0_C7_C4_0", "S3_0_C10_C2_0", "S3_0_C12_C0_0", "S3_0_C12_C8_3"),
    *("S3_0_C12_C8_4", "S3_0_C12_C9_0", "S3_0_C12_C12_3", "S3_0_C12_C12_4", "S3_0_C12_C12_6"),
    *("S3_0_C12_C12_7", "S3_0_C13_C0_1", "S3_0_C13_C0_4", "S3_0_C14_C1_0", "S3_2_C0_C0_0"),
    *("S3_3_C4_C4_0", "S3_3_C4_C4_1", "S3_3_C13_C0_2", "S3_3_C13_C0_3", "S3_3_C14_C3_1"),
    "S3_3_C14_C3_2",
}
"""Registers that every core has; the bounds of the search are among them."""

DISR = "S3_0_C12_C1_1"
KEYS = {f"S3_0_C2_C{crm}_{op2}" for crm in (1, 2, 3) for op2 in range(4) if (crm, op2) < (3, 2)}
LATER = {
    "cortex-a53": set(),
    "cortex-a76": {DISR},
    "max": {DISR} | KEYS,
}
"""Registers of later architectures that are there although what they belong to may be hidden."""


@pytest.fixture(scope="module")
def image(tmp_path_factory):
    """A system of two VMs on one core, for any CPU."""
    folder = tmp_path_factory.mktemp("marks")
    (folder / "system.toml").write_text(SYSTEM)
    for name, mark in MARKS.items():
        command = [
            *("aarch64-linux-gnu-gcc", "-O1", "-Wall", "-Wextra", "-Werror", "-ffreestanding"),
            *("-nostdlib", "-mgeneral-regs-only", "-mstrict-align", "-fno-pie", "-no-pie"),
            *("-Wl,--build-id=none,-n,-e,entry,-Ttext=0x40080000", "-Wl,--no-warn-rwx-segments"),
            *(f"-DMARK={mark:#x}ul", f"-DTURN={TURN}", "-o", folder / f"{name}.elf"),
            SUPPORT / "guests" / "marks.c",
        ]
        subprocess.run(command, check=True)
    return build.build(systems.load(folder))


def test_each_save_of_a_vcpu_follows_a_look_for_its_errors(image):
    # The emulator raises no SError, so that the order of instructions is checked: the accesses of
    # the VM are waited for, and a pending SError is seen, before its registers are exchanged.
    listing = subprocess.run(
        ["aarch64-linux-gnu-objdump", "-d", "--no-show-raw-insn", image.elf_files["mortise"]],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    lines = [line.split("\t", 1) for line in listing.split("\n") if "\t" in line]
    code = [instruction.replace("\t", " ") for _, instruction in lines]
    saves = [
        at
        for at, line in enumerate(code)
        if re.fullmatch(r"mrs x\d+, elr_el2", line) and "spsr_el2" in code[at + 1]
    ]
    saves = [at for at in saves if any("sctlr_el1" in line for line in code[at : at + 5])]
    assert saves
    for at in saves:
        before = "\n".join(code[at - 14 : at])
        assert re.search(r"^dsb sy\nmrs x\d+, isr_el1$", before, re.MULTILINE), before


def run_on(image, cpu):
    """Runs the image on another CPU of the emulator; returns the result and what each VM said."""
    target = Target.of(image)
    target = replace(target, machine=replace(target.machine, cpu=cpu))
    session = Session(target, RunOptions(deterministic=True), [])
    result = session.run()
    return result, {
        name: [line.text for line in transcript.lines]
        for name, transcript in session.transcripts.items()
    }


@pytest.mark.timeout(300)
@pytest.mark.parametrize("cpu", LATER)
def test_no_register_shows_what_another_vm_left_there(image, cpu):
    result, said = run_on(image, cpu)
    assert result.failure is None
    for name in MARKS:
        *lines, last = said[name]
        changed = [line for line in lines if " was " in line]
        assert changed == [], name
        found = set(lines)
        assert last == f"0 lost of {len(found)}"
        assert all(re.fullmatch(r"S[23]_\d_C\d+_C\d+_\d", line) for line in found)
        assert found >= OLDEST | LATER[cpu], name
