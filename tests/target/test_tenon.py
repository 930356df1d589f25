"""Tenon in a VM: what it promises its applications."""

import pytest
from conftest import assert_well


@pytest.mark.parametrize("timing", [[], ["--deterministic"]], ids=["host", "deterministic"])
@pytest.mark.timeout(600)
def test_tenon_keeps_its_promises(tenon, timing):
    outcome = tenon("run", "systems/selftest", "--headless", "--seconds", 3, *timing)
    assert_well(outcome)
    lines = outcome.said("selftest")
    assert [line for line in lines if "FAILED" in line] == []
    assert lines[-1].endswith(" passed, 0 failed")
    assert sum(line.startswith("ok ") for line in lines) == int(lines[-1].split()[1])
