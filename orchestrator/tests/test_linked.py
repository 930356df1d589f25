"""Lines of source that are linked: those of functions that have code."""

from types import SimpleNamespace

from tenonos import paths
from tenonos.build.linked_lines import linked_by_library

SOURCE = """\
//! A crate.

use core::fmt;

/// Linked.
fn linked(list: [u8; 2]) -> Held<{ 1 + 1 }> {
    // A brace in a comment: {
    let text = "}";

    text.len() + list.len()
}

fn not_linked() {
    panic!()
}

fn declared();

macro_rules! twice {
    () => {
        "nop; nop"
    };
}

core::arch::global_asm!(
    ".section .text.here, \\"ax\\"",
    "label:",
    "    ret",
    twice!(),
    ".section .text.there, \\"ax\\"",
    "other:",
    concat!("1: ", "ret"),
    "    ret",
    "    ret",
);
"""


def test_a_function_counts_up_to_its_end_and_once(tmp_path, monkeypatch):
    file = tmp_path / "pool/core/example/src/lib.rs"
    file.parent.mkdir(parents=True)
    file.write_text(SOURCE)
    monkeypatch.setattr(paths, "ROOT", tmp_path)
    name = "/somewhere/pool/core/example/src/lib.rs"

    def count(*origins, labels=()):
        labelled = {file: set(labels)} if labels else {}
        found = linked_by_library(SimpleNamespace(origins=set(origins), labelled=labelled))
        assert found.keys() <= {"core/example"}
        return found.total()

    assert count() == 0
    assert count((name, 6)) == 4
    assert count((name, 6), (f".{name}", 6)) == 4
    assert count(("./pool/core/other/./pool/core/example/src/lib.rs", 6)) == 4
    assert count((name, 6), (name, 13)) == 4 + 3
    assert count((name, 17)) == 1
    assert count(("/rustc/0/library/core/src/option.rs", 6)) == 0
    assert count(labels=["label"]) == 1 + 3
    assert count(labels=["other"]) == 1 + 5
    assert count(labels=["label", "other"]) == 1 + 3 + 5
