"""Attribution of code to libraries: by path, and in a linked image."""

import shutil
import subprocess
from io import BytesIO
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

from tenonos.analysis.source_locations import Places
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
        ("./.tenon/build/demo/mortise/src/main.rs", "generated"),
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
TARGET = "aarch64-unknown-none-softfloat"


@pytest.mark.skipif(shutil.which("rustc") is None, reason="no rustc")
def test_a_linked_image(tmp_path):
    files = {"timer": "pool/core/timer/src/lib.rs", "arch": "pool/hw/arch/src/lib.rs"}
    for name, text in (("timer", TIMER), ("arch", ARCH)):
        file = tmp_path / files[name]
        file.parent.mkdir(parents=True)
        file.write_text(text)
    paths = {name: tmp_path / file for name, file in files.items()}
    (tmp_path / "main.rs").write_text(SOURCE.format(**paths))
    command = ["rustc", f"--target={TARGET}", "-Cdebuginfo=2", "-Copt-level=3", "-Cpanic=abort"]
    done = subprocess.run(
        [*command, "--edition=2024", "main.rs", "-o", "image"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode and "may not be installed" in done.stderr:
        pytest.skip("no bare-metal target")
    assert done.returncode == 0, done.stderr
    content = (tmp_path / "image").read_bytes()
    found = attribute(content, {"hw/arch": tmp_path / "pool/hw/arch"})
    assert sum(found.values()) == elf.sections(content)["text"]
    # Inlined code counts for the library it was written in, assembly for that of its label.
    assert found["core/timer"] >= 12
    assert found["hw/arch"] >= 12
    # And its spans lie within those of the function that it is inlined into.
    spans = Places(ELFFile(BytesIO(content))).spans({"inner", "outer"})
    ((start, end),) = spans["outer"]
    assert spans["inner"] and all(start <= low < high <= end for low, high in spans["inner"])
