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
