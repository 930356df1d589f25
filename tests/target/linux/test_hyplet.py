"""Hyplets in Debian's Linux: permitted and denied operations, and release of resources."""

import shutil
import subprocess

import pytest
from conftest import ROOT, SUPPORT, assert_nothing_lost, assert_well, cases

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

HERE = SUPPORT / "linux"
KILLS = 20
POINTS = {True: 400_000, False: 60_000}
"""Range in us of the times at which a hyplet is killed: a little longer than its start takes, by
the host's clock in the full form or else by instructions."""
INCLUDE = [f"-I{ROOT / 'linux/include'}", f"-I{ROOT / 'linux/include/uapi'}"]


def program(target):
    sources = [
        HERE / f"{target.name}.c",
        *(ROOT / "linux/libtenon" / name for name in ("hyplet.c", "elf.c")),
    ]
    command = ["aarch64-linux-gnu-gcc", "-static", "-s", "-O2", "-Wall", "-Wextra", "-Werror"]
    options = ["-mno-outline-atomics", "-fno-tree-vectorize", *INCLUDE]
    subprocess.run([*command, *options, "-o", target, *sources], check=True)


def modules(target, folder):
    """Third-party modules: one uses Tenon's exports, one delays CPU hot-unplug."""
    debian.kernel()
    work = folder / "linux"
    shutil.copytree(ROOT / "linux", work)
    names = ("pulse", "slow")
    with (work / "module/Kbuild").open("a") as build:
        for name in names:
            shutil.copy(HERE / f"{name}.c", work / "module")
            build.write(f"obj-m += {name}.o\n")
    for name in names:
        module = tools.make(debian.fetched("kernel"), work, f"{name}.ko")
        (target / f"{name}.ko").write_bytes(module)


@pytest.fixture(scope="module")
def hyplets(tenon, tmp_path_factory, times, full):
    folder = tmp_path_factory.mktemp("hyplets")
    (folder / "system.toml").write_text(SYSTEM)
    root = folder / "root"
    for place in ("bin", "lib"):
        (root / place).mkdir(parents=True)
    for name in ("hyplet", "devices", "shows"):
        program(root / "bin" / name)
    modules(root / "lib", tmp_path_factory.mktemp("modules"))
    script = (HERE / "hyplet.sh").read_text()
    script = script.replace("KILLS", str(times(KILLS))).replace("POINTS", str(POINTS[full]))
    options = cases(folder, script, "HYPLET all over", patience=20 * times(20))
    # All endless loops yield to such an emulator: hyplet.c, slow.c.
    timing = () if full else ("--deterministic",)
    ran = tenon("run", folder, "--headless", *timing, *options, limit=500)
    assert_well(ran)
    return [line.removeprefix("HYPLET ") for line in ran.said("linux") if "HYPLET " in line]


@pytest.mark.timeout(600)
def test_no_check_failed(hyplets):
    assert not [line for line in hyplets if "WRONG" in line]
    assert {"over", "all over", "maps what it may", "maps all"} <= set(hyplets)


@pytest.mark.timeout(600)
def test_every_release_of_a_timer_at_20_khz_is_executed_once(hyplets):
    """No release is early. The bench counts the latency in instructions, as clocks are not
    exact."""
    assert "timer has had 2000 releases" in hyplets


@pytest.mark.timeout(600)
def test_what_it_prints_is_printed_by_its_program(hyplets):
    assert hyplets.count("prints 7 seven 0x3") == 3


@pytest.mark.timeout(600)
def test_a_fault_ends_it_and_is_reported(hyplets):
    assert "faults are told" in hyplets


@pytest.mark.timeout(600)
def test_a_page_of_code_has_zeros_between_its_regions(hyplets):
    assert "leaves no code" in hyplets


@pytest.mark.timeout(600)
def test_a_runaway_is_stopped_and_seen(hyplets):
    """State and progress in sysfs; after its stop also the program counter."""
    assert "runaway is shown" in hyplets


@pytest.mark.timeout(600)
def test_what_is_within_a_vma_is_mapped(hyplets):
    assert "maps VMAs" in hyplets


@pytest.mark.timeout(600)
def test_the_address_of_a_refused_instruction_is_reported(hyplets):
    """The reason is reported to its program and in the kernel's log."""
    (at,) = (line.split()[-1] for line in hyplets if line.startswith("is refused at "))
    assert f"log says d5380000 at {at} is a system register" in hyplets


@pytest.mark.timeout(600)
def test_the_kernel_steps_in_between(hyplets):
    assert "steps with the kernel" in hyplets


@pytest.mark.timeout(600)
def test_it_reads_the_device_of_its_vm_and_no_other(hyplets):
    assert "reads its device" in hyplets


@pytest.mark.timeout(600)
def test_linux_has_all_back_when_its_process_is_killed(hyplets, times):
    assert [line for line in hyplets if line.startswith(f"killed {times(KILLS)}, ")]
    assert_nothing_lost(hyplets)


@pytest.mark.timeout(600)
def test_a_cpu_that_goes_off_slowly_is_waited_for(hyplets):
    """Linux considers a CPU off after 100 ms; a hyplet that then starts there is refused."""
    assert "late 1" in hyplets


@pytest.mark.timeout(600)
def test_linux_may_take_the_cpu_back(hyplets):
    assert "then reclaimed" in hyplets
