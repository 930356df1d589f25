"""Interrupt handlers of libraries: invalid ones do not build."""

import pytest
from conftest import assert_well

PROGRAM = """
#![no_std]

use tenon::irq::{Entry, Trigger};

pub static ONE: Entry = Entry::new(40, Trigger::Edge, |_| {});
pub static OTHER: Entry = Entry::new(INTID, Trigger::Edge, |_| {});

pub fn main() {}
"""
REGISTERS = """
[[package.metadata.tenon.registers]]
table = "interrupt"
item = "ONE"

[[package.metadata.tenon.registers]]
table = "interrupt"
item = "OTHER"
"""


@pytest.mark.parametrize(
    ("intid", "complaint"),
    [
        (40, "claim the same interrupt"),
        (27, "a handler for the timer's interrupt, or beyond TENON_IRQ_LINES"),
        (64, "a handler for the timer's interrupt, or beyond TENON_IRQ_LINES"),
        (41, None),
    ],
)
def test_a_handler_that_cannot_be_is_refused(tenon, tmp_path, intid, complaint):
    assert_well(tenon("-C", tmp_path, "new", "app", "pump", json_file=False))
    manifest = tmp_path / "pump" / "Cargo.toml"
    manifest.write_text(manifest.read_text() + REGISTERS)
    source = tmp_path / "pump" / "src" / "lib.rs"
    source.write_text(PROGRAM.replace("INTID", str(intid)))
    outcome = tenon("build", tmp_path / "pump", json_file=False)
    if complaint is None:
        assert_well(outcome)
        return
    assert outcome.status == 1
    (line,) = [line for line in outcome.stderr.splitlines() if line.startswith("tenon:")]
    assert complaint in line
