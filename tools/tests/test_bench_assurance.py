"""Assurance: what fails the suite, and what its page says of the long run."""

import json
from collections import Counter
from types import SimpleNamespace

import pytest

from tenonos.errors import WorkError
from tenonos.paths import ROOT
from tools.bench import assurance

ALONE = SimpleNamespace(min=202, max=202)


def judged(path=ALONE, task=(), motor=(), other="running"):
    """The judgement of a run in which all is well but that."""
    well = {"exits_in_window": 0, "el2_instructions_in_window": 0, "restarts": None}
    vms = [
        SimpleNamespace(name="motor", **well | dict(motor)),
        SimpleNamespace(name="fuzzer", state=other),
    ]
    counts = {"released": 9, "completed": 9, "duplicates": 0} | dict(task)
    result = SimpleNamespace(vms=vms, periodic=[SimpleNamespace(**counts)])
    assurance._judge(result, path, ALONE, assurance.NEIGHBOURS[0], "shared")


def test_a_motor_that_noticed_nothing_is_well():
    judged()
    judged(other="restarting")


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        ({"task": {"completed": 8}}, "releases not completed: 1"),
        ({"task": {"duplicates": 1}}, "releases twice: 1"),
        ({"motor": {"exits_in_window": 3}}, "exits of the motor: 3"),
        ({"motor": {"el2_instructions_in_window": 5}}, "instructions of Mortise on its core: 5"),
        ({"motor": {"restarts": 1}}, "restarts of the motor: 1"),
        ({"path": SimpleNamespace(min=202, max=203)}, "another path"),
        ({"other": "stopped"}, "the other VM's end"),
    ],
)
def test_whatever_it_notices_fails(wrong, complaint):
    with pytest.raises(WorkError, match=complaint):
        judged(**wrong)


@pytest.mark.parametrize(
    ("done", "passages", "ends"),
    [(50_000, 50, True), (50_000, 49, False), (49_999, 500, False), (50_000, 3, False)],
)
def test_a_run_ends_with_both_amounts(done, passages, ends):
    neighbour = assurance.NEIGHBOURS[0]
    finished = []
    fuzzer = SimpleNamespace(totals=(done,), state=SimpleNamespace(ended=False))
    session = SimpleNamespace(
        statuses={"fuzzer": fuzzer},
        passages=SimpleNamespace(counts={(0, 3): Counter({201: passages})}),
        finish=lambda: finished.append(True),
    )
    assurance.Enough(neighbour, neighbour.short, lambda _: None).tick(session)
    assert bool(finished) == ends


def test_the_page_says_what_the_long_run_said():
    full = json.loads((ROOT / "bench/results/assurance-full.json").read_text())
    page = (ROOT / "docs/assurance.md").read_text()
    assert full["commit"][:7] in page
    made = {}
    for row in full["rows"]:
        made.setdefault(row["name"], []).append(row)
    paths = made.pop("interrupt_to_task")
    assert len(paths) == 7 and len({(row["min"], row["max"]) for row in paths}) == 1
    assert f"alone {paths[0]['max']}: each time" in page
    assert sum(row["median"] for row in made["random_exits"]) >= 10_000_000
    assert [row["median"] for row in made["storm_interrupts"]] == [1_500_000] * 2
    assert all(row["median"] >= 1_000 for row in made["kills"])
    told = {
        "random_exits": ("irq", "hypercall", "mmio", "sysreg", "wfi", "restarts", "releases"),
        "storm_interrupts": ("releases",),
        "kills": ("irq", "hypercall", "mmio", "sysreg", "wfi", "restarts", "releases"),
    }
    assert made.keys() == told.keys()
    for name, rows in made.items():
        assert [row["params"]["irq"] for row in rows] == ["shared", "direct"]
        for row in rows:
            counts = (row["median"], *(row["options"][cause] for cause in told[name]))
            assert all(f"{count:,}" in page for count in counts), name
