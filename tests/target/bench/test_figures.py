"""The figures of the documents: README's table and picture, measured in every environment."""

import re

import pytest
from conftest import ROOT, assert_well
from figure_rows import KERNELS, recorded_rows, rows

from tools.bench.documents import demo
from tools.bench.figures import figures, with_sums
from tools.bench.paper import papers
from tools.bench.suites import ENVIRONMENTS

pytestmark = pytest.mark.long(270, "pool/mortise", "pool/tenon", "tools/bench", "bench")

SUITES = sorted({figure.suite for figure in figures().all if figure.peers})
"""The suites which have figures of other kernels."""


@pytest.fixture(scope="module")
def drawing(tmp_path_factory):
    return tmp_path_factory.mktemp("drawing") / "bench.svg"


@pytest.fixture(scope="module")
def measured(tenon, drawing):
    # Shared cores have tests of their own.
    outcome = tenon("bench", *SUITES, "--svg", drawing, limit=800)
    assert_well(outcome)
    return outcome.result


@pytest.mark.timeout(900)
def test_goals_of_mortise_hold(measured):
    found = [row for row in rows(measured, "mortise-static") if row.suite in ("boot", "size")]
    late = [f"{row.name} {row.params}: {row.median}" for row in figures().missed(with_sums(found))]
    assert found and not late, late


def test_phases_are_the_whole_start(measured):
    found = [row for row in rows(measured, "mortise-static") if row.suite == "boot"]
    starts = ("mortise_entry_to_guest_zeroed", "mortise_entry_to_guest")
    whole, apart = (
        {row.params["guest"]: row.max for row in found if row.name == name} for name in starts
    )
    assert whole.keys() == apart.keys() == {"tiny", "linux"}
    parts = [row for row in found if row.name == "mortise_phase"]
    for guest, all_of_it in whole.items():
        own = {row.params["phase"]: row.max for row in parts if row.params["guest"] == guest}
        assert sum(own.values()) == all_of_it == apart[guest] + own["zero"]
    # Linux is loaded in place; all other work is common to both.
    empty = {(row.params["guest"], row.params["phase"]) for row in parts if row.max < 100}
    assert empty <= {("linux", "load")}


def test_ours_stand_beside_the_paper_s_tables(measured):
    every = [row for name in ENVIRONMENTS for row in rows(measured, name)]
    (tenonos,) = (paper for paper in papers() if paper.name == "TenonOS")
    left = {
        (table.name, ours.label)
        for table in tenonos.tables
        for ours in table.ours
        if any(
            cell is not None and value is None
            for cell, value in zip(ours.cells, table.measured(ours, every), strict=True)
        )
    }
    assert left <= {("Figure 9", "tick"), ("Table 5", "with floating point")}, left


@pytest.mark.parametrize("environment", ["mortise-static", "mortise-static+linux"])
def test_a_vm_costs_nothing(measured, environment):
    bare = {row.key: row for row in rows(measured)}
    virtual = [row for row in rows(measured, environment) if row.suite in KERNELS]
    assert {row.suite for row in virtual} == set(KERNELS)
    for row in virtual:
        assert row.statistics == bare[row.key].statistics, (row.name, row.params)


def test_the_recorded_rows_are_what_is_measured(measured):
    told = recorded_rows().differences([*measured, *demo()])
    assert not told, "./tenon bench --documents\n" + "\n".join(told)


def bars(picture):
    """The text of a picture of benchmarks: Tenon's figure behind each bar."""
    texts = re.findall(r'<text [^>]*class="(label|value)"[^>]*>([^<]*)</text>', picture)
    names = [text for kind, text in texts if kind == "label"]
    values = [float(text.replace(",", "")) for kind, text in texts if kind == "value"]
    return dict(zip(names, values, strict=True))


@pytest.mark.usefixtures("measured")
def test_the_picture_shows_what_is_measured(drawing):
    recorded_rows()
    shown, drawn = (bars(file.read_text()) for file in (ROOT / "docs" / "bench.svg", drawing))
    assert shown == drawn, "./tenon bench --svg docs/bench.svg"
