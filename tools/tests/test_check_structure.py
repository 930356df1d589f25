"""The rules about structure and language: each can fail."""

import subprocess

import pytest

from tools.check import Context, language, structure
from tools.check.module_graph import Crate, loops
from tools.check.rule import Skipped

MANIFEST = '[package]\nname = "core-log"\ndescription = "A log"\n{more}'


class OneCrate:
    """A tree with one library, written module by module."""

    def __init__(self, root):
        self.root = root
        self.folder = root / "pool/core/log"
        (self.folder / "src").mkdir(parents=True)
        self.manifest()

    def manifest(self, more=""):
        (self.folder / "Cargo.toml").write_text(MANIFEST.format(more=more))

    def write(self, **modules):
        for name, text in modules.items():
            file = self.folder / "src" / f"{name.replace('__', '/')}.rs"
            file.parent.mkdir(exist_ok=True)
            file.write_text(text)

    def glossary(self, *terms):
        (self.root / "docs").mkdir(exist_ok=True)
        rows = "".join(f"| {term} | a meaning | | |\n" for term in terms)
        (self.root / "docs/glossary.md").write_text(
            "| term | meaning | | |\n|---|---|---|---|\n" + rows
        )

    def breaches(self, find):
        return [str(breach) for breach in find(Context(self.root))]


@pytest.fixture
def crate(tmp_path):
    return OneCrate(tmp_path)


def test_four_modules_in_a_loop_are_named_and_three_are_not(crate):
    ring = {"a": "b", "b": "c", "c": "a"}
    text = {name: f"use crate::{to}::X as _;\npub struct X;\n" for name, to in ring.items()}
    crate.write(lib="mod a;\nmod b;\nmod c;\nmod d;\n", d="pub struct X;\n", **text)
    assert crate.breaches(structure.module_loops) == []
    crate.write(
        c="use super::d::X as _;\npub struct X;\n", d="fn f() { crate::a::X; }\npub struct X;\n"
    )
    (line,) = crate.breaches(structure.module_loops)
    assert "lib.rs module-loops: 4 modules import each other: a, b, c, d" in line


def test_a_path_through_a_reexport_leads_to_what_it_names(crate):
    crate.write(
        lib="mod a;\nmod b;\npub use a::{Inner as X, *};\n",
        a="pub struct Inner;\npub struct Y;\nmod deep;\n",
        a__deep="use crate::b;\n",
        b="use crate::X;\nuse crate::Y;\n#[cfg(test)]\nmod tests {\n use crate::a::deep;\n}\n",
    )
    found = Crate(crate.folder / "src/lib.rs").imports()
    assert found == {"crate": set(), "a": set(), "a::deep": {"b"}, "b": {"a"}}
    assert loops(found) == []


def test_comments_strings_and_tests_import_nothing(crate):
    crate.write(
        lib="mod a;\nmod b;\n",
        a='//! Like crate::b::X.\nfn f() { "crate::b::X"; }\npub struct X;\n',
        b="use crate::a::X;\npub struct X;\n#[cfg(test)]\nmod tests;\n",
        b__tests="use crate::a::X;\n",
    )
    assert Crate(crate.folder / "src/lib.rs").imports() == {"crate": set(), "a": set(), "b": {"a"}}


def test_an_impl_away_from_its_type_is_named(crate):
    crate.write(
        lib="mod a;\nmod b;\n",
        a="pub struct Own<T>(T);\nmod more;\n",
        a__more="impl<T: Into<u8>> super::Own<T> {\n}\nimpl Clone for super::Own<u8> {\n}\n",
        b="use crate::a::Own;\nimpl From<u8> for Own<u8> {\n}\nimpl Vec<Own<u8>> {\n}\n",
    )
    assert crate.breaches(structure.impl_home) == []
    crate.write(b="use crate::a::Own;\n\nimpl<T> Own<T> where T: Copy {\n}\n")
    (line,) = crate.breaches(structure.impl_home)
    assert "src/b.rs:3 impl-home: an impl of Own, which a defines" in line


def test_a_crate_is_neither_too_large_nor_too_small_without_a_reason(crate):
    crate.write(lib="pub fn f() {}\n" * 150)
    assert crate.breaches(structure.crate_size) == []
    crate.write(lib="pub fn f() {}\n" * 149 + "#[cfg(test)]\nmod tests {\n\n\n}\n")
    assert "crate-size: 149 lines" in crate.breaches(structure.crate_size)[0]
    crate.manifest('[package.metadata.tenon]\nsmall = "linked before any other"\n')
    assert crate.breaches(structure.crate_size) == []
    crate.write(lib="pub fn f() {}\n" * 3001)
    assert "at most 3000" in crate.breaches(structure.crate_size)[0]


def test_words_for_persons_in_comments_are_named_where_they_are_many(crate):
    few = "// A core.\n" * 400 + "// Users who read.\nlet who = 1;\n"
    crate.write(lib=few)
    assert crate.breaches(language.field_words) == []
    crate.write(lib=few + "let x = 1; // Nobody waits.\n")
    lines = crate.breaches(language.field_words)
    assert [line.split(";")[0] for line in lines] == [
        'pool/core/log/src/lib.rs:401 field-words: "who" in a comment',
        'pool/core/log/src/lib.rs:403 field-words: "Nobody" in a comment',
    ]


@pytest.mark.parametrize(
    ("name", "text", "count"),
    [
        ("a.py", '"""A doc.\n\nWhose.\n"""\nx = "whose"  # a\n', 4),
        ("a.c", "/* One\n   two */ int a;\n// three\nint b;\n", 3),
        ("a.rs", "let a = 1; // one\nlet b = 2;\n", 1),
    ],
)
def test_comment_lines_are_told_from_code(tmp_path, name, text, count):
    file = tmp_path / name
    file.write_text(text)
    assert len(list(language.comments(file))) == count


@pytest.mark.parametrize(
    ("head", "what"),
    [
        ("Per-core run queues.", None),
        ("Parts of `Frame` in order.", None),
        ("The PSCI group.", None),
        ("What a guest is told.", 'opens with "What"'),
        ("Short ways for most.", "names no term"),
    ],
)
def test_a_module_opens_with_a_term_of_the_field(crate, head, what):
    crate.glossary("run queue", "budget")
    crate.write(lib=f"//! {head} And more.\n")
    found = crate.breaches(language.module_heads)
    assert (what in found[0]) if what else found == []


@pytest.mark.parametrize(
    ("subject", "what"),
    [
        ("sched: seed the run queue", None),
        ("core/timer, sched: add a trait", None),
        ("Add a trait", "not `area"),
        ("sched: Add a trait", "not `area"),
        ("sched: add a trait.", "not `area"),
        ("sched: added a trait", '"added"'),
        ("sched: " + "a" * 60, "67 characters"),
    ],
)
def test_subjects_of_commits(subject, what):
    found = language.subject_breach(subject)
    assert what in found if what else found is None


def test_subjects_are_not_tried_without_the_history(tmp_path):
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    with pytest.raises(Skipped, match="history"):
        list(language.commit_subject(Context(tmp_path)))
