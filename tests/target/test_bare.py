"""The same Tenon image, without Mortise: it finds out at boot where it is.

The image of `systems/selftest` is the one that `test_tenon.py` runs under Mortise.
"""

import json
import shutil
import subprocess
import time
from pathlib import Path

import pytest
from conftest import assert_well

VIRTUALISED = {"EL1": "", "EL2": ",virtualization=on"}
MACHINES = [(version, level) for version in (3, 2) for level in VIRTUALISED]


@pytest.fixture(scope="module")
def image(tenon, tmp_path_factory):
    """A way to build the image of a system's only Tenon VM."""

    def build(system, *settings):
        defines = [part for setting in settings for part in ("-D", f"CONFIG_{setting}=y")]
        built = tenon("build", system, *defines, "--json", json_file=False)
        assert_well(built)
        copy = tmp_path_factory.mktemp("image") / "image.bin"
        return shutil.copy(json.loads(built.stdout)["flats"][system], copy)

    return build


@pytest.fixture(scope="module")
def hello(image):
    return image("hello")


@pytest.fixture(scope="module")
def selftest(image):
    return image("selftest")


@pytest.mark.parametrize(("version", "level"), MACHINES)
def test_a_bare_image_keeps_its_promises(selftest, version, level, tmp_path):
    text = run(selftest, version, level, tmp_path, lambda text: " passed, " in text)
    assert "FAILED" not in text
    assert " passed, 0 failed" in text


@pytest.mark.parametrize("level", VIRTUALISED)
def test_the_smallest_image_says_hello(hello, level, tmp_path):
    text = run(hello, 3, level, tmp_path, lambda text: text.count("hello from Tenon") >= 5)
    assert text.count("hello from Tenon") == 5


@pytest.mark.parametrize(
    "options",
    [("OPTIMISE_SIZE", "TENON_THREAD_FEW_TIMERS"), ("TENON_THREAD_ASSERTIONS",)],
    ids=["size", "assertions"],
)
def test_an_image_with_options_keeps_its_promises(image, options, tmp_path):
    image_with = image("selftest", *options)
    text = run(image_with, 3, "EL1", tmp_path, lambda text: " passed, " in text)
    assert "FAILED" not in text
    assert " passed, 0 failed" in text


def test_a_fault_is_reported_and_the_machine_parks(image, tmp_path):
    faults = image("faults")
    text = run(faults, 3, "EL1", tmp_path, lambda text: "fatal" in text)
    assert text.count("fatal: stack overflow in thread deep: esr=0x96") == 1


@pytest.mark.parametrize(("version", "driver"), [(3, 2), (2, 3)])
def test_an_image_without_the_machines_driver_says_so(image, version, driver, tmp_path):
    alone = image("selftest", f"TENON_IRQCHIP_GICV{driver}")
    text = run(alone, version, "EL1", tmp_path, lambda text: "TENON_IRQCHIP" in text)
    assert f"panic: the machine has a GICv{version}, this image its driver not" in text


def run(image, version, level, folder, enough):
    """What a machine says until that is enough, a minute at most."""
    serial = folder / "serial"
    command = [
        "qemu-system-aarch64",
        *("-M", f"virt,gic-version={version}{VIRTUALISED[level]}", "-cpu", "cortex-a53"),
        # The same to the instruction, however busy the host is.
        *("-icount", "shift=0,sleep=off"),
        *("-smp", "4", "-m", "1G", "-nodefaults", "-nic", "none", "-display", "none"),
        *("-serial", f"file:{serial}", "-kernel", image),
    ]
    machine = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        end = time.monotonic() + 60
        while time.monotonic() < end and not enough(said(serial)):
            time.sleep(0.1)
    finally:
        machine.kill()
        machine.wait()
    return said(serial)


def said(serial: Path) -> str:
    return serial.read_text(errors="replace") if serial.exists() else ""
