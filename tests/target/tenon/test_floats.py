"""Floating point: not used by images without it, and preserved per context in images with it."""

import json

import pytest
from conftest import assert_well, until
from elftools.elf.elffile import ELFFile


@pytest.mark.parametrize("fp", ["n", "y"])
def test_an_image_uses_floating_point_only_if_it_may(tenon, fp):
    setting = f"CONFIG_TENON_THREAD_FP={fp}"
    built = tenon("build", "hello", "-D", setting, "--json", json_file=False)
    assert_well(built)
    image = json.loads(built.stdout)["elves"]["hello"]
    assert bool(floating(image)) == (fp == "y")


WILD = """
#![no_std]

use core::arch::naked_asm;
use tenon::thread::{self, Priority, Storage};

static WILD: Storage<4096> = Storage::new();

pub fn main() {
    let wild = || {
        thread::disable_fp();
        touch();
    };
    let _ = WILD.spawn("wild", Priority::new(20), wild);
    tenon::log::info!("and on it goes");
}

#[unsafe(naked)]
extern "C" fn touch() {
    naked_asm!(".arch_extension fp", "fmov d0, xzr", "ret")
}
"""


@pytest.mark.parametrize(
    ("settings", "end"),
    [
        ("", "fatal: floating point where there is none in thread wild: esr="),
        (
            "FP=y FP_HANDLERS=n FP_CHOICE=y",
            "fatal: use of floating point it has forgone in thread wild: esr=",
        ),
        ("FP=y FP_HANDLERS=n", None),
    ],
)
def test_a_thread_without_floating_point_that_uses_it_is_named(tenon, tmp_path, settings, end):
    assert_well(tenon("-C", tmp_path, "new", "app", "pump", json_file=False))
    folder = tmp_path / "pump"
    (folder / "src" / "lib.rs").write_text(WILD)
    config = "".join(f"CONFIG_TENON_THREAD_{setting}\n" for setting in settings.split())
    (folder / "pump.config").write_text(config)
    system = folder / "system.toml"
    system.write_text(system.read_text().partition("[[vm.task]]")[0])
    last = until(tmp_path, pump=end or "and on it goes")
    outcome = tenon("run", folder, "--headless", *last)
    said = outcome.said("pump")
    assert any("and on it goes" in line for line in said) == (end is None), said
    assert [line for line in said if "fatal" in line] == [
        line for line in said if end is not None and end in line
    ]
    assert end is None or any(end in line for line in said)


def floating(path):
    """The addresses of instructions that touch v0 to v31."""
    with open(path, "rb") as file:
        elf = ELFFile(file)
        texts = [s for s in elf.iter_sections() if s["sh_flags"] & 4]  # SHF_EXECINSTR
        codes = [(text["sh_addr"], text.data()) for text in texts]
        marks = sorted(
            (symbol["st_value"], symbol.name[:2])
            for symbol in elf.get_section_by_name(".symtab").iter_symbols()
            if symbol.name[:2] in ("$x", "$d")
        )
    assert any(kind == "$x" for _, kind in marks), "no mapping symbols tell code from data"
    found = []
    for start, code in codes:
        stop = start + len(code)
        ends = [mark for mark, _ in marks[1:]] + [stop]
        for (begin, kind), end in zip(marks, ends, strict=True):
            if kind == "$x" and start <= begin < stop:
                words = range(begin, min(end, stop) - 3, 4)
                found += [a for a in words if is_floating(code[a - start : a - start + 4])]
    return found


def is_floating(word):
    """Bits 27 and 26: SIMD and floating point, or their loads and stores (Arm ARM, C4.1)."""
    return word[3] >> 2 & 0b11 == 0b11


IN_TURNS = """
name = "in-turns"
board = "qemu-virt"
pool = "0.1"
mode = "dynamic"
"""

ONE_OF_THEM = """
[[vm]]
name = "{}"
kind = "tenon"
app = "fp-test"
cpus = [0]
memory = "2M"
interrupts = "shared"
priority = {}
"""


@pytest.mark.long(25, "pool/mortise/dispatch", "pool/mortise/vcpu")
@pytest.mark.parametrize("priorities", [(0, 0, 0), (32, 0, 0)])
def test_vms_that_share_a_core_keep_their_own(tenon, tmp_path, priorities):
    """Each VM fills all registers and compares them after others ran, by yields and preemption."""
    names = ("one", "other", "third")
    vms = map(ONE_OF_THEM.format, names, priorities)
    (tmp_path / "system.toml").write_text(IN_TURNS + "".join(vms))
    outcome = tenon("run", tmp_path, "--headless", "--deterministic", "--seconds", 2, limit=120)
    assert_well(outcome)
    for name in names:
        said = outcome.said(name)
        assert any("fp-test: 8 passed, 0 failed" in line for line in said), said
