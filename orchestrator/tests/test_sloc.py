"""Source lines: what counts and what does not."""

import pytest

from tenonos.build import sloc


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 0),
        ("fn a() {}\n\n// no\n/// no\nfn b() {} // yes\n", 2),
        ("/* one\n two /* nested */\n*/\nfn a() {}\n", 1),
        ('let a = "// not a comment\n still the string";\n', 2),
        ('let a = r#"/* " */"#; let b = \'"\'; // no\n', 1),
        ("let a: &'static str = b; let c = '\\''; // '\n", 1),
        ("fn a() {}\n#[cfg(test)]\nmod tests {\n    fn b() { { } }\n}\nfn c() {}\n", 2),
        ("fn a() {}\n#[cfg(test)]\nmod tests;\n", 1),
        ('#[cfg(test)]\nmod tests {\n let a = "}";\n}\nfn c() {}\n', 1),
        ("#[cfg(all(test, loom))]\nuse x::{\n  y,\n};\nfn c() {}\n", 1),
        ('#[cfg(target_arch = "aarch64")]\nfn c() {}\n', 2),
    ],
)
def test_lines(text, count):
    assert sloc.lines(text) == count


def test_which_files_count(tmp_path):
    for name in ("src/lib.rs", "src/tests.rs", "tests/golden.rs", "src/entry.S", "Cargo.toml"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x\n")
    assert sloc.count(tmp_path) == 2
