"""`./tenon bench` on the bare machine: figures are repeatable, recorded, and meet their goals.

The same suites in VMs are measured by `test_figures.py`, which takes minutes.
"""

import pytest
from conftest import assert_well
from figure_rows import KERNELS, recorded_rows, rows

from tools.bench.figures import figures, with_sums

KEYS = {
    *("suite", "name", "params", "environment", "system", "build", "options", "unit", "samples"),
    *("min", "median", "p99", "max", "barriers", "sysreg_writes", "mmio"),
    *("goal", "peers", "paper"),
}

OPEN: set[tuple[str, str]] = set()
"""Goals that are not met yet; a goal that is met is removed here."""

FLAT = ("yield", "start", "cancel", "expire")
"""Operations with a cost that must not depend on the number of threads or timers."""

COUNTS = ("threads", "pending")


@pytest.fixture(scope="module")
def measured(tenon):
    kernels = tenon("bench", *KERNELS, "--environment", "bare", limit=500)
    assert_well(kernels)
    sizes = tenon("bench", "size", limit=500)
    assert_well(sizes)
    return kernels.result + sizes.result


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


def test_goals_for_the_size_of_mortise_hold(measured):
    found = [*rows(measured, "mortise-static")]
    late = [f"{row.name} {row.params}: {row.median}" for row in figures().missed(with_sums(found))]
    assert found and not late, late


def test_the_recorded_rows_are_what_is_measured(measured):
    told = recorded_rows().differences(measured)
    assert not told, "./tenon bench --documents\n" + "\n".join(told)


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
