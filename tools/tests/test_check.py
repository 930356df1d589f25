import re
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenonos.paths import ROOT
from tools.check import RULES, Context, rust_text, sources, tree

MANIFEST = """\
[package]
name = "{package}"
description = "A crate"
license = "MIT OR Apache-2.0"

[package.metadata.tenon]
{meta}

[dependencies]
{dependencies}
"""


class Pool:
    """A pool in a folder of its own, with one clean library in each of two layers."""

    def __init__(self, root):
        self.root = root
        self.add("hw/arch", meta='authority = ["asm"]\ngrants = { mmio = ["mmio"] }')
        self.add("core/timer")

    def add(self, name, meta="", dependencies="", kconfig="", code="#![forbid(unsafe_code)]\n"):
        folder = self.root / "pool" / name
        (folder / "src").mkdir(parents=True, exist_ok=True)
        package = name.replace("/", "-")
        text = MANIFEST.format(package=package, meta=meta, dependencies=dependencies)
        (folder / "Cargo.toml").write_text(text)
        symbol = "LIB_" + name.upper().replace("/", "_").replace("-", "_")
        (folder / "Kconfig").write_text(f"config {symbol}\n\tbool\n{kconfig}\thelp\n\t  A crate.\n")
        (folder / "src/lib.rs").write_text("//! A crate.\n" + code)
        return folder

    def breaches(self, find):
        return [str(breach) for breach in find(Context(self.root))]


@pytest.fixture
def pool(tmp_path):
    return Pool(tmp_path)


def uses(name):
    package = name.replace("/", "-")
    return f'{package} = {{ path = "../../{name}" }}'


def test_a_clean_pool_breaks_no_rule(pool):
    for find in (tree.layer_order, tree.kconfig_mirror, tree.authority, sources.documented):
        assert pool.breaches(find) == []


def test_a_crate_that_reaches_above_its_layer_is_named_with_its_line(pool):
    pool.add("hw/clock", dependencies=uses("core/timer"))
    (line,) = pool.breaches(tree.layer_order)
    assert "hw/clock/Cargo.toml:10 layer-order: " in line
    assert "core/timer" in line


def test_the_two_kernels_may_not_use_each_other(pool):
    pool.add("mortise/vcpu")
    pool.add("tenon/thread", dependencies=uses("mortise/vcpu"))
    assert len(pool.breaches(tree.layer_order)) == 1


def test_cargo_and_kconfig_must_tell_the_same_story(pool):
    pool.add("core/log", dependencies=uses("hw/arch"))
    pool.add("core/ring", kconfig="\tselect LIB_HW_ARCH\n")
    pool.add("core/sync", dependencies=uses("hw/arch"), kconfig="\tselect LIB_HW_ARCH if X\n")
    log, ring = pool.breaches(tree.kconfig_mirror)
    assert "pool/core/log/Kconfig kconfig-mirror" in log and "select LIB_HW_ARCH" in log
    assert "pool/core/ring/Kconfig:3" in ring


def test_an_application_in_c_says_what_it_wants_in_kconfig_alone(pool):
    folder = pool.root / "tests" / "guests" / "mqueue-client"
    folder.mkdir(parents=True)
    (folder / "main.c").write_text("int main(void) { return 0; }\n")
    stated = 'config APP_MQUEUE_CLIENT\n\tbool "One"\n\tselect LIB_{}\n\thelp\n\t  One.\n'
    (folder / "Kconfig").write_text(stated.format("HW_ARCH"))
    assert pool.breaches(tree.kconfig_mirror) == []
    (folder / "Kconfig").write_text(stated.format("CORE_NONE"))
    (line,) = pool.breaches(tree.kconfig_mirror)
    assert "no such library" in line


def test_unsafe_code_needs_a_declared_authority(pool):
    code = "pub fn f() {\n    unsafe { g() }\n}\n"
    folder = pool.add("core/log", code=code)
    forgotten, used = pool.breaches(tree.authority)
    assert "forbid(unsafe_code)" in forgotten
    assert "pool/core/log/src/lib.rs:3 authority: unsafe code" in used
    pool.add("core/log", code=code, meta='authority = ["raw-memory"]')
    assert pool.breaches(tree.authority) == []
    (folder / "src/deep.rs").write_text('use core::arch::asm;\nfn h() { asm!("nop") }\n')
    assert "without the authority" in pool.breaches(tree.authority)[0]


@pytest.mark.parametrize(
    "line",
    ["use hw_arch::mmio::Frame;", "use hw_arch::{cpu, mmio};", "fn f(x: hw_arch::mmio::Frame) {}"],
)
def test_a_crate_without_the_authority_cannot_name_what_grants_it(pool, line):
    code = f"#![forbid(unsafe_code)]\n{line}\n"
    pool.add("core/log", code=code)
    (breach,) = pool.breaches(tree.authority)
    assert 'lib.rs:3 authority: core/log names hw_arch::mmio without the authority "mmio"' in breach
    pool.add("core/log", code=code, meta='authority = ["mmio"]')
    assert pool.breaches(tree.authority) == []


