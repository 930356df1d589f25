"""The headers of the libraries that C calls: each stands alone, strict, in every dialect."""

import shutil
import subprocess

import pytest

from tenonos import paths
from tenonos.build import c

pytestmark = pytest.mark.skipif(shutil.which(c.COMPILER) is None, reason="no cross compiler")

FOLDERS = sorted(paths.POOL.glob("*/*/include"))
HEADERS = [str(file.relative_to(it)) for it in FOLDERS for file in sorted(it.rglob("*.h"))]
STRICT = ("-Wall", "-Wextra", "-pedantic", "-Werror", "-fsyntax-only")


def compiled(text, *flags):
    """What the compiler says of a program."""
    return subprocess.run(
        [c.COMPILER, *c.FLAGS, *STRICT, *flags, *c.includes(paths.POOL, FOLDERS), "-xc", "-"],
        input=text,
        capture_output=True,
        text=True,
        check=False,
    ).stderr


@pytest.mark.parametrize("dialect", ["c99", "c11", "gnu17"])
@pytest.mark.parametrize("header", HEADERS)
def test_a_header_stands_alone(header, dialect):
    text = f"#include <{header}>\n#include <{header}>\nint dummy;\n"
    assert compiled(text, f"-std={dialect}", "-D_POSIX_C_SOURCE=200809L") == ""
    assert compiled(text, f"-std={dialect}") == ""


def test_all_headers_stand_together():
    text = "".join(f"#include <{header}>\n" for header in [*HEADERS, "stdio.h", "stdlib.h"])
    assert compiled(text + "int dummy;\n", "-D_XOPEN_SOURCE=700") == ""


def test_a_frame_larger_than_the_guard_page_touches_every_page():
    """Its far end alone would be beyond the guard page, in what lies below the stack."""
    text = "void far(void) { volatile char b[40000]; b[0] = 1; }\n"
    made = subprocess.run(
        [c.COMPILER, *c.FLAGS, "-S", "-xc", "-", "-o", "-"],
        input=text,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    # A loop of pages, or one probe after the other; the guard of a stack is a page of 4 KiB.
    probes = [line for line in made.splitlines() if "str\txzr, [sp" in line]
    assert probes
    steps = [line for line in made.splitlines() if "sub\tsp, sp, #4096" in line]
    assert steps or "sub\tsp, sp, #40960" not in made


@pytest.mark.parametrize("place", ["clone/apps/pump", "clone-apps/pump"])
def test_only_paths_below_the_clone_are_named_from_it(monkeypatch, tmp_path, place):
    """A debugger finds the source of a project beside the clone."""
    monkeypatch.setattr(c, "ROOT", tmp_path / "clone")
    app = tmp_path / place
    app.mkdir(parents=True)
    (app / "main.c").write_text("const char *file(void) { return __FILE__; }\n")
    command = [*c.compiler(), *c._prefix_maps(app), "-S", "-g0", "-o", "-", str(app / "main.c")]
    made = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    named = f"{app}/main.c" if place.startswith("clone-") else "./apps/pump/main.c"
    assert f'"{named}"' in made


def test_a_changed_flag_compiles_again(monkeypatch, tmp_path):
    (tmp_path / "main.c").write_text("int main(void) { return 0; }\n")
    before = c._fingerprint(c.compiler(), [tmp_path])
    monkeypatch.setattr(c, "FLAGS", (*c.FLAGS, "-DOTHER"))
    assert c._fingerprint(c.compiler(), [tmp_path]) != before
