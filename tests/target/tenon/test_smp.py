"""Tenon on several cores: in a VM, and without Mortise on GICv2 and GICv3."""

import json

import pytest
from conftest import assert_well, bare, until


def all_passed(lines):
    assert [line for line in lines if "FAILED" in line] == []
    assert lines[-1].endswith(" passed, 0 failed")
    assert int(lines[-1].split()[-4]) >= 22, "the cases for several cores"


@pytest.mark.timeout(600)
def test_tenon_passes_its_selftest_on_three_cores(tenon, tmp_path):
    last = until(tmp_path, selftest=" failed")
    outcome = tenon("run", "selftest-smp", "--headless", "--deterministic", *last)
    assert_well(outcome)
    lines = outcome.said("selftest")
    all_passed(lines)
    assert not [line for line in lines if "fewer cores" in line]


@pytest.fixture(scope="module")
def four(tenon, tmp_path_factory):
    """The image for four cores as a separate flat file, as others build it for three."""
    setting = "CONFIG_TENON_THREAD_CORES=4"
    built = tenon("build", "selftest-smp", "-D", setting, "--json", json_file=False)
    assert_well(built)
    flat = tmp_path_factory.mktemp("four") / "selftest.bin"
    with open(json.loads(built.stdout)["flats"]["selftest"], "rb") as file:
        flat.write_bytes(file.read())
    return flat


@pytest.mark.long(30, "pool/tenon/kernel", "pool/tenon/thread", "pool/core/bare")
@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    "machine", ["gic-version=3", "gic-version=3,virtualization=on", "gic-version=2"]
)
def test_four_cores_without_mortise(four, machine, tmp_path):
    all_passed(bare(four, tmp_path, " passed, ", machine=machine))


@pytest.mark.long(30, "pool/core/bare", "pool/tenon/kernel")
@pytest.mark.timeout(600)
def test_an_image_for_more_cores_than_there_are_says_so(four, tmp_path):
    lines = bare(four, tmp_path, " passed, ", cores=2)
    assert "warning: fewer cores than TENON_THREAD_CORES" in lines
    all_passed(lines)
