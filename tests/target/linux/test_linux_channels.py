"""Channels between two Debian Linuxes: `/dev/tenon/NAME` with read, write, poll and mmap, and in a
hyplet."""

import subprocess

import pytest
import test_hyplet
from conftest import ROOT, SUPPORT, assert_well

SYSTEM = (
    """\
name = "talk"
board = "qemu-virt"
pool = "0.1"
mode = "dynamic"
"""
    + "".join(
        f"""
[[vm]]
name = "{name}"
kind = "linux"
cpus = {cpus}
memory = "256M"
files = "{name}"
{more}"""
        for name, cpus, more in (
            ("asker", [0, 2], "\n[vm.detach]\ncpus = [2]\n"),
            ("answerer", [1], ""),
        )
    )
    + "".join(
        f"""
[[channel]]
name = "{name}"
from = "{sender}"
to = "{receiver}"
slots = 4
size = 64
"""
        for name, sender, receiver in (
            ("words", "asker", "answerer"),
            ("answers", "answerer", "asker"),
        )
    )
)

ASKER = """\
#!/bin/sh
talk ask | tee /tmp/said
grep -q twice /tmp/said || reboot -f
overhears
"""

ANSWERER = """\
#!/bin/sh
talk answer
exec 3< /dev/tenon/words
rmmod tenon 2>/dev/null && echo "WRONG: unloaded while in use"
exec 3<&-
rmmod tenon && [ ! -e /dev/tenon ] && insmod /lib/modules/tenon.ko && ls /dev/tenon
dmesg | grep -E "BUG|WARN|Oops|tenon.*error" && echo "WRONG: the kernel complains"
echo "TALK done"
"""


@pytest.fixture(scope="module")
def talk(tenon, tmp_path_factory):
    folder = tmp_path_factory.mktemp("talk")
    (folder / "system.toml").write_text(SYSTEM)
    program = folder / "program"
    source = SUPPORT / "linux" / "talk.c"
    include = ROOT / "linux" / "include" / "uapi"
    command = ["aarch64-linux-gnu-gcc", "-static", "-s", "-O1", "-Wall", f"-I{include}"]
    subprocess.run([*command, "-o", program, source], check=True)
    for name, script in (("asker", ASKER), ("answerer", ANSWERER)):
        for path, content in (("bin/talk", program.read_bytes()), ("etc/start", script.encode())):
            file = folder / name / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
            file.chmod(0o755)
    test_hyplet.program(folder / "asker/bin/overhears")
    return tenon("run", folder, "--headless", "--deterministic", "--seconds", 1, limit=500)


@pytest.mark.timeout(600)
def test_messages_pass_whole_and_in_order_and_nobody_is_left_waiting(talk):
    assert_well(talk)
    said = [*talk.said("asker"), *talk.said("answerer")]
    assert not [line for line in said if "WRONG" in line]
    for line in ("asked once", "asked twice", "answered twice", "done"):
        assert f"TALK {line}" in said


@pytest.mark.timeout(600)
def test_a_peer_that_reboots_is_end_of_file_and_comes_back(talk):
    assert "TALK end of file" in talk.said("answerer")
    assert talk.vm("asker")["restarts"] == 1


@pytest.mark.timeout(600)
def test_the_module_unloads_and_comes_back(talk):
    assert {"words", "answers"} <= set(" ".join(talk.said("answerer")).split())


@pytest.mark.timeout(600)
def test_a_hyplet_reads_what_its_vm_shares_and_writes_only_what_is_its_own(talk):
    assert "HYPLET overhears" in talk.said("asker")


@pytest.mark.timeout(600)
def test_the_result_counts_messages(talk):
    counted = {channel["name"]: channel for channel in talk.result["channels"]}
    assert counted["words"]["messages"] == 1 + 1000 + 200 + 1 + 1
    assert counted["answers"]["messages"] == 1 + 200 + 1
    assert counted["words"]["lost"] == counted["answers"]["lost"] == 0


@pytest.mark.timeout(600)
def test_linux_and_tenon_talk(tenon, tmp_path):
    script = tmp_path / "input"
    script.write_text(
        "expect tenon-ready\nexpect #\n"
        "send echo hello > /dev/tenon/requests; head -n 1 /dev/tenon/replies\n"
        "send tenonctl ping requests replies\nexpect round trips:\n"
    )
    echo = tenon(
        *("run", "echo", "--headless", "--deterministic", "--seconds", 1),
        *("--input", f"linux={script}"),
    )
    assert_well(echo)
    assert "hello" in echo.said("linux")
    (trips,) = (line for line in echo.said("linux") if "round trips:" in line)
    assert trips.startswith("1000 round trips: ")
    least, median, *_ = (int(word) for word in trips.split()[3:] if word.isdigit())
    assert 0 < least <= median < 100_000
    assert [channel["messages"] for channel in echo.result["channels"]] == [1001, 1001]
    # At most one doorbell in each direction, and none without a waiting receiver.
    assert echo.vm("echo")["exits_in_window"] <= 1001
