"""`./tenon bench`: figures are repeatable, meet their goals and are equal in a VM."""

import re

import pytest
from conftest import ROOT, assert_well

from tenonos.analysis.recorded import RecordedRows, tools
from tools.bench.documents import demo
from tools.bench.figures import figures, with_sums
from tools.bench.paper import papers
from tools.bench.row import Kinds, Row
from tools.bench.suites import ENVIRONMENTS

SUITES = sorted({figure.suite for figure in figures().all if figure.peers})
"""The suites of the README's table and picture, which have figures of other kernels."""

KEYS = {
    *("suite", "name", "params", "environment", "system", "build", "options", "unit", "samples"),
    *("min", "median", "p99", "max", "barriers", "sysreg_writes", "mmio"),
    *("goal", "peers", "paper"),
}

OPEN: set[tuple[str, str]] = set()
"""Goals that are not met yet; a goal that is met is removed here."""

OF_KERNELS = {"sched", "irq", "timer", "thread-metric"}
"""Operations with equal cost on the bare machine and in a VM."""

FLAT = ("yield", "start", "cancel", "expire")
"""Operations with a cost that must not depend on the number of threads or timers."""


COUNTS = ("threads", "pending")


@pytest.fixture(scope="module")
def drawing(tmp_path_factory):
    return tmp_path_factory.mktemp("drawing") / "bench.svg"


@pytest.fixture(scope="module")
def measured(tenon, drawing):
    # Shared cores have tests of their own.
    outcome = tenon("bench", *SUITES, "--svg", drawing, limit=800)
    assert_well(outcome)
    return outcome.result


def rows(result, environment="bare"):
    for entry in result:
        if entry["environment"] == environment:
            names = ("suite", "name", "params", "samples", "min", "median", "p99", "max")
            kinds = Kinds(entry["barriers"], entry["sysreg_writes"], entry["mmio"])
            values = {name: entry[name] for name in names}
            yield Row(**values, kinds=kinds, environment=environment)


def usual(row):
    """Whether the row is of the build for which the goals are set."""
    tick = row.params.get("mode") == "tick"
    return not (tick or row.params.get("fp") or "cores" in row.params)


@pytest.mark.timeout(900)
def test_each_row_has_what_other_tools_read(measured):
    assert all(row.keys() - {"emulator"} == KEYS for row in measured)
    assert all(("emulator" in row) != (row["suite"] == "size") for row in measured)
    assert all(row["samples"] == 1000 for row in measured if row["suite"] in ("sched", "irq"))
    by_name = {row["name"]: row for row in reversed(measured)}
    assert by_name["yield"]["goal"] == 40
    peers = {peer["name"]: peer for peer in by_name["yield"]["peers"]}
    assert peers["Zephyr"]["value"] == 84
    assert all(peer["version"] and peer["options"] and peer["source"] for peer in peers.values())


def test_goals_hold(measured):
    missed = figures().missed(with_sums([*rows(measured)]))
    late = [f"{row.name} {row.params}: {row.median}" for row in missed]
    assert {(row.suite, row.name) for row in missed} <= OPEN, late


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


def test_costs_do_not_grow(measured):
    costs = {}
    for row in rows(measured):
        if row.name in FLAT:
            build = {key: row.params[key] for key in row.params if key not in COUNTS}
            costs.setdefault((row.name, str(build)), []).append(row.statistics)
    assert len(costs) >= 5
    for key, statistics in costs.items():
        assert len(statistics) >= 5 and len({*statistics}) == 1, key


def test_medians_and_maxima_agree(measured):
    varying = {row.name for row in rows(measured) if row.max != row.median}
    assert varying <= {"masked_max", "queue_put"}, "docs/benchmarks.md names the causes"


@pytest.mark.parametrize("environment", ["mortise-static", "mortise-static+linux"])
def test_a_vm_costs_nothing(measured, environment):
    bare = {row.key: row for row in rows(measured)}
    virtual = [row for row in rows(measured, environment) if row.suite in OF_KERNELS]
    assert {row.suite for row in virtual} == OF_KERNELS
    for row in virtual:
        assert row.statistics == bare[row.key].statistics, (row.name, row.params)


@pytest.fixture(scope="module")
def recorded():
    """The recorded rows, if they were measured with the same tools."""
    rows = RecordedRows.load()
    here = tools()
    other = {key: rows.made[key] for key in ("qemu", "rust") if rows.made[key] != here[key]}
    if other:
        pytest.skip(f"the recorded rows are of {other}")
    return rows


def test_the_recorded_rows_are_what_is_measured(measured, recorded):
    told = recorded.differences([*measured, *demo()])
    assert not told, "./tenon bench --documents\n" + "\n".join(told)


def bars(picture):
    """The text of a picture of benchmarks: Tenon's figure behind each bar."""
    texts = re.findall(r'<text [^>]*class="(label|value)"[^>]*>([^<]*)</text>', picture)
    names = [text for kind, text in texts if kind == "label"]
    values = [float(text.replace(",", "")) for kind, text in texts if kind == "value"]
    return dict(zip(names, values, strict=True))


@pytest.mark.usefixtures("recorded")
def test_the_picture_shows_what_is_measured(drawing):
    shown, drawn = (bars(file.read_text()) for file in (ROOT / "docs" / "bench.svg", drawing))
    assert shown == drawn, "./tenon bench --svg docs/bench.svg"


@pytest.mark.long(35, "tools/bench", "bench/plugin", "orchestrator/tenonos/run")
def test_two_runs_agree_to_the_instruction(tenon, measured):
    again = tenon("bench", "sched", "irq", "--environment", "bare")
    assert_well(again)
    suites = ("sched", "irq")
    first = [r for r in measured if r["suite"] in suites and r["environment"] == "bare"]
    assert again.result == first


def test_an_unknown_suite_is_refused(tenon):
    outcome = tenon("bench", "speed", json_file=False)
    assert outcome.status == 2
    assert outcome.stderr.strip().count("\n") == 0 and "known are sched, irq" in outcome.stderr
