"""Forbidden instructions on a lent core, compared with binutils' decoder."""

import ctypes
import random
import re
import shutil
import struct
import subprocess

import pytest
from host import library
from hypothesis import given
from hypothesis import strategies as st

from tenonos.analysis import a64

OBJDUMP = "aarch64-linux-gnu-objdump"
peer = pytest.mark.skipif(not shutil.which(OBJDUMP), reason="needs a cross compiler")

RET, NOP, WAIT, WFI, ERET = 0xD65F03C0, 0xD503201F, 0xD4000001 | 0x7E0 << 5, 0xD503207F, 0xD69F03E0

WRITABLE = {"nzcv", "dit", "ssbs", "fpcr", "fpsr", "tpidr_el0"}
READABLE = WRITABLE | {
    *("ctr_el0", "dczid_el0", "tpidrro_el0", "cntfrq_el0", "cntvct_el0", "cntvctss_el0"),
}
CACHES = {"dc zva", "dc cvac", "dc cvau", "dc cvap", "dc cvadp", "dc civac", "ic ivau"}
HARMLESS = {
    *("nop", "yield", "wfe", "sev", "sevl", "hint", "bti", "csdb", "esb", "dgh", "psb", "tsb"),
    *("gcsb", "chkfeat", "clearbhb", "clrbhb"),
    *("clrex", "dmb", "isb", "sb", "ssbb", "pssbb", "cfinv", "xaflag", "axflag"),
    *("pacia1716", "pacib1716", "autia1716", "autib1716", "paciaz", "paciasp", "pacibz"),
    *("pacibsp", "autiaz", "autiasp", "autibz", "autibsp", "xpaclri", "brk"),
}
"""System instructions and exceptions allowed in a hyplet besides moves and maintenance."""
UNKNOWN = re.compile(r"\.inst|udf|undefined")


@pytest.fixture(scope="module")
def c(tmp_path_factory):
    found = library(tmp_path_factory.mktemp("opcodes"), "module/opcodes.c")
    found.tenon_opcode_wrong.restype = ctypes.c_char_p
    found.tenon_opcodes_scan.restype = ctypes.c_uint64
    return found


def scan(c, words):
    reason = ctypes.c_char_p()
    array = (ctypes.c_uint32 * max(len(words), 1))(*words)
    found = c.tenon_opcodes_scan(array, ctypes.c_uint64(len(words)), ctypes.byref(reason))
    return found, reason.value


def disassembled(folder, words):
    """Each word as binutils reads it: its mnemonic and its operands."""
    file = folder / "words"
    file.write_bytes(struct.pack(f"<{len(words)}I", *words))
    command = [OBJDUMP, "-D", "-z", "-b", "binary", "-m", "aarch64", file]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    lines = re.findall(r"^ +[0-9a-f]+:\t([0-9a-f]{8}) \t(.*)$", text, re.MULTILINE)
    assert [int(word, 16) for word, _ in lines] == words
    return [line.split("//")[0].rstrip().split("\t") for _, line in lines]


def is_system(word):
    """Exceptions, system instructions and ERET: what has the opcodes of C4.1.94 and on."""
    return word >> 24 in (0xD4, 0xD5) or word & 0xFF800000 == 0xD6800000


def may(name, operands):
    """Whether an instruction is one for EL0 without an operating system, as its name says."""
    first, *others = [operand.strip() for operand in operands.split(",")]
    match name:
        case "svc":
            return first == "#0x7e0"
        case "mrs":
            return others[0] in READABLE
        case "msr":
            return first in (WRITABLE if others[0].startswith("x") else {"ssbs", "dit"})
        case "dc" | "ic":
            return f"{name} {first}" in CACHES
        case "dsb":
            return not first.endswith("nxs")  # which waits for invalidations of a TLB
        case _:
            return name in HARMLESS


def compare(c, folder, words):
    """Judged as its name says; how many of them were refused."""
    refused = 0
    for word, (name, *operands) in zip(words, disassembled(folder, words), strict=True):
        reason = c.tenon_opcode_wrong(ctypes.c_uint32(word))
        if not is_system(word):
            assert reason is None, f"{word:#010x} {name} {operands}: {reason}"
        elif not UNKNOWN.search(name):
            expected = may(name, *operands or [""])
            assert (reason is None) == expected, f"{word:#010x} {name} {operands}: {reason}"
        refused += reason is not None
    return refused


@peer
def test_every_system_instruction_is_judged_by_its_name(c, tmp_path):
    """All of op0, op1, CRn, CRm, op2, in both directions: each register and operation there is."""
    words = [0xD5000000 | fields << 5 | rt for fields in range(1 << 17) for rt in (3, 31)]
    assert compare(c, tmp_path, words) > len(words) * 0.99


@peer
def test_exceptions_and_returns_are_judged_as_their_names_say(c, tmp_path):
    immediates = (0, 1, 0x7DF, 0x7E0, 0x7E1, 0xFFFF)
    words = [
        0xD4000000 | opc << 21 | immediate << 5 | low
        for opc in range(8)
        for immediate in immediates
        for low in range(32)
    ]
    words += [0xD6000000 | opc << 21 | rest for opc in range(16) for rest in (0x1F03E0, 0x1F0BFF)]
    assert compare(c, tmp_path, words)


@peer
def test_no_other_word_is_refused(c, tmp_path):
    """Ordinary instructions and constants that are no instructions are accepted."""
    chance = random.Random(7)
    compare(c, tmp_path, [chance.getrandbits(32) for _ in range(100_000)])


@given(st.integers(0, 2**32 - 1))
def test_control_flow_within_the_code_passes(c, word):
    """As the call graph's decoder has it: of branches, ERET alone is refused."""
    flow = a64.effect(word, 0).flow
    if flow not in (a64.Flow.NEXT, a64.Flow.TRAP) and word != ERET:
        assert c.tenon_opcode_wrong(ctypes.c_uint32(word)) is None


@given(st.lists(st.sampled_from([NOP, RET, WAIT, 0, WFI, ERET, 0xD4000001])))
def test_a_scan_finds_the_first_and_reports_why(c, words):
    wrong = [at for at, word in enumerate(words) if word in (WFI, ERET, 0xD4000001)]
    found, reason = scan(c, words)
    assert found == (wrong[0] if wrong else len(words))
    assert reason == (
        {WFI: b"WFI", ERET: b"ERET"}.get(words[wrong[0]], b"a system call") if wrong else None
    )
