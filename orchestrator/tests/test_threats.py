"""The threat model and the list of support: what is said to try a thing exists."""

import re

import pytest

from tenonos.paths import ROOT

ROWS = [
    [cell.strip() for cell in line.strip("|").split(" | ")]
    for line in (ROOT / "docs/threat-model.md").read_text().splitlines()
    if re.match(r"\| (?!attempt)", line) and line.count(" | ") == 2
]
ATTACKS = {
    name
    for file in (ROOT / "tests/guests/hostile/src").glob("*.rs")
    for name in re.findall(r'Attack::new\(\s*"([\w/-]+)"', file.read_text())
}
TARGETS = {file.stem for file in (ROOT / "tests/target").rglob("test_*.py")}
UNTRIED = "no test of its own yet"


def test_the_table_is_read():
    assert len(ROWS) > 20 and len(ATTACKS) > 50


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0][:40])
def test_what_tries_a_threat_exists(row):
    tried = row[2].rstrip("| ")
    names = re.findall(r"`([^`]+)`", tried)
    assert names
    for name in names:
        if name == "hostile":
            continue
        attack = any(name == found or found.startswith(f"{name}/") for found in ATTACKS)
        file = name in TARGETS or (ROOT / f"{name}.rs").exists()
        tree = name.startswith(("pool/", "tests/", "orchestrator/tests/", "tools/tests/"))
        folder = tree and any(ROOT.glob(name))
        assert attack or file or folder, f"no {name}"


def test_few_threats_are_not_tried():
    assert sum(UNTRIED in row[2] for row in ROWS) <= 1


def test_what_tests_a_feature_exists():
    named = re.findall(r"`(test_\w+)`", (ROOT / "SUPPORT.md").read_text())
    assert len(named) > 30
    assert set(named) <= TARGETS
