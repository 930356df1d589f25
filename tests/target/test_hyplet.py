"""Hyplets in Debian's Linux: what they may do, what they may not, and that all is given back."""

import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import ROOT, assert_nothing_lost, assert_well, cases, until

from tenonos.linux import tools
from tenonos.setup import debian

SYSTEM = """\
name = "hyplets"
board = "qemu-virt"
pool = "0.1"
mode = "static"
console = "linux"

[[vm]]
name = "linux"
kind = "linux"
cpus = [0, 1, 2, 3]
memory = "256M"
files = "root"
devices = ["virtio0"]

[vm.detach]
cpus = [2, 3]
"""

KILLS = 20

START = """\
#!/bin/sh
free() {
    echo 3 > /proc/sys/vm/drop_caches
    awk '$1 == "MemFree:" { print $2 }' /proc/meminfo
}
hyplet
hyplet all
devices
insmod /lib/pulse.ko && hyplet between; rmmod pulse
before=$(free)
for kill in $(seq KILLS); do
    hyplet lives > /tmp/lives &
    until grep -q lives /tmp/lives; do usleep 1000; done
    usleep $((kill % 40 * 500))
    kill -9 $!
    wait $! 2> /dev/null
    rm /tmp/lives
    [ "$(cat /sys/devices/system/cpu/online)" = 0-3 ] && echo "HYPLET killed"
done
stuck=$(grep -l '^State:.D' /proc/[0-9]*/status | wc -l)
echo "HYPLET lost $((before - $(free))) KiB, $stuck tasks stuck"
hyplet lives > /tmp/lives &
until grep -q lives /tmp/lives; do usleep 1000; done
echo 1 > /sys/devices/system/cpu/cpu3/online
usleep 100000
echo "HYPLET then $(cat /sys/kernel/tenon/hyplet/cpu3/state)"
rmmod tenon 2> /dev/null && echo "HYPLET WRONG: unloaded while in use"
kill -9 $!
wait $! 2> /dev/null
grep -c . /proc/[0-9]*/status > /dev/null
rmmod tenon && [ ! -e /sys/kernel/tenon ] && insmod /lib/modules/tenon.ko && hyplet all
dmesg | grep -E "BUG|WARN|Oops|refcount|leak" && echo "HYPLET WRONG: the kernel complains"
echo "HYPLET all over"
"""

INCLUDE = [f"-I{ROOT / 'linux/include'}", f"-I{ROOT / 'linux/include/uapi'}"]


def program(target):
    sources = [
        Path(__file__).parent / f"linux/{target.name}.c",
        *(ROOT / "linux/libtenon" / name for name in ("hyplet.c", "elf.c")),
    ]
    command = ["aarch64-linux-gnu-gcc", "-static", "-s", "-O2", "-Wall", "-Wextra", "-Werror"]
    options = ["-mno-outline-atomics", "-fno-tree-vectorize", *INCLUDE]
    subprocess.run([*command, *options, "-o", target, *sources], check=True)


def pulse(target, folder):
    """A module of somebody else's, which uses what ours offers."""
    debian.kernel()
    work = folder / "linux"
    shutil.copytree(ROOT / "linux", work)
    shutil.copy(Path(__file__).parent / "linux/pulse.c", work / "module")
    with (work / "module/Kbuild").open("a") as build:
        build.write("obj-m += pulse.o\n")
    target.write_bytes(tools.make(debian.fetched("kernel"), work, "pulse.ko"))


@pytest.fixture(scope="module")
def hyplets(tenon, tmp_path_factory, times):
    folder = tmp_path_factory.mktemp("hyplets")
    (folder / "system.toml").write_text(SYSTEM)
    root = folder / "root"
    for place in ("bin", "lib"):
        (root / place).mkdir(parents=True)
    for name in ("hyplet", "devices"):
        program(root / "bin" / name)
    pulse(root / "lib/pulse.ko", tmp_path_factory.mktemp("pulse"))
    script = START.replace("KILLS", str(times(KILLS)))
    options = cases(folder, script, "HYPLET all over", patience=20 * times(20))
    ran = tenon("run", folder, "--headless", "--deterministic", *options, limit=500)
    assert_well(ran)
    return [line.removeprefix("HYPLET ") for line in ran.said("linux") if "HYPLET " in line]


@pytest.mark.timeout(600)
def test_no_check_failed(hyplets):
    assert not [line for line in hyplets if "WRONG" in line]
    assert {"over", "all over", "maps what it may", "maps all"} <= set(hyplets)


@pytest.mark.timeout(600)
def test_every_release_of_a_timer_at_20_khz_is_executed_once(hyplets):
    """And none early. How soon is counted in instructions by the bench: no clock tells it."""
    assert "timer has had 2000 releases" in hyplets


@pytest.mark.timeout(600)
def test_what_it_prints_is_printed_by_its_program(hyplets):
    assert hyplets.count("prints 7 seven 0x3") == 3


@pytest.mark.timeout(600)
def test_a_fault_ends_it_and_is_told(hyplets):
    assert "faults are told" in hyplets


@pytest.mark.timeout(600)
def test_a_runaway_is_stopped_and_seen(hyplets):
    assert "state running" in hyplets
    assert "state stopped" in hyplets
    (at,) = (line for line in hyplets if line.startswith("pc "))
    assert int(at.split()[1], 16)


@pytest.mark.timeout(600)
def test_the_kernel_steps_in_between(hyplets):
    assert "steps with the kernel" in hyplets


@pytest.mark.timeout(600)
def test_it_reads_the_device_of_its_vm_and_no_other(hyplets):
    assert "reads its device" in hyplets


@pytest.mark.timeout(600)
def test_linux_has_all_back_when_its_process_is_killed(hyplets, times):
    assert hyplets.count("killed") == times(KILLS)
    assert_nothing_lost(hyplets)


@pytest.mark.timeout(600)
def test_linux_may_take_the_cpu_back(hyplets):
    assert "then reclaimed" in hyplets


@pytest.mark.timeout(600)
def test_the_example_runs_as_its_readme_says(tenon, tmp_path):
    ran = tenon(
        *("run", "hyplet", "--headless", "--deterministic"),
        *until(tmp_path, linux="at most"),
        limit=300,
    )
    assert_well(ran)
    (said,) = (line for line in ran.said("linux") if "at most" in line)
    assert said.startswith("2000 releases, 0 early, 0 missed")