def test_long_files_are_named(pool):
    (pool.root / "long.py").write_text("x = 1\n" * 601)
    (pool.root / "data.json").write_text("1\n" * 999)
    assert pool.breaches(sources.file_length) == [
        "long.py:601 file-length: 601 lines; split it: at most 600"
    ]


def test_a_package_without_the_licence_is_named(pool):
    (pool.root / "Cargo.toml").write_text('[workspace.package]\nlicense = "MIT OR Apache-2.0"\n')
    assert pool.breaches(sources.licence) == []
    folder = pool.add("core/log")
    manifest = folder / "Cargo.toml"
    text = manifest.read_text()
    manifest.write_text(text.replace('license = "MIT OR Apache-2.0"', "license.workspace = true"))
    assert pool.breaches(sources.licence) == []
    manifest.write_text(text.replace("MIT OR Apache-2.0", "Proprietary"))
    assert "licence Proprietary" in pool.breaches(sources.licence)[0]


def test_a_dependency_must_be_explained(pool):
    (pool.root / "docs").mkdir()
    page = pool.root / "docs/dependencies.md"
    page.write_text("| `log` | why |\n")
    pool.add("core/log", dependencies=f'log = "0.4"\nspin.workspace = true\n{uses("hw/arch")}')
    assert pool.breaches(sources.dependency_reason) == []
    (pool.root / "pyproject.toml").write_text('[project]\ndependencies = ["rich==1"]\n')
    pool.add("core/ring", dependencies='ring = { package = "heapless", version = "1" }')
    python, rust = sorted(pool.breaches(sources.dependency_reason), reverse=True)
    assert "pyproject.toml:2 dependency-reason: rich" in python
    assert "core/ring/Cargo.toml:10 dependency-reason: heapless" in rust


def test_docs_must_open_with_a_noun_phrase(pool):
    folder = pool.add("core/log")
    (folder / "src/lib.rs").write_text("#![forbid(unsafe_code)]\n\n//! This crate logs.\n")
    assert "pool/core/log/src/lib.rs:3 documented" in pool.breaches(sources.documented)[0]


def test_comments_and_literals_are_not_code():
    text = """// unsafe { }
/* unsafe /* nested */ unsafe */
let s = "unsafe {"; let r = r#"unsafe " {"#; let c = '"'; let l: &'static str = b"x";
#[unsafe(no_mangle)]
fn f() { g() }
"""
    assert rust_text.unsafe_lines(text) == set()
    assert rust_text.source_lines(text) == 3


def test_unsafe_lines_are_counted_to_the_closing_brace():
    text = "fn f() {\n    unsafe {\n        g();\n    }\n}\nunsafe impl Send for X {}\n"
    assert rust_text.unsafe_lines(text) == {2, 3, 4, 6}


@given(st.text(alphabet="/*\"'#r\\{}\n aunsafe", max_size=60))
def test_blanking_keeps_every_line_where_it_is(text):
    plain = rust_text.code(text)
    assert len(plain) == len(text)
    assert [i for i, c in enumerate(plain) if c == "\n"] == [
        i for i, c in enumerate(text) if c == "\n"
    ]


def test_contributing_lists_every_rule():
    text = (ROOT / "CONTRIBUTING.md").read_text()
    for rule in RULES:
        assert f"`{rule.name}`" in text and rule.gist in text, rule.name


def test_clippy_messages_become_lines():
    from tools.check import tools

    out = (
        '{"reason":"compiler-message","message":{"level":"warning","message":"no\\nmore",'
        '"code":{"code":"clippy::x"},"spans":[{"is_primary":true,"file_name":"a.rs",'
        '"line_start":7}]}}\n{"reason":"build-finished"}\nnoise\n'
    )
    assert list(tools._messages(out)) == [("a.rs:7", "clippy::x", "no")]


def test_files_are_those_git_knows(pool):
    subprocess.run(["git", "init", "-q", pool.root], check=True)
    (pool.root / ".gitignore").write_text("built/\n")
    (pool.root / "built").mkdir()
    (pool.root / "built/long.py").write_text("x\n" * 500)
    assert pool.breaches(sources.file_length) == []


def test_the_orchestrator_imports_no_tools_but_their_commands():
    found = {
        str(file.relative_to(ROOT / "orchestrator/tenonos"))
        for file in (ROOT / "orchestrator/tenonos").rglob("*.py")
        if re.search(r"^\s*(from|import) tools\b", file.read_text(), re.MULTILINE)
    }
    assert found <= {"completion.py"}
