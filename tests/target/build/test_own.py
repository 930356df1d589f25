"""A library outside of the pool that adds a group of hypercalls."""

import shutil

import pytest
from conftest import ROOT, assert_well, until


@pytest.fixture
def system(tmp_path):
    """A copy of the example in another folder."""
    return shutil.copytree(ROOT / "examples/systems/tickets", tmp_path / "tickets")


def test_its_calls_are_answered(system, tenon, tmp_path):
    last = until(tmp_path, one="done", two="done")
    outcome = tenon("run", system, "--headless", "--deterministic", *last)
    assert_well(outcome)
    said = [line for vm in ("one", "two") for line in outcome.said(vm) if line != "done"]
    assert sorted(said) == [f"number {n}" for n in range(1, 7)]


def test_a_call_that_mortise_has_is_not_its_own(system, tenon):
    source = system / "tickets/src/lib.rs"
    source.write_text(source.read_text().replace("0xc600_8000", "0xc600_0000"))
    outcome = tenon("build", system, json_file=False)
    assert outcome.status == 1
    assert "claim the same function identifier" in outcome.stderr
