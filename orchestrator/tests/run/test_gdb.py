"""The debugger of `run --gdb`: one with AArch64, or a line with the package to install."""

import pytest

from tenonos import cli
from tenonos.errors import WorkError
from tenonos.run import frontend, gdb

NONE = """#!/bin/sh
echo 'Undefined item: "aarch64".' >&2
exit 1
"""
"""Gdb with the host's architecture only, as Debian's package of that name."""
SMALL = """#!/bin/sh
case "$*" in
*python*) echo 'Python scripting is not supported in this copy of GDB.' >&2; exit 1;;
esac
"""
"""Gdb with all architectures and without Python."""
ALL = "#!/bin/sh\n"


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Installs debuggers, the only programs on the path."""
    monkeypatch.setenv("PATH", str(tmp_path))
    gdb._accepts.cache_clear()

    def install(**debuggers):
        for name, text in debuggers.items():
            file = tmp_path / name.replace("_", "-")
            file.write_text(text)
            file.chmod(0o755)

    yield install
    gdb._accepts.cache_clear()


def test_a_debugger_without_aarch64_is_refused_with_the_package(installed):
    installed(gdb=NONE)
    with pytest.raises(WorkError) as refused:
        gdb.require()
    wanted = "--gdb: gdb has no support for AArch64; apt install gdb-multiarch"
    assert str(refused.value) == wanted
    assert gdb.debugger() == "gdb-multiarch"


def test_no_debugger_is_refused_with_the_package(installed):
    with pytest.raises(WorkError, match=r"no debugger for AArch64 .*; apt install gdb-multiarch$"):
        gdb.require()


def test_a_debugger_with_aarch64_comes_before_one_without(installed):
    installed(gdb_multiarch=NONE, gdb=ALL)
    gdb.require()
    assert gdb.debugger() == "gdb"


def test_a_debugger_without_python_is_refused_with_the_package(installed):
    installed(gdb=SMALL)
    with pytest.raises(WorkError, match=r"gdb has no support for Python; apt install "):
        gdb.require()
    installed(aarch64_linux_gnu_gdb=ALL)
    gdb._accepts.cache_clear()
    gdb.require()
    assert gdb.debugger() == "aarch64-linux-gnu-gdb"


def test_the_refusal_comes_before_the_build(installed, monkeypatch, capsys):
    installed(gdb=NONE)
    monkeypatch.setattr("tenonos.run.qemu.require_for", lambda system: None)
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    assert cli.run(["run", "hello", "--gdb"]) == 1
    said = capsys.readouterr().err
    assert said == "tenon: --gdb: gdb has no support for AArch64; apt install gdb-multiarch\n"
    monkeypatch.setattr("sys.stdin.isatty", lambda: False, raising=False)
    frontend.check_debugger()
    said = " ".join(capsys.readouterr().err.split())
    assert "gdb has no support for AArch64; apt install gdb-multiarch, or use another" in said
