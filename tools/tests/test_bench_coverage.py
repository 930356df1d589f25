"""Coverage: lines of an image, covered lines, and rows."""

from dataclasses import dataclass, field
from types import SimpleNamespace

import pytest
import rust_image

from tenonos.analysis.coverage import Coverage, Image, Written
from tenonos.run import plugin
from tenonos.system.check import check
from tools.bench import coverage as suite

SOURCE = """\
#![no_std]
#![no_main]
#[path = "{timer}"] mod timer;
#[path = "{arch}"] mod arch;
#[panic_handler] fn panic(_: &core::panic::PanicInfo) -> ! {{ loop {{}} }}
unsafe extern "C" {{ fn labelled_here(); }}
#[unsafe(no_mangle)] extern "C" fn _start(a: u64) -> u64 {{
    unsafe {{ labelled_here() }};
    arch::outer(a)
}}
"""
TIMER = """\
//! Inlined.
#[inline(always)]
pub fn inner(a: u64) -> u64 {
    (a ^ 3).wrapping_mul(a | 5)
}
"""
ARCH = """\
core::arch::global_asm!(".globl labelled_here",
    "labelled_here:", "ret", "nop", "ret", ".balign 16", "behind_it:", "ret");
#[inline(never)]
pub fn outer(a: u64) -> u64 {
    if a > 100 {
        return apart(a);
    }

    crate::timer::inner(a)
}
#[inline(never)]
fn apart(a: u64) -> u64 {
    a.rotate_left(9) ^ 77
}
#[unsafe(no_mangle)]
extern "C" fn dropped(a: u64) -> u64 {
    let b = a.wrapping_mul(a);
    b.rotate_left(3) ^ 5
}
"""


@pytest.fixture(scope="module")
def image(tmp_path_factory):
    folder = tmp_path_factory.mktemp("coverage")
    sources = {"timer": TIMER, "arch": ARCH}
    files = {name: (f"pool/core/{name}/src/lib.rs", text) for name, text in sources.items()}
    prefix = f"--remap-path-prefix={folder}=."
    content = rust_image.build(folder, files, SOURCE, "-Copt-level=2", prefix)
    return Image(content, {f"core/{name}": folder / f"pool/core/{name}" for name in files})


def line(name, number):
    return f"pool/core/{name}/src/lib.rs", number


def covered(coverage):
    return {line for line, covered in coverage.lines.items() if covered}


def test_lines_are_those_of_libraries_that_have_code(image):
    files = {file for file, _ in image.lines}
    assert files == {line("timer", 0)[0], line("arch", 0)[0]}, "and neither main.rs nor Rust's own"
    # What is inlined is told by where it was written.
    assert line("timer", 4) in image.lines
    assert {line("arch", 6), line("arch", 13)} <= image.lines.keys()
    assert not {line("timer", 1), line("arch", 1), line("arch", 8)} & image.lines.keys()
    # The last function is not called; the linker leaves its lines in the table.
    assert max(number for file, number in image.lines if "arch" in file) <= 14
    assert image.function(line("arch", 13)).endswith("arch::apart")
    assert image.function(line("timer", 4)).endswith("timer::inner")
    assert image.library(line("timer", 4)) == "core/timer"


def test_a_line_is_covered_by_any_of_its_instructions(image):
    for at in (span[0] for span in image.lines[line("timer", 4)]):
        coverage = Coverage()
        coverage.add(image, {at})
        assert covered(coverage) == {line("timer", 4)}
    coverage = Coverage()
    coverage.add(image, set())
    assert covered(coverage) == set() and coverage.of() == (len(image.lines), 0)


def test_what_was_not_executed_is_reported_by_function_and_lines(image):
    coverage = Coverage()
    apart = {line("arch", 12), line("arch", 13), line("arch", 14)}
    spans = [spans for line, spans in image.lines.items() if line not in apart]
    coverage.add(image, {at for each in spans for low, high in each for at in range(low, high, 4)})
    (gap,) = coverage.gaps("core/arch")
    assert gap.function.endswith("arch::apart") and {gap.first, gap.last} <= {12, 13, 14}
    assert [*coverage.gaps("core/timer")] == []


def test_assembly_counts_by_its_labels_and_without_padding(image):
    here = {at: w for at, w in image.assembly.items() if w.label == "labelled_here"}
    instructions = {w.offset: at for at, w in here.items()}
    assert [*instructions] == [0, 8]
    assert {w.library for w in here.values()} == {"core/arch"}
    coverage = Coverage()
    coverage.add(image, {instructions[8]})
    assert coverage.written() == coverage.written("core/arch") == (len(image.assembly), 1)
    assert coverage.written("core/timer") == (0, 0)
    (skipped,) = (each for each in coverage.skipped("core/arch") if "labelled_here" in each)
    assert skipped.startswith("labelled_here: 1 of ") and skipped.endswith("from +0x0")


