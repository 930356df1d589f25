"""Cores that Debian's Linux lends to its programs, which run there without a kernel."""

import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import ROOT, SUPPORT, assert_well, cases
from descriptions import CONTROL, described, linux, motor, section

from tenonos.linux import tools
from tenonos.setup import debian

HAND_OVERS = 200

SCRIPT = """\
#!/bin/sh
{program}
grep -q 0-3 /sys/devices/system/cpu/online || echo "WRONG: CPUs are missing"
rmmod tenon && insmod /lib/modules/tenon.ko || echo "WRONG: the module does not unload"
dmesg | grep -E "BUG|WARN|Oops|tenon.*error" && echo "WRONG: the kernel complains"
echo "LEND over"
"""


def system(folder: Path) -> Path:
    """The system `detach` with a program that borrows cores."""
    text = (ROOT / "tests/systems/detach/system.toml").read_text()
    (folder / "system.toml").write_text(text.replace("[vm.detach]", 'files = "root"\n[vm.detach]'))
    program = folder / "root/bin/lend"
    program.parent.mkdir(parents=True)
    source = SUPPORT / "linux" / "lend.c"
    command = ["aarch64-linux-gnu-gcc", "-static", "-s", "-O1", "-Wall", "-Wextra", "-Werror"]
    include = ROOT / "linux" / "include" / "uapi"
    subprocess.run([*command, f"-I{include}", "-o", program, source], check=True)
    return folder


@pytest.fixture(scope="module")
def lend(tenon, tmp_path_factory, times):
    folder = system(tmp_path_factory.mktemp("lend"))
    script = SCRIPT.format(program=f"lend {times(HAND_OVERS)}")
    options = cases(folder, script, "LEND over", patience=20 * times(20))
    return tenon("run", folder, "--headless", "--deterministic", *options, limit=500)


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    "what",
    [
        *("calls", "floats", "faults", "waits", "ticks", "stops", "protects", "many"),
        *("comes back", "over"),
    ],
)
def test_code_of_a_process_runs_on_a_lent_core(lend, what):
    assert_well(lend)
    assert f"LEND {what}" in lend.said("linux")


@pytest.mark.timeout(600)
def test_nothing_was_wrong(lend):
    assert not [line for line in lend.said("linux") if "WRONG" in line]


@pytest.mark.long(34, "pool/mortise/detach", "linux")
@pytest.mark.timeout(600)
def test_linux_begins_again_or_goes_while_a_program_has_its_core(tenon, tmp_path):
    folder = system(tmp_path)
    script = tmp_path / "input"
    ready, busy = ("expect tenon-ready", "expect # "), "send lend 1 forever &"
    again = (*ready, busy, "expect LEND runs on", "send sleep 0.1; reboot -f")
    whole = (*ready, "send lend 2", "expect LEND done")
    gone = (busy, "expect LEND runs on", "send sleep 0.1; poweroff -f", "expect Power down")
    script.write_text("\n".join(("timeout 240", *again, *again, *whole, *gone)) + "\n")
    # The run ends when Linux is off, shortly after its last line.
    line = ("run", folder, "--headless", "--deterministic", "--seconds", 240)
    run = tenon(*line, "--input", f"linux={script}", limit=500)
    assert_well(run)
    assert not [line for line in run.said("linux") if "WRONG" in line]
    assert "LEND done" in run.said("linux")
    linux = run.vm("linux")
    assert (linux["state"], linux["restarts"]) == ("off", 2)


@pytest.mark.timeout(600)
def test_several_cores_change_hands_at_once(tenon, tmp_path):
    folder = system(tmp_path)
    file = folder / "system.toml"
    file.write_text(file.read_text().replace("cpus = [3]", "cpus = [2, 3]"))
    options = cases(folder, SCRIPT.format(program="lend 40 together"), "LEND over")
    run = tenon("run", folder, "--headless", "--deterministic", *options, limit=500)
    assert_well(run)
    said = run.said("linux")
    assert not [line for line in said if "WRONG" in line]
    assert said.count("LEND handed over 40 times") == 2
    assert {"LEND together", "LEND over"} <= set(said)


HOSTILE = described(
    "forger",
    motor(CONTROL, cpus=[0], interrupts="direct"),
    linux(section("vm.detach", cpus=[3]), cpus=[1, 2, 3], memory="512M", files="root"),
    mode="static",
)


def forge(work: Path) -> bytes:
    """A module with the actions of a hostile kernel, built beside Tenon's in this folder."""
    shutil.copytree(ROOT / "linux", work)
    shutil.copy(ROOT / "tests/support/linux/forge.c", work / "module")
    with (work / "module/Kbuild").open("a") as kbuild:
        kbuild.write("\nobj-m += forge.o\n")
    debian.kernel()
    return tools.make(debian.fetched("kernel"), work, "forge.ko")


@pytest.fixture(scope="module")
def forged(tmp_path_factory):
    return forge(tmp_path_factory.mktemp("forge") / "linux")


@pytest.mark.long(45, "pool/mortise/detach", "linux")
@pytest.mark.timeout(600)
@pytest.mark.parametrize("wild", [0, pytest.param(1, marks=pytest.mark.alone)])
def test_a_hostile_linux_forges_what_it_can(tenon, tmp_path, forged, wild):
    (tmp_path / "system.toml").write_text(HOSTILE)
    module = tmp_path / "root/root/forge.ko"
    module.parent.mkdir(parents=True)
    module.write_bytes(forged)
    script = tmp_path / "input"
    last = "round 4" if wild else "done"
    script.write_text(
        "timeout 240\nexpect tenon-ready\nexpect # \n"
        f"send insmod /root/forge.ko wild={wild}\nexpect FORGE {last}\n"
    )
    # Endless exceptions execute no instruction, so virtual time would stop.
    time = () if wild else ("--deterministic",)
    line = ("run", tmp_path, "--headless", *time, "--seconds", 3)
    run = tenon(*line, "--input", f"linux={script}", limit=500)
    assert_well(run)
    said = "\n".join(run.said("linux"))
    assert "FORGE WRONG" not in said
    if wild:
        # The hostile VM is stopped for an access at some time; no other VM is.
        assert run.vm("linux")["state"] in ("running", "stopped")
    else:
        assert "FORGE done" in said
        assert "Oops" not in said and "BUG" not in said
    motor, task = run.vm("motor"), run.task
    assert (motor["state"], motor["exits_in_window"]) == ("running", 0)
    assert task["released"] == task["completed"] >= 2_990
    assert task["duplicates"] == 0
