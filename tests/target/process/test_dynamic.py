"""Dynamic programs of Debian with glibc, each with the same output as on Debian's kernel."""

import re
import shutil

import pytest
from conftest import ROOT, SUPPORT, assert_well, until
from process.test_applets import SYSTEM

PACKAGES = [
    *("busybox-static", "dash", "bash", "coreutils", "sed", "grep", "gawk", "mawk", "tar"),
    *("gzip", "xz-utils", "findutils", "diffutils", "lua5.4", "sqlite3", "make", "bc"),
    "libc-bin",
]

PYTHON = [
    *("busybox-static", "dash", "coreutils", "python3-minimal", "python3.11-minimal"),
    *("libpython3.11-minimal", "libpython3.11-stdlib", "openssl", "libssl3"),
]

PROGRAMS = [
    *("busybox-static", "dash", "bash", "coreutils", "sed", "grep", "mawk", "tar", "bc", "make"),
    *("diffutils", "findutils", "sqlite3", "python3-minimal", "python3.11-minimal", "git", "ed"),
    *("libpython3.11-minimal", "libpython3.11-stdlib", "openssl", "libssl3", "perl-base"),
    *("tcc", "libtcc-dev", "libc6-dev", "linux-libc-dev", "vim-tiny", "less", "stress-ng"),
    "libc-bin",
]

TENON = """\
kind = "tenon"
app = "programs"
memory = "{memory}"
program = "/bin/busybox"
arguments = ["sh", "/etc/start"]
environment = ["PATH=/usr/bin:/bin"]
"""

START = "PATH=/usr/bin:/bin HOME=/root\nexport PATH HOME\necho begin\nexec dash /etc/{script}\n"
"""The shell of Debian, as that of busybox prefers its own applets."""

LINUX = """\
kind = "linux"
memory = "{memory}"
ready = "begin"

[machine]
ram = "2G"
"""


def printed(tenon, folder, script, packages, keys, memory, limit=450):
    """What each line of the script printed, with its status, by the words of the line."""
    files = folder / "files/etc"
    files.mkdir(parents=True)
    start = files / "start"
    start.write_text("#!/bin/busybox sh\n" + START.format(script=script))
    start.chmod(0o755)
    shutil.copy(SUPPORT / f"{script}.sh", files / script)
    shutil.copytree(SUPPORT / "scripts", files / "scripts")
    text = SYSTEM.format(name=folder.name) + f"packages = {packages}\n"
    text += keys.format(memory=memory)
    (folder / "system.toml").write_text(text)
    last = until(folder, patience=limit, programs=f"{script} end")
    outcome = tenon("run", folder, "--headless", "--deterministic", *last, limit=2 * limit)
    assert_well(outcome)
    shutil.rmtree(files)
    reports = re.compile(r".* makes system call \d+, which no library serves")
    text = "\n".join(line for line in outcome.said("programs") if not reports.fullmatch(line))
    return dict(re.findall(r"^== (.*)\n((?:.*\n)*?-- \d+)$", text, re.MULTILINE))


def compare(tenon, tmp_path, script, packages, memories=("192M", "512M")):
    """Asserts that the lines of a script print the same on Tenon as on Debian's kernel."""
    here, there = memories
    theirs = printed(tenon, tmp_path / f"{script}-linux", script, packages, LINUX, there)
    ours = printed(tenon, tmp_path / script, script, packages, TENON, here)
    different = [words for words in theirs if ours.get(words) != theirs[words]]
    assert not different, {words: (ours.get(words), theirs[words]) for words in different}
    return len(theirs)


@pytest.mark.long(240, "pool/tenon/linux-memory", "pool/tenon/program", "tests/support/dynamic.sh")
@pytest.mark.timeout(1800)
def test_dynamic_programs_print_the_same_as_on_linux(tenon, tmp_path):
    count = compare(tenon, tmp_path, "dynamic", PACKAGES)
    assert count >= 70
    text = (ROOT / "docs/linux-abi.md").read_text()
    assert f"{count} command lines of dynamic programs" in text


@pytest.mark.long(400, "pool/tenon/linux-memory", "tests/support/python.sh")
@pytest.mark.timeout(1800)
def test_python_and_openssl_print_the_same_as_on_linux(tenon, tmp_path):
    count = compare(tenon, tmp_path, "python", PYTHON)
    text = (ROOT / "docs/linux-abi.md").read_text()
    assert f"as do {count} of Python and OpenSSL" in text


@pytest.mark.long(900, "pool/tenon/linux-memory", "tests/support/programs.sh")
@pytest.mark.timeout(3600)
def test_programs_at_their_work_print_the_same_as_on_linux(tenon, tmp_path):
    count = compare(tenon, tmp_path, "programs", PROGRAMS, ("384M", "960M"))
    text = (ROOT / "docs/linux-abi.md").read_text()
    assert f"as do {count} of shells, data bases, compilers, git, editors and loads" in text
