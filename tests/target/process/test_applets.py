"""Applets of busybox, each with the same output as a process of Tenon and on Debian's kernel."""

import re
import shutil

import pytest
from conftest import ROOT, SUPPORT, assert_well, until

TENON = """\
kind = "tenon"
app = "programs"
memory = "32M"
packages = ["busybox-static"]
program = "/bin/busybox"
arguments = ["sh", "/etc/start"]
environment = ["PATH=/bin"]
"""

LINUX = """\
kind = "linux"
memory = "256M"
packages = ["busybox-static"]
"""

SYSTEM = """\
name = "{name}"
board = "qemu-virt"
pool = "0.1"
mode = "static"

[[vm]]
name = "programs"
cpus = [0]
files = "files"
"""


def printed(tenon, folder, keys):
    """What each line of the script printed, with its status, by the words of the line."""
    files = folder / "files/etc"
    files.mkdir(parents=True)
    start = files / "start"
    start.write_text("#!/bin/busybox sh\n" + (SUPPORT / "applets.sh").read_text())
    start.chmod(0o755)
    (folder / "system.toml").write_text(SYSTEM.format(name=folder.name) + keys)
    last = until(folder, programs="applets end")
    outcome = tenon("run", folder, "--headless", "--deterministic", *last)
    assert_well(outcome)
    shutil.rmtree(files)
    text = "\n".join(outcome.said("programs"))
    return dict(re.findall(r"^== (.*)\n((?:.*\n)*?-- \d+)$", text, re.MULTILINE))


@pytest.mark.long(60, "pool/tenon/linux-abi", "pool/tenon/process", "tests/support")
@pytest.mark.timeout(600)
def test_applets_print_the_same_as_on_linux(tenon, tmp_path):
    ours = printed(tenon, tmp_path / "applets", TENON)
    theirs = printed(tenon, tmp_path / "applets-linux", LINUX)
    different = [words for words in theirs if ours.get(words) != theirs[words]]
    assert len(theirs) >= 70
    assert not different, {words: (ours.get(words), theirs[words]) for words in different}
    count = f"{len(theirs)} command lines of busybox"
    assert count in (ROOT / "docs/linux-abi.md").read_text()