@dataclass
class Made:
    """An image of lines and spans as they are given, one function to a hundred lines."""

    lines: dict
    assembly: dict = field(default_factory=dict)

    def library(self, line):
        return line[0].split("/")[0]

    def function(self, line):
        return f"f{line[1] // 100}"


def test_what_one_image_executes_is_covered_in_all():
    here, there, nowhere, elsewhere = (("a/x", n) for n in (1, 2, 3, 4))
    coverage = Coverage()
    coverage.add(Made({here: [(0, 8)], there: [(8, 12), (40, 44)], nowhere: [(12, 16)]}), {4})
    coverage.add(Made({here: [(0, 4)], there: [(4, 8)], elsewhere: [(8, 12)]}), {4, 12})
    # The second address is another line's in the other image: what is executed there stays there.
    assert covered(coverage) == {here, there}
    assert coverage.of() == (4, 2) and coverage.of("b") == (0, 0)


def test_gaps_are_cut_by_covered_lines_functions_and_files():
    lines = [("a/x", n) for n in (1, 2, 4, 9, 101, 102)] + [("a/y", 103), ("b/z", 1)]
    coverage = Coverage()
    coverage.add(Made({line: [(4 * n, 4 * n + 4)] for n, line in enumerate(lines)}), {8})
    assert [str(gap) for gap in coverage.gaps("a")] == [
        "a/x:1-2 f0",
        "a/x:9 f0",
        "a/x:101-102 f1",
        "a/y:103 f1",
    ]


def test_assembly_of_two_images_is_one_where_it_is_the_same():
    one, other = Written("a", "label", 8, 0), Written("a", "label", 12, 0)
    coverage = Coverage()
    coverage.add(Made({}, {0: one, 4: Written("a", "label", 8, 4)}), {0})
    coverage.add(Made({}, {8: one, 12: other}), {12})
    assert coverage.written("a") == (3, 2)
    assert [*coverage.skipped("a")] == ["label: 1 of 2, from +0x4"]


def test_the_rows_say_how_much_there_is_and_how_much_is_covered():
    coverage = Coverage()
    assembly = {64: Written("b", "label", 4, 0)}
    coverage.add(Made({("a/x", 1): [(0, 4)], ("a/x", 2): [(4, 8)]}, assembly), {0})
    rows = {(row.name, row.params.get("library")): row for row in suite.rows_of(coverage, ["s"])}
    assert {key: row.median for key, row in rows.items()} == {
        ("lines", None): 2,
        ("lines_covered", None): 1,
        ("lines", "a"): 2,
        ("lines_covered", "a"): 1,
        ("assembly", None): 1,
        ("assembly_covered", None): 0,
        ("assembly", "b"): 1,
        ("assembly_covered", "b"): 0,
    }
    assert rows["lines_covered", None].options == {"systems": ["s"]}
    assert rows["lines_covered", "a"].options == {"not_covered": ["a/x:2 f0"]}
    assert {row.unit for row in rows.values()} == {"lines", "instructions"}


@pytest.mark.parametrize("run", suite.read(), ids=lambda run: run.title)
def test_each_run_is_of_a_system_that_is_there(run):
    whole = run.load()
    if not run.without:
        # A fragment of a removed VM does not apply to its successor.
        check(whole)
    names = {vm.name for vm in whole.vms}
    assert names >= run.vm.keys() | run.input.keys()
    assert not names & set(run.without)
    assert run.seconds is not None or run.input or whole.natives, "it would never end"
    assert run.options().deterministic


def test_each_run_has_a_name_of_its_own():
    titles = [run.title for run in suite.read()]
    assert len({*titles}) == len(titles)


def test_a_run_that_fails_fails_the_suite(monkeypatch):
    ended = SimpleNamespace(failure="the machine ended")
    monkeypatch.setattr(suite.Target, "of", lambda _: None)
    monkeypatch.setattr(suite, "Session", lambda *_: SimpleNamespace(run=lambda: ended))
    built = SimpleNamespace(system=SimpleNamespace(name="random-exits"))
    with pytest.raises(suite.WorkError, match="random-exits: the machine ended"):
        suite.executed(built, suite.RunOptions())


def test_records_tell_each_executed_instruction():
    body = (0x4020_0040).to_bytes(8, "little")
    data = bytearray((4).to_bytes(4, "little") + (8).to_bytes(4, "little") + body)
    data += data[:10]
    assert [*plugin.records(data, 0)] == [plugin.Executed(0x4020_0040)]
    assert len(data) == 10, "what is not whole stays"
