"""Tenon in a VM: the self-tests."""

import pytest
from conftest import assert_well, until

TIMINGS = [
    pytest.param([], id="host", marks=pytest.mark.alone),
    pytest.param(["--deterministic"], id="deterministic"),
]


@pytest.mark.parametrize("timing", TIMINGS)
@pytest.mark.timeout(600)
def test_tenon_passes_its_selftest(tenon, tmp_path, timing):
    last = until(tmp_path, selftest=" failed")
    outcome = tenon("run", "tests/systems/selftest", "--headless", *last, *timing)
    assert_well(outcome)
    all_passed(outcome.said("selftest"))


@pytest.mark.long(80, "pool/tenon/kernel", "pool/tenon/thread", "pool/tenon/time")
@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("system", "vms"),
    [
        ("selftest-fp", ("selftest", "floats", "threads")),
        ("selftest-nesting", ("selftest", "floats")),
        ("selftest-tick", ("selftest",)),
    ],
)
def test_it_keeps_them_with_options(tenon, tmp_path, system, vms):
    last = until(tmp_path, **dict.fromkeys(vms, " failed"))
    outcome = tenon("run", system, "--headless", "--deterministic", *last)
    assert_well(outcome)
    assert [vm["name"] for vm in outcome.result["vms"]] == [*vms]
    for vm in vms:
        all_passed(outcome.said(vm))


@pytest.mark.timeout(600)
def test_threads_take_turns_by_slices_or_of_their_own_accord(tenon, tmp_path):
    last = until(tmp_path, slices=" failed", cooperative=" failed")
    # Slices are not measurable by the clock of a busy host.
    outcome = tenon("run", "selftest-time-slices", "--headless", "--deterministic", *last)
    assert_well(outcome)
    for vm, cases in (("slices", 4), ("cooperative", 3)):
        lines = outcome.said(vm)
        all_passed(lines)
        assert f"time-slice-test: {cases} passed" in lines[-1]


def all_passed(lines):
    assert [line for line in lines if "FAILED" in line] == []
    assert lines[-1].endswith(" passed, 0 failed")
    assert sum(line.startswith("ok ") for line in lines) == int(lines[-1].split()[1])
