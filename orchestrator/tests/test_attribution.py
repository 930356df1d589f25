"""Attribution of code to libraries: by path, and in a linked image."""

from io import BytesIO
from pathlib import Path

import pytest
import rust_image
from elftools.elf.elffile import ELFFile

from tenonos.analysis.source_locations import SourceLocations
from tenonos.build import elf
from tenonos.build.attribution import attribute, owner


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("./pool/core/timer/src/queue.rs", "core/timer"),
        (".//home/me/tenon/pool/hw/arch/src/lib.rs", "hw/arch"),
        ("./examples/apps/motor/src/lib.rs", "apps/motor"),
        ("./pool/apps/relay/main.c", "apps/relay"),
        ("./tests/guests/hostile/src/lib.rs", "apps/hostile"),
        ("/home/me/bench/apps/bench/src/lib.rs", "apps/bench"),
        ("/home/me/.cargo/registry/src/index-1f/dtoolkit-0.4.0/src/fdt.rs", "dtoolkit"),
        ("/c/registry/src/index-1f/aarch64-paging-0.12.1/src/lib.rs", "aarch64-paging"),
        ("./home/.cargo/registry/src/i/compiler_builtins-0.1.160/src/mem.rs", "rust"),
        ("/rustc/59807616/library/core/src/fmt/mod.rs", "rust"),
        ("/rustc/59807616/library/core/src", "rust"),
        ("./.tenon/target/crates/mortise-image/src/main.rs", "generated"),
        ("/elsewhere/mine/src/lib.rs", "apps/mine"),
    ],
)
def test_paths(path, name):
    assert owner(path, {"apps/mine": Path("/elsewhere/mine")}) == name


SOURCE = """
#![no_std]
#![no_main]
#[path = "{timer}"] mod timer;
#[path = "{arch}"] mod arch;
#[panic_handler] fn panic(_: &core::panic::PanicInfo) -> ! {{ loop {{}} }}
#[unsafe(no_mangle)] extern "C" fn _start(a: u64) -> u64 {{ arch::outer(a) }}
"""
TIMER = (
    "#[inline(always)] pub fn inner(a: u64) -> u64 { (a ^ 3).wrapping_mul(a | 5).rotate_left(7) }"
)
ARCH = """
core::arch::global_asm!("labelled_here:", "nop", "nop", "nop");
#[inline(never)] pub fn outer(a: u64) -> u64 { crate::timer::inner(a).max(a + 1) }
"""


def test_a_linked_image(tmp_path):
    files = {
        "timer": ("pool/core/timer/src/lib.rs", TIMER),
        "arch": ("pool/hw/arch/src/lib.rs", ARCH),
    }
    content = rust_image.build(tmp_path, files, SOURCE, "-Copt-level=3")
    found = attribute(content, {"hw/arch": tmp_path / "pool/hw/arch"})
    assert sum(found.values()) == elf.sections(content)["text"]
    # Inlined code counts for the library it was written in, assembly for that of its label.
    assert found["core/timer"] >= 12
    assert found["hw/arch"] >= 12
    # And its spans lie within those of the function that it is inlined into.
    spans = SourceLocations(ELFFile(BytesIO(content))).spans({"inner", "outer"})
    ((start, end),) = spans["outer"]
    assert spans["inner"] and all(start <= low < high <= end for low, high in spans["inner"])
