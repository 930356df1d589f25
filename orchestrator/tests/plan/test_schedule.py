"""What compositions guarantee of their tasks, and which of them are refused."""

import json
from dataclasses import replace

import pytest

from tenonos import cli
from tenonos.analysis import costs
from tenonos.analysis.recorded import RecordedRows
from tenonos.errors import InputError
from tenonos.paths import ROOT
from tenonos.plan import schedule
from tenonos.plan.allocate import Infeasible, Share
from tenonos.plan.models import Guest, Item
from tenonos.plan.report import analysis_lines
from tenonos.system import board as boards

MS = 1_000_000
GUESTS = [Guest(name="a", kind="tenon"), Guest(name="b", kind="tenon")]
APART = {"a": Share((0,), 2 << 20), "b": Share((1,), 2 << 20)}
TOGETHER = {"a": Share((0,), 2 << 20), "b": Share((0,), 2 << 20)}


@pytest.fixture(scope="module")
def board():
    return boards.load("qemu-virt")


def items(**tasks):
    """Demands by VM: `a={"period": 1, "wcet": 2}`."""
    return [
        Item(kind=kind, value=value, unit="ns", image=image, rule="of the test")
        for image, demands in tasks.items()
        for kind, value in demands.items()
    ]


def kernel(of):
    return of.masked + of.wake + of.leave


def analysed(board, demands, shares=APART, capabilities=None):
    return schedule.analyse(GUESTS, demands, shares, board, capabilities or {})


def test_costs_are_those_of_the_page_and_of_the_kept_run():
    page = (ROOT / costs.PAGE).read_text()
    masked = next(line for line in page.splitlines() if line.startswith("| longest section"))
    stated = int(masked.split("|")[2].replace(",", ""))
    assert stated < costs.alone().masked <= stated * 10 / 9
    rows = json.loads((ROOT / costs.RUN).read_text())["rows"]
    assert costs.shared().wake == max(r["max"] for r in rows if r["name"] == "dispatch_delay")
    with pytest.raises(InputError, match='no figure "blorp x max"'):
        costs._row(RecordedRows.load(), "blorp x max")


def test_the_kernel_counts(board):
    own = kernel(costs.alone())
    schedule.check(GUESTS, items(a={"period": MS, "wcet": MS - own}), APART, board)
    with pytest.raises(Infeasible, match="a may take 1000001ns or more"):
        schedule.check(GUESTS, items(a={"period": MS, "wcet": MS - own + 1}), APART, board)


def test_a_slower_board_makes_the_kernel_dearer(board):
    slow = replace(board, instructions_per_second=board.instructions_per_second // 3)
    fits = items(a={"period": MS, "wcet": MS - kernel(costs.alone())})
    schedule.check(GUESTS, fits, APART, board)
    with pytest.raises(Infeasible):
        schedule.check(GUESTS, fits, APART, slow)


def test_a_deadline_before_the_period_binds(board):
    demands = items(a={"period": MS, "deadline": MS // 2, "wcet": MS // 2})
    with pytest.raises(Infeasible, match="its deadline is 500us"):
        schedule.check(GUESTS, demands, APART, board)


def test_a_bound_on_jitter_binds(board):
    own = costs.alone()
    least = own.masked + own.wake
    demands = {"period": MS, "wcet": 1000}
    schedule.check(GUESTS, items(a={**demands, "jitter": least}), APART, board)
    with pytest.raises(Infeasible, match=f"may start {least}ns after a release"):
        schedule.check(GUESTS, items(a={**demands, "jitter": least - 1}), APART, board)


def test_a_vm_on_a_shared_core_uses_a_part_of_it(board):
    demands = items(a={"period": MS, "wcet": 600_000}, b={"period": MS, "wcet": 600_000})
    schedule.check(GUESTS, demands, APART, board)
    with pytest.raises(Infeasible, match="beside b"):
        schedule.check(GUESTS, demands, TOGETHER, board)


def test_nothing_is_guaranteed_without_a_budget(board):
    first, second = analysed(board, items(a={"period": MS}, b={"period": MS, "wcet": 9})).tasks
    assert (first.guaranteed, first.because) == (False, "no budget stated")
    assert (first.response, second.guaranteed) == (None, True)


def test_no_guarantee_beside_a_task_without_a_budget(board):
    demands = items(a={"period": MS}, b={"period": MS, "wcet": 9})
    assert [v.guaranteed for v in analysed(board, demands, TOGETHER).tasks] == [False, False]
    assert "a has the same core" in analysed(board, demands, TOGETHER).tasks[1].because


def test_nor_where_the_costs_are_not_those_kept(board):
    demands = items(a={"period": MS, "wcet": 9})
    shares = {**APART, "a": Share((0, 2), 2 << 20)}
    assert not analysed(board, demands, shares).tasks[0].guaranteed
    (verdict,) = analysed(board, demands, capabilities={"a": ["fp.context"]}).tasks
    assert verdict.because == "the kernel's costs are kept without fp.context"


def test_a_guarantee_lists_its_assumptions_and_resources(board):
    analysis = analysed(board, items(a={"period": MS, "wcet": 300_000}))
    text = "\n".join(analysis_lines(analysis))
    assert f"completes within {duration(300_000 + kernel(costs.alone()))} of each release" in text
    assert "1,000,000,000 instructions per second or more" in text
    assert "4M of 926M of memory; 2 of 4 cores" in text
    assert "% of the time of core 0" in text


def duration(nanoseconds):
    return f"{nanoseconds}ns"


@pytest.mark.parametrize(
    ("objective", "conflict"),
    [
        ("a 1 kHz control loop with a WCET of 999500 ns", ["1 kHz", "999500 ns"]),
        # The period is the application's own.
        ("a control loop with a WCET of 2 ms beside Linux", ["2 ms"]),
        (
            "two 1 kHz control loops on one shared core, each with a WCET of 600 us",
            ["1 kHz", "on one shared core", "600 us"],
        ),
    ],
)
def test_infeasible_tasks_are_refused_in_the_words_of_the_objective(composed, objective, conflict):
    answer = composed(objective)
    assert not answer.images and not answer.missing
    assert [clash.source for clash in answer.conflict] == conflict


def test_the_page_shows_the_verdicts(composed):
    answer = composed("a 1 kHz control loop with a WCET of 300 us beside Linux")
    page = (ROOT / "docs" / "guarantees.md").read_text()
    assert page.split("```\n")[1].splitlines() == analysis_lines(answer.analysis)


def test_a_refusal_has_status_2_and_one_line(capsys):
    assert cli.run(["compose", "a 1 kHz control loop with a WCET of 999500 ns"]) == 2
    line = capsys.readouterr().err.strip()
    assert "cannot be met together: motor may take" in line and "\n" not in line


def test_compose_and_explain_show_the_guarantee(tmp_path, capsys):
    folder = str(tmp_path / "made")
    objective = "a 1 kHz control loop with a WCET of 300 us beside Linux"
    assert cli.run(["compose", objective, "-o", folder]) == 0
    said = [line for line in capsys.readouterr().out.splitlines() if "guaranteed" in line]
    assert len(said) == 1 and said[0].startswith("motor: guaranteed: begins within")
    assert cli.run(["explain", folder]) == 0
    assert said[0] in capsys.readouterr().out
