import subprocess
import sys
import time
from pathlib import Path

import pytest

from tenonos.errors import WorkError
from tenonos.paths import ROOT
from tenonos.settings import SETTINGS
from tenonos.setup import browser, doctor, rust
from tenonos.setup.packages import TOOLS, Tool, numbers

BOOTSTRAP = ROOT / "orchestrator/bootstrap.sh"


def shell(text, *arguments):
    script = f'root=/x dot=/x python=/x lock=/x\n. "{BOOTSTRAP}"\n{text}'
    return subprocess.run(
        ["sh", "-euc", script, "sh", *arguments], capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(
    ("version", "serves"),
    [("1.95.0", True), ("1.90.0", True), ("2.0", True), ("1.89.1", False), ("0.0", False)],
)
def test_the_shell_compares_versions(version, serves):
    assert (shell('at_least "$1" 1.90', version).returncode == 0) == serves


def test_the_shell_and_the_workspace_ask_for_the_same_rust():
    done = shell('echo "$minimum_rust $targets"')
    version, *targets = done.stdout.split()
    assert rust.minimum()[:2] == numbers(version)
    assert tuple(targets) == rust.TARGETS


def test_the_shell_installs_what_the_doctor_requires():
    text = BOOTSTRAP.read_text()
    present = {"dpkg", "apt", "git"}  # on every Debian, or how one got here
    for tool in TOOLS:
        if tool.required and tool.package not in present:
            assert tool.package in text, tool


def test_the_setup_lists_what_it_would_fetch_when_offline(tmp_path):
    (tmp_path / "lock").write_text("x==1\n")
    text = f"dot={tmp_path} python={tmp_path}/no lock={tmp_path}/lock\nbootstrap --offline"
    done = shell(text)
    assert done.returncode == 1
    assert "a private Python environment" in done.stderr
    assert "without --offline" in done.stderr.splitlines()[-1]
    assert not (tmp_path / "venv").exists()


def test_an_unknown_system_gets_a_list_and_no_installation(tmp_path):
    text = f"""
        dot={tmp_path} python={tmp_path}/no lock=/dev/null
        known_system() {{ false; }}
        find_rust() {{ rust=packages; }}
        bootstrap --yes
    """
    done = shell(text)
    assert done.returncode == 1
    assert "neither Debian 12 nor Debian 13" in done.stderr
    assert "Rust 1.90 or newer" in done.stderr


def test_both_scripts_are_posix_sh():
    for script in (ROOT / "tenon", BOOTSTRAP):
        subprocess.run(["sh", "-n", script], check=True)


def test_a_distribution_toolchain_builds_core_along(tmp_path):
    tools = rust.Toolchain((1, 96, 0), tmp_path, True, {"PATH": str(tmp_path)})
    assert tools.image_flags == ["-Zbuild-std=core,alloc"]
    assert tools.image_environment["RUSTC_BOOTSTRAP"] == "1"
    linker = "CARGO_TARGET_AARCH64_UNKNOWN_NONE_SOFTFLOAT_LINKER"
    assert tools.image_environment[linker] == "ld.lld"
    ready = rust.Toolchain((1, 95, 0), tmp_path, False)
    assert (ready.image_flags, ready.image_environment) == ([], {})


def test_a_cargo_call_follows_the_options(monkeypatch, tmp_path):
    monkeypatch.setattr(rust, "toolchain", lambda: rust.Toolchain((1, 95), tmp_path, True))
    monkeypatch.setattr(rust.shutil, "which", lambda *_, **__: "/bin/cargo")
    for name, value in (("offline", True), ("locked", True), ("jobs", 2)):
        monkeypatch.setattr(rust.SETTINGS, name, value)
    argv, environment = rust.cargo("build", "--release", image=True)
    head = ["/bin/cargo", "build", "-Zbuild-std=core,alloc", "--offline", "--locked"]
    assert argv == [*head, "-j", "2", "--release"]
    assert environment["RUSTC_BOOTSTRAP"] == "1"


def test_no_rust_at_all_is_one_clear_line(monkeypatch):
    monkeypatch.setattr(rust.shutil, "which", lambda *_, **__: None)
    rust.toolchain.cache_clear()
    try:
        with pytest.raises(WorkError, match=r"there is no Rust; see \./tenon doctor"):
            rust.toolchain()
    finally:
        rust.toolchain.cache_clear()


def test_the_doctor_distinguishes_missing_from_optional():
    absent = Tool("x", "no-such-program", "x", "nothing")
    assert doctor._tool(absent).state == "missing"
    optional = Tool("x", "no-such-program", "x", "nothing", required=False)
    assert doctor._tool(optional).state == "optional"
    old = Tool("git", "git", "git", "nothing", minimum=(99,))
    assert "99 or newer" in doctor._tool(old).mend
    assert not doctor.healthy([doctor._tool(absent)])
    assert doctor.healthy([doctor._tool(optional)])


def test_an_interrupted_step_takes_what_it_started_along(tmp_path):
    text = """
        sh -c 'sleep 61 & echo $! >"$0"; wait' "$1" &
        worker=$!
        while [ ! -s "$1" ]; do sleep 0.05; done
        end $worker
        wait $worker || true
    """
    note = tmp_path / "child"
    assert shell(text, str(note)).returncode == 0
    child = Path(f"/proc/{note.read_text().strip()}")
    for _ in range(50):
        if not child.exists() or ") Z " in (child / "stat").read_text():
            return
        time.sleep(0.1)
    raise AssertionError("the child goes on")


@pytest.mark.parametrize(
    ("release", "offline", "said"),
    [
        ({"ID": "fedora", "VERSION_ID": "40"}, False, "neither Debian 12 nor Debian 13"),
        ({"ID": "debian", "VERSION_ID": "12"}, True, "with --offline"),
    ],
)
def test_a_browser_that_cannot_be_had_is_one_clear_line(
    monkeypatch, capsys, release, offline, said
):
    monkeypatch.setattr(browser, "find", lambda: None)
    monkeypatch.setattr(browser, "os_release", lambda: release)
    monkeypatch.setattr(SETTINGS, "offline", offline)
    browser.provide()
    (line,) = capsys.readouterr().err.splitlines()
    assert said in line
    assert line.endswith("apt-get install --no-install-recommends chromium")


def test_a_browser_is_installed_once_and_with_permission(monkeypatch, capsys):
    called, found = [], iter([None, "/usr/bin/chromium"])
    monkeypatch.setattr(browser, "find", lambda: next(found))
    monkeypatch.setattr(browser, "os_release", lambda: {"ID": "debian", "VERSION_ID": "12"})
    monkeypatch.setattr(browser.os, "geteuid", lambda: 1000)
    monkeypatch.setattr(browser.shutil, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(browser.ui, "confirm", lambda _: True)
    monkeypatch.setattr(
        browser.subprocess,
        "run",
        lambda line, **_: called.append(line) or subprocess.CompletedProcess(line, 0),
    )
    browser.provide()
    assert [line[:3] for line in called] == [["sudo", "apt-get", x] for x in ("-q", "install")]
    assert called[-1][-1] == "chromium"
    assert "warning" not in capsys.readouterr().err


def test_the_locks_name_everything_so_that_no_later_release_is_ever_looked_at():
    """What was installed of the locks alone lacks nothing, the packages for LightRAG included.

    A release newer than the lock made pip refuse the whole of it, on the day it came out.
    """
    done = subprocess.run(
        [sys.executable, "-m", "pip", "check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout
    for installs in (BOOTSTRAP, ROOT / "orchestrator/tenonos/setup/extras.py"):
        assert "--no-deps" in installs.read_text()


def test_a_long_step_of_the_set_up_says_that_it_goes_on(tmp_path):
    done = shell(f'log={tmp_path}/log silence=1\nstep "Debian packages" sleep 2.5; echo end')
    first, *_, last = done.stderr.splitlines()
    assert first == f"[1] Debian packages: 1 s so far; {tmp_path}/log grows; Ctrl-C ends it"
    assert last.startswith("[1] Debian packages: done in ") and done.stdout == "end\n"
