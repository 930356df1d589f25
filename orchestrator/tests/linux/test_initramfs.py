import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenonos.setup import initramfs
from tenonos.setup.initramfs import Entry


def read(content):
    """An independent reading of a newc archive: {name: (mode, content)} in order."""
    found, at = {}, 0
    while True:
        assert content[at : at + 6] == b"070701"
        fields = [int(content[at + 6 + 8 * i : at + 14 + 8 * i], 16) for i in range(13)]
        mode, size, name_size = fields[1], fields[6], fields[11]
        assert fields[5] == 0, "a time would make two archives differ"
        at += 110
        name = content[at : at + name_size - 1].decode()
        at = (at + name_size + 3) & ~3
        if name == "TRAILER!!!":
            return found
        found[name] = (mode, content[at : at + size])
        at = (at + size + 3) & ~3


@given(st.dictionaries(st.text("abc", min_size=1, max_size=9), st.binary(max_size=20), max_size=5))
def test_unpacking_yields_what_was_packed(files):
    content = initramfs.archive([Entry(n, initramfs.FILE, c) for n, c in files.items()])
    assert read(content) == {n: (initramfs.FILE, c) for n, c in files.items()}
    assert len(content) % 512 == 0


def test_init_and_shell_are_programs_and_folders_come_first():
    found = read(initramfs.archive(initramfs.entries(b"elf", {"/etc/start": b"#!/bin/sh"})))
    assert found["init"][0] == found["bin/busybox"][0] == initramfs.PROGRAM
    assert found["etc/start"] == (initramfs.PROGRAM, b"#!/bin/sh")
    assert found["bin/sh"] == (initramfs.LINK, b"busybox")
    names = list(found)
    for name in names:
        parent = name.rpartition("/")[0]
        assert not parent or names.index(parent) < names.index(name)


def test_extra_files_bring_their_folders():
    names = [entry.name for entry in initramfs.entries(b"", {"lib/modules/6/x.ko": b""})]
    for folder in ("lib", "lib/modules", "lib/modules/6"):
        assert names.index(folder) < names.index("lib/modules/6/x.ko")


def test_init_announces_the_shell():
    assert 'echo "tenon-ready cpus=' in initramfs.INIT


def rounds_of_waiting(folder, release, meanwhile="true"):
    """How often init waits for two algorithms that are not tested; each time `meanwhile` is run."""
    (folder / "version").write_text(f"Linux version {release} (debian-kernel)\n")
    (folder / "crypto").write_text("name : aes\nselftest     : unknown\n" * 2)
    script = initramfs.INIT
    script = script[script.index("read -r _") : script.index("[ ! -x /etc/start")]
    script = script.replace("/proc/", "").replace("sleep 0.01", f"echo round; {meanwhile}")
    done = subprocess.run(["sh", "-c", script], cwd=folder, capture_output=True, check=True)
    return done.stdout.count(b"round")


@pytest.mark.parametrize(
    ("release", "rounds"),
    [("5.10.0-8-arm64", 0), ("6.1.0-56-cloud-arm64", 0), ("6.12.95+deb13", 2), ("10.0.1", 2)],
)
def test_init_waits_until_a_newer_kernel_has_tested_its_algorithms(tmp_path, release, rounds):
    """It tests them after the boot, and a round trip of a channel took ten times as long."""
    assert rounds_of_waiting(tmp_path, release, "sed -i 0,/unknown/s//passed/ crypto") == rounds


def test_init_does_not_wait_for_ever(tmp_path):
    assert rounds_of_waiting(tmp_path, "6.12.95") == 500
