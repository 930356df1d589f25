"""Tenon on several cores: in a VM, and without Mortise on both generations of the GIC."""

import json
import subprocess
import time

import pytest
from conftest import assert_well


def all_passed(lines):
    assert [line for line in lines if "FAILED" in line] == []
    assert lines[-1].endswith(" passed, 0 failed")
    assert int(lines[-1].split()[-4]) >= 22, "the cases for several cores"


@pytest.mark.timeout(600)
def test_tenon_keeps_its_promises_on_three_cores(tenon):
    outcome = tenon("run", "selftest-smp", "--headless", "--seconds", 20, "--deterministic")
    assert_well(outcome)
    lines = outcome.said("selftest")
    all_passed(lines)
    assert not [line for line in lines if "fewer cores" in line]


@pytest.fixture(scope="module")
def four(tenon, tmp_path_factory):
    """The image for four cores, as a flat file of its own: others build it for three."""
    setting = "CONFIG_TENON_THREAD_CORES=4"
    built = tenon("build", "selftest-smp", "-D", setting, "--json", json_file=False)
    assert_well(built)
    flat = tmp_path_factory.mktemp("four") / "selftest.bin"
    with open(json.loads(built.stdout)["flats"]["selftest"], "rb") as file:
        flat.write_bytes(file.read())
    return flat


def run(image, machine, cores, serial):
    """What the image says on a machine of so many cores, which take turns to the instruction."""
    command = [
        *("qemu-system-aarch64", "-M", f"virt,{machine}", "-cpu", "cortex-a53", "-m", "1G"),
        *("-smp", str(cores), "-icount", "shift=0,sleep=off"),
        *("-nodefaults", "-nic", "none", "-display", "none"),
        *("-serial", f"file:{serial}", "-kernel", image),
    ]
    machine = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    lines = []
    try:
        end = time.monotonic() + 200
        while time.monotonic() < end and not any(" passed, " in line for line in lines):
            time.sleep(0.2)
            text = serial.read_text(errors="replace") if serial.exists() else ""
            lines = [line.split("] ", 1)[-1] for line in text.splitlines()]
    finally:
        machine.kill()
        machine.wait()
    return lines


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    "machine", ["gic-version=3", "gic-version=3,virtualization=on", "gic-version=2"]
)
def test_four_cores_without_mortise(four, machine, tmp_path):
    all_passed(run(four, machine, 4, tmp_path / "serial"))


@pytest.mark.timeout(600)
def test_an_image_for_more_cores_than_there_are_says_so(four, tmp_path):
    lines = run(four, "gic-version=3", 2, tmp_path / "serial")
    assert "warning: fewer cores than TENON_THREAD_CORES" in lines
    all_passed(lines)
