"""Linux programs on dedicated cores: the example systems by the command line of their READMEs."""

import re

import pytest
from conftest import ROOT, assert_well


@pytest.fixture
def example(tenon):
    """Runs an example system by the command line of its README."""

    def run(name):
        text = (ROOT / "examples/systems" / name / "README.md").read_text()
        (line,) = re.findall(r"^    \./tenon (run .*)$", text, re.MULTILINE)
        readme = " ".join((ROOT / "README.md").read_text().split())
        assert f"`./tenon {line}`" in readme, f"README.md has another line than that of {name}"
        outcome = tenon(*line.split())
        assert_well(outcome)
        return outcome

    return run


@pytest.mark.timeout(400)
def test_a_timer_at_20_khz(example):
    (said,) = (line for line in example("hyplet").said("linux") if "at most" in line)
    assert said.startswith("2000 releases, 0 early, 0 missed")


@pytest.mark.alone
@pytest.mark.timeout(400)
def test_an_unmodified_program_beside_a_loaded_linux(example):
    said = example("detached").said("linux")
    assert "the same" in said
    sums = [line.split(": ")[1] for line in said if "tached: " in line]
    assert len(sums) == 2
    assert sums[0] == sums[1]
    assert sums[0].endswith("/bin/busybox")


@pytest.mark.timeout(400)
def test_a_controller_calls_a_classifier_within_its_budget(example):
    (said,) = (line for line in example("vlib").said("controller") if "images" in line)
    images, right, late, longest = map(int, re.findall(r"\d+", said.partition("image-client: ")[2]))
    assert images == 200 and right >= 190 and late < 20
    assert 0 < longest <= 201, "microseconds, of the 200 that a call has"
