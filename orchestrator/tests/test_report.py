"""The page of a system: whole, self-contained, true to what was found."""

import json
import re
import xml.etree.ElementTree as xml
from dataclasses import replace

import pytest

from tenonos import cli, markup, system
from tenonos.explore.oracle import Verdict
from tenonos.plan.compose import compose
from tenonos.plan.explain import Explainer
from tenonos.plan.models import Item
from tenonos.plan.pool import Pool
from tenonos.plan.report import made_lines
from tenonos.report import cores
from tenonos.report.gather import Composed, Found
from tenonos.report.page import marked, page
from tenonos.run.result import Exits, Latency, PeriodicResult, Result, VmResult

OBJECTIVE = "a 1 kHz control loop & nothing else"
SIZES = {
    "images": [
        {"name": "mortise", "text": 900, "rodata": 90, "data": 9, "bss": 70_000, "total": 70_999},
        {"name": "motor", "text": 300, "rodata": 30, "data": 3, "bss": 0, "total": 333},
    ],
    "libraries": [{"name": "core/timer", "sloc": 10, "text": 100, "in": ["mortise", "motor"]}],
    "third_party": [{"name": "spin", "text": 50, "in": ["mortise"]}],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("composed") / "servo"
    compose(OBJECTIVE, name="servo").write(folder)
    return folder


@pytest.fixture
def found(folder):
    vm = VmResult(
        name="control-loop", kind="tenon", cpus=[0], state="running", exit_reason=None, boot_ns=5,
        exits=Exits(mmio=1234), exits_in_window=7,
    )  # fmt: skip
    task = PeriodicResult(
        vm="control-loop", task="control", period_ns=1_000_000, released=1000, completed=998,
        late=1, duplicates=0, deadline_ns=1_000_000, first_ns=0, last_ns=999_000_000,
        latency_ns=Latency(min=128, p50=128, p99=144, p999=144, max=4096),
    )  # fmt: skip
    explainer = Explainer(folder, Pool())
    record = json.loads((folder / "explain.json").read_text())
    return Found(
        system=system.load(folder),
        sizes=SIZES,
        result=Result(
            board="qemu-virt", mode="static", timing="deterministic", vms=[vm], periodic=[task],
            channels=[],
        ),
        seconds=1.0,
        latencies={("control-loop", "control"): {128: 900, 144: 97, 4096: 1}},
        composed=Composed.of(record, explainer),
        explored={
            "as composed": Verdict(True, True, True, None, 1000, 128, 90),
            "motor: OPTIMISE_SIZE": Verdict(True, True, True, None, 700, 200, 95),
            "mortise: MORTISE_TRACE": Verdict(True, True, True, None, 2000, 128, 99),
            "motor: no TENON_THREAD_PROTECTION": Verdict(True, why="it died", size=1),
        },
    )  # fmt: skip


def words(text):
    return " ".join(re.sub(r"<[^>]+>", " ", text).split())


def test_the_page_needs_nothing_else(found):
    text = page(found)
    assert not re.search(r'(?:src|href)="|@import|url\(|<script', text)
    for drawing in re.findall(r"<svg.*?</svg>", text, re.DOTALL):
        xml.fromstring(drawing)


def test_the_page_quotes_the_words_for_a_channel_and_a_vm(found):
    assert "Who talks" not in page(found)
    made = compose("a controller created from Linux that takes setpoints")
    lines = made_lines(made.channels, made.templates, made.devices)
    said = words(page(replace(found, composed=replace(found.composed, made=lines))))
    assert "channel setpoints: linux writes, governor reads" in said
    assert "from “takes setpoints”" in said
    assert "governor is created by linux" in said


def test_the_page_shows_what_was_explored(found):
    text = words(page(found))
    for told in (
        "4,096 instructions from a release to its body",
        "3 of 1,000 releases lost or late",
        "7 exits of real-time VMs",
        "71,332 bytes of all images",
        "not guaranteed: no budget stated",
        "core/timer",
        "3 of 4 alternatives are good",
    ):
        assert told in text, told
    front = text[text.index("what is otherwise") :]
    assert "as composed" in front and "OPTIMISE_SIZE" in front and "MORTISE_TRACE" not in front


def test_a_failed_run_is_reported_first(found):
    found.result.problem = "motor stopped: <b>data-abort</b>"
    assert "motor stopped: &lt;b&gt;data-abort" in page(found)


def test_words_that_became_demands_are_marked_once():
    said = {"from": "1 kHz", "span": (2, 7)}
    plan = [
        Item(kind="period", value=1_000_000, unit="ns", **said),
        Item(kind="capability", value="control.loop", **said),
        Item(kind="board", value="qemu-virt", rule="default-board"),
    ]
    assert marked("a 1 kHz <loop>", plan) == (
        'a <mark title="period 1ms, capability control.loop">1 kHz</mark> &lt;loop&gt;'
    )


def test_a_page_without_a_place_is_refused_before_the_work(tmp_path, capsys):
    assert cli.run(["report", "hello", "--html", str(tmp_path / "no" / "page.html")]) == 2
    assert "there is no folder" in capsys.readouterr().err


def test_the_cores_are_drawn_with_what_runs_on_each():
    drawn = cores.rows(system.load("one-core"))
    assert [(row.name, row.kind) for row in drawn] == [
        ("motor", "tenon"), ("linux", "linux"), ("Mortise", "mortise"),
    ]  # fmt: skip
    motor, linux, mortise = drawn
    assert motor.cells[0].startswith("vCPU 0, priority ")
    assert not any(motor.cells[1:]) and not any(linux.cells[1:])
    assert mortise.cells == ("EL2",) * 4


def test_a_native_task_and_a_core_to_lend_are_drawn():
    native = next(row for row in cores.rows(system.load("native")) if row.kind == "native")
    assert [words for words in native.cells if words] == ["task"]
    (linux,) = (row for row in cores.rows(system.load("detach")) if row.kind == "linux")
    assert "vCPU 3, may be lent to a program" in linux.cells


def test_one_value_is_a_figure_and_two_are_a_plot(found):
    one = replace(found, latencies={("control-loop", "control"): {128: 998}})
    text = page(one)
    assert "128 instructions, in each of 998 releases" in words(text)
    assert "Latency of control" not in text
    assert "Latency of control" in page(found)


def test_columns_of_text_are_told_from_those_of_figures():
    assert markup.text_columns([["motor", "1,000", "≤ 40", ""], ["x", "2", "+3.5 %", "5"]]) == [0]
    assert markup.text_columns([["1", "33 Zephyr"]]) == [1]
    assert markup.text_columns([]) == []
