"""A Tenon image without Mortise, at EL1 and EL2, with GICv2 and GICv3.

The image of `tests/systems/selftest` is the one that `test_tenon.py` runs under Mortise.
"""

import json
import shutil

import pytest
from conftest import assert_well, bare

VIRTUALISED = {"EL1": "", "EL2": ",virtualization=on"}
MACHINES = [(version, level) for version in (3, 2) for level in VIRTUALISED]


@pytest.fixture(scope="module")
def image(tenon, tmp_path_factory):
    """Builds the image of a system's only Tenon VM."""

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
def test_a_bare_image_passes_its_selftest(selftest, version, level, tmp_path):
    all_passed(run(selftest, tmp_path, version, level))


@pytest.mark.parametrize("level", VIRTUALISED)
def test_the_smallest_image_says_hello(hello, level, tmp_path):
    lines = run(hello, tmp_path, 3, level, "hello from Tenon", count=5)
    assert lines.count("hello from Tenon") == 5


@pytest.mark.long(45, "pool/core/bare", "pool/tenon/kernel")
@pytest.mark.parametrize(
    "options",
    [("OPTIMISE_SIZE", "TENON_THREAD_FEW_TIMERS"), ("TENON_THREAD_ASSERTIONS",)],
    ids=["size", "assertions"],
)
def test_an_image_with_options_passes_its_selftest(image, options, tmp_path):
    all_passed(run(image("selftest", *options), tmp_path, 3, "EL1"))


def test_a_fault_is_reported_and_the_machine_parks(image, tmp_path):
    lines = run(image("faults"), tmp_path, 3, "EL1", "fatal")
    assert "fatal: stack overflow in thread deep: esr=0x96" in lines[-1]


@pytest.mark.long(50, "pool/core/bare", "pool/hw/irqchip-gicv2", "pool/hw/serial")
@pytest.mark.parametrize(("version", "driver"), [(3, 2), (2, 3)])
def test_an_image_without_the_machines_driver_says_so(image, version, driver, tmp_path):
    alone = image("selftest", f"TENON_IRQCHIP_GICV{driver}")
    lines = run(alone, tmp_path, version, "EL1", "TENON_IRQCHIP")
    assert f"panic: the machine has a GICv{version}; this image lacks a driver" in lines[-1]


def run(image, folder, version, level, last=" passed, ", count=1):
    """Output of a machine with this GIC that enters the image at this exception level."""
    machine = f"gic-version={version}{VIRTUALISED[level]}"
    return bare(image, folder, last, machine=machine, count=count)


def all_passed(lines):
    assert not [line for line in lines if "FAILED" in line]
    assert lines[-1].endswith(" passed, 0 failed")
