"""`./tenon bench`: the figures repeat, hold their goals and are the same in a VM."""

import json
import re

import pytest
from conftest import ROOT, assert_well

from tenonos.bench.figures import figures, with_sums
from tenonos.bench.paper import papers
from tenonos.bench.row import Kinds, Row
from tenonos.bench.suites import ENVIRONMENTS

SUITES = sorted({figure.suite for figure in figures().all if figure.peers})
"""Those that the README's table and picture draw on: other kernels have figures there."""

KEYS = {
    *("suite", "name", "params", "environment", "system", "build", "options", "unit", "samples"),
    *("min", "median", "p99", "max", "barriers", "sysreg_writes", "mmio"),
    *("goal", "peers", "paper"),
}

OPEN: set[tuple[str, str]] = set()
"""Goals that are not reached yet; what is reached is taken out, and stays reached."""

OF_KERNELS = {"sched", "irq", "timer", "thread-metric"}
"""What a kernel does on the bare machine and in a VM alike."""

FLAT = ("yield", "start", "cancel", "expire")
"""What must not cost more with more threads or timers."""


COUNTS = ("threads", "pending")


@pytest.fixture(scope="module")
def drawing(tmp_path_factory):
    return tmp_path_factory.mktemp("drawing") / "bench.svg"


@pytest.fixture(scope="module")
def measured(tenon, drawing):
    # What comes of sharing a core has tests of its own.
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
    """Whether it is of the build that the goals are about."""
    tick = row.params.get("mode") == "tick"
    return not (tick or row.params.get("fp") or "cores" in row.params)


@pytest.mark.timeout(900)
def test_each_row_has_what_other_tools_read(measured):
    assert all(row.keys() == KEYS for row in measured)
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
    whole = {row.params["guest"]: row.max for row in found if row.name == "mortise_entry_to_guest"}
    assert whole.keys() == {"tiny", "linux"}
    parts = [row for row in found if row.name == "mortise_phase"]
    for guest, all_of_it in whole.items():
        assert sum(row.max for row in parts if row.params["guest"] == guest) == all_of_it
    # Linux is loaded in place; all else is done for either.
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


COSTS = {
    "vector": ("irq", "entry"),
    "end of a handler": ("irq", "exit"),
    "timer interrupt": ("irq", "wake"),
    "yield": ("sched", "yield"),
    "resume": ("sched", "resume_preempt"),
    "block": ("sched", "block_switch"),
    "giving a semaphore": ("sched", "sem_give"),
    "taking": ("sched", "sem_take"),
    "locking": ("sched", "mutex_lock"),
    "unlocking": ("sched", "mutex_unlock"),
    "putting a message of": ("sched", "queue_put"),
    "getting": ("sched", "queue_get"),
    "putting a message →": ("sched", "message_wake"),
    "giving to": ("sched", "sem_preempt"),
    "start of a timer": ("timer", "start"),
    "cancelling": ("timer", "cancel"),
    "one expiry": ("timer", "expire"),
    "longest section": ("timer", "masked_max"),
    "500 periodic": ("timer", "periodic_load"),
    "reset": ("boot", "tenon_reset_to_main"),
}
"""The rows of the first table of docs/costs.md, by how they begin."""


def test_the_page_of_costs_says_what_is_measured(measured):
    table = (ROOT / "docs" / "costs.md").read_text().split("\n\n")[2]
    stated = re.findall(r"^\| (.*?) \| ([\d,]+) \|", table, re.MULTILINE)
    ours = {(row.suite, row.name): row for row in rows(measured) if usual(row)}
    stale, named = {}, set()
    for text, value in stated:
        start = next(start for start in COSTS if text.startswith(start))
        row = ours[COSTS[start]]
        figure = figures().of(row).held(row)
        named.add(start)
        # Compilers differ a little.
        if abs(figure - int(value.replace(",", ""))) > max(2, 0.1 * figure):
            stale[text] = f"{figure:,}, not {value}"
    assert not stale
    assert named == COSTS.keys()


SLACK = 0.15
"""How far a figure may be from the README's: compilers differ."""


def figure(label):
    """The README's figure of that row."""
    text = (ROOT / "README.md").read_text()
    (value,) = re.findall(rf"^\| {re.escape(label)}.*\| ([\d,]+) \|", text, re.MULTILINE)
    return int(value.replace(",", ""))


def bars(picture):
    """What a picture of the benchmarks says: our figure behind each bar."""
    texts = re.findall(r'<text [^>]*class="(label|value)"[^>]*>([^<]*)</text>', picture)
    names = [text for kind, text in texts if kind == "label"]
    values = [float(text.replace(",", "")) for kind, text in texts if kind == "value"]
    return dict(zip(names, values, strict=True))


def differences(rows):
    """The largest difference of a median to the bare machine's."""
    key = lambda row: (row["suite"], row["name"], json.dumps(row["params"]))  # noqa: E731
    bare = {key(row): row["median"] for row in rows if row["environment"] == "bare"}
    virtual = [row for row in rows if row["environment"] != "bare" and key(row) in bare]
    assert virtual
    return max(abs(row["median"] - bare[key(row)]) for row in virtual)


def test_the_readme_says_what_is_measured(tenon, measured, drawing):
    # The first of a name: on the bare machine, without floating point, with the fewest others.
    first = {(row["suite"], row["name"]): row for row in reversed(measured)}
    median = {key: row["median"] for key, row in first.items()}
    smallest = [row for row in measured if row["name"] == "tenon_hello"]
    hello = {row["params"].get("part"): row["median"] for row in smallest}
    demo = tenon("demo", "--headless", "--deterministic", "--seconds", 2)
    sizes = json.loads(tenon("size", "--json", json_file=False).stdout)["images"]
    mortise, motor = (image["text"] + image["rodata"] for image in sizes)
    found = {
        "release of the 1 kHz loop": demo.task["latency_ns"]["max"],
        "yield": median["sched", "yield"],
        "interrupt vector": median["irq", "entry"],
        "interrupt → the thread": median["irq", "wake"],
        "start of a timer": median["timer", "start"],
        "the most any of these differ": differences(measured),
        "reset": median["boot", "tenon_reset_to_main"],
        "Mortise: its instructions in a whole boot": median["boot", "linux_boot_el2"],
        "Mortise: code and constants": mortise,
        "Tenon with the motor": motor,
        "the smallest Tenon image": sum(hello[part] for part in ("text", "rodata", "data")),
    }
    stale = {
        label: f"{value:,}, not {figure(label):,}"
        for label, value in found.items()
        if abs(value - figure(label)) > SLACK * figure(label)
    }
    assert not stale, f"README.md: {stale}"
    shown, drawn = (bars(file.read_text()) for file in (ROOT / "docs" / "bench.svg", drawing))
    assert shown.keys() == drawn.keys()
    stale = {name: drawn[name] for name in drawn if abs(drawn[name] / shown[name] - 1) > SLACK}
    assert not stale, f"docs/bench.svg: {stale}"


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
