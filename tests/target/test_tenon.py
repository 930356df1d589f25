"""Tenon in a VM: what it promises its applications."""

import pytest
from conftest import assert_well


@pytest.mark.parametrize("timing", [[], ["--deterministic"]], ids=["host", "deterministic"])
@pytest.mark.timeout(600)
def test_tenon_keeps_its_promises(tenon, timing):
    outcome = tenon("run", "systems/selftest", "--headless", "--seconds", 3, *timing)
    assert_well(outcome)
    all_passed(outcome.said("selftest"))


@pytest.mark.timeout(600)
@pytest.mark.parametrize("system", ["selftest-fp", "selftest-nesting", "selftest-tick"])
def test_it_keeps_them_with_options(tenon, system):
    outcome = tenon("run", f"systems/{system}", "--headless", "--seconds", 3, "--deterministic")
    assert_well(outcome)
    for vm in outcome.result["vms"]:
        all_passed(outcome.said(vm["name"]))


@pytest.mark.timeout(600)
@pytest.mark.parametrize("timing", [[], ["--deterministic"]], ids=["host", "deterministic"])
def test_threads_take_turns_by_slices_or_of_their_own_accord(tenon, timing):
    outcome = tenon("run", "systems/selftest-turns", "--headless", "--seconds", 3, *timing)
    assert_well(outcome)
    for vm, cases in (("slices", 4), ("cooperative", 2)):
        lines = outcome.said(vm)
        all_passed(lines)
        assert f"turns: {cases} passed" in lines[-1]


def all_passed(lines):
    assert [line for line in lines if "FAILED" in line] == []
    assert lines[-1].endswith(" passed, 0 failed")
    assert sum(line.startswith("ok ") for line in lines) == int(lines[-1].split()[1])
