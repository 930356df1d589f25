"""The page of results: whole, self-contained, true to the rows; the paper's tables beside ours."""

import re
import xml.etree.ElementTree as xml
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tenonos import cli
from tenonos.errors import InputError
from tenonos.report import plot
from tools import bench
from tools.bench import charts
from tools.bench.figures import figures
from tools.bench.page import page, picture
from tools.bench.paper import papers
from tools.bench.row import Row

NUMBERS = st.integers(1, 10**9)


def row(suite, name, value, environment="bare", **params):
    return Row.of((suite, name), params, [value], environment=environment)


ROWS = [
    *(row("sched", "yield", 39, threads=n, fp=False) for n in (2, 10, 20, 50, 100, 1000)),
    *(row("sched", "yield", 39, "mortise-static", threads=n, fp=False) for n in (2, 10)),
    row("sched", "sem_preempt", 83),
    row("irq", "entry", 21, fp=False),
    row("irq", "exit", 18, fp=False),
    *(row("timer", "start", 45, pending=n, mode="tickless") for n in (1, 10_000)),
    *(row("timer", "periodic_load", 90 * n, timers=n, mode="tickless") for n in (1, 500)),
    row("boot", "tenon_reset_to_main", 9_000),
]


def drawings(text):
    return [xml.fromstring(part) for part in re.findall(r"<svg.*?</svg>", text, re.DOTALL)]


def height(bar):
    """The height of a rectangle, which is a path."""
    (path,) = bar.iter("{http://www.w3.org/2000/svg}path")
    places = [float(y) for y in re.findall(r"[ML] \S+ (\S+)", path.get("d"))]
    return max(places) - min(places)


def words(text):
    return re.sub(r"<[^>]+>", " ", text)


def test_the_page_needs_nothing_else():
    text = page(ROWS)
    links = re.findall(r"(?:https?:|src=|url\(|@import)[^\s\"]*", text)
    assert {*links} <= {"http://www.w3.org/2000/svg"}
    assert "<script" not in text and "prefers-color-scheme: dark" in text


def test_the_page_says_what_was_measured():
    text = page(ROWS)
    assert len(drawings(text)) == 3 + 4 + 5, "goals, growth, the paper"
    for shown in ("39", "≤ 40", "84", "Zephyr", "2 of 2", "Table 4", "1,387", "Figure 9"):
        assert shown in words(text), shown
    missed = text[text.index("Boot and size") :]
    assert 'class="over"' in missed, "beyond its goal"
    assert "6 of 7" in words(text), "of the goals there are rows for"


@pytest.mark.parametrize("index", range(len(ROWS)))
def test_any_row_alone_makes_a_page(index):
    drawings(page([ROWS[index]]))


def test_the_picture_stands_alone():
    drawing = xml.fromstring(picture(ROWS))
    style = drawing.find("{http://www.w3.org/2000/svg}style").text
    used = {*re.findall(r"var\((--\w+)\)", picture(ROWS))}
    assert used and used <= {*re.findall(r"(--\w+):", style)}
    texts = [text.text for text in drawing.iter("{http://www.w3.org/2000/svg}text")]
    assert "Yield, 2 to 1,000 threads" in texts and "39" in texts
    with pytest.raises(InputError, match="nothing was measured"):
        picture([])


SHARED = [
    Row.of(
        ("share", "dispatch_delay"),
        {"load": load},
        [400, 420],
        environment="mortise-dynamic",
        histogram={400: 99_998, 420: 1, worst: 1},
    )
    for load, worst in (("idle", 430), ("block", 640))
]


def test_the_delays_of_a_shared_core_are_drawn():
    text = page(SHARED)
    assert "One core, two kernels" in text and "SPUMONE" in text
    drawn = [svg for svg in drawings(text) if "samples" in "".join(svg.itertext())]
    assert len(drawn) == 2
    for svg in drawn:
        bars = [element for element in svg.iter() if element.get("class") == "ours"]
        heights = sorted(map(height, bars))
        assert heights[0] > 0, "a single sample is seen"
        assert len(heights) >= 2 and heights[-1] < plot.HEIGHT
    alone = xml.fromstring(picture(SHARED))
    assert [*alone.itertext()].count("samples") == 2


def test_names_are_text_not_markup():
    text = page([row("sched", "yield", 1, threads=2, fp=False, odd="<b>&")])
    assert "<b>&" not in text and "&lt;b&gt;&amp;" in text


@settings(deadline=None)  # a plot takes a tenth of a second
@given(st.lists(st.tuples(NUMBERS, NUMBERS), min_size=2, max_size=9, unique_by=lambda p: p[0]))
def test_points_lie_within_the_plot(points):
    points.sort()
    values = [y for _, y in points]
    x = plot.Axis("x", [a for a, _ in points], log=True)
    for y in (plot.linear("y", max(values)), plot.decades("y", values)):
        lines = [plot.Line(f"line {n}", "ours", points) for n in range(4)]
        (drawing,) = drawings(plot.chart("t", x, y, lines))
        circles = [*drawing.iter("{http://www.w3.org/2000/svg}circle")]
        assert len(circles) == len(lines) * len(points)
        for circle in circles:
            assert plot.LEFT - 0.1 <= float(circle.get("cx")) <= plot.WIDTH - plot.RIGHT + 0.1
            assert plot.TOP - 0.1 <= float(circle.get("cy")) <= plot.HEIGHT - plot.BOTTOM + 0.1
        names = [
            float(text.get("y"))
            for text in drawing.iter("{http://www.w3.org/2000/svg}text")
            if text.get("class") == "name"
        ]
        assert all(b - a >= plot.APART - 0.2 for a, b in pairwise(names))
        assert max(names) <= plot.HEIGHT - plot.BOTTOM + 4.2


def test_the_papers_tables_stand_beside_ours():
    tenonos = next(paper for paper in papers() if paper.name == "TenonOS")
    named = {table.name: table for table in tenonos.tables}
    four = named["Table 4"]
    with_fp, without = (four.measured(ours, ROWS) for ours in four.ours)
    assert with_fp == [None] * 5 and without == [39] * 5
    (beside,) = figures().to_json(ROWS[1])["paper"]
    assert beside == {
        "paper": "TenonOS",
        "table": "Table 4",
        "row": "Tenon (ectx disabled)",
        "value": 242,
        "unit": "cycles",
    }
    assert figures().to_json(ROWS[5])["paper"] == [], "the paper has no 1,000 threads"
    eight = named["Figure 8"]
    assert eight.measured(eight.ours[0], ROWS) == [39], "there and back"
    timer = [row for row in ROWS if row.name == "start"]
    assert [table.name for table in tenonos.shown(timer)] == []


def test_a_row_stands_beside_the_paper_s_of_its_environment_alone():
    tenonos = next(paper for paper in papers() if paper.name == "TenonOS")
    six = next(table for table in tenonos.tables if table.name == "Table 6")
    alone, in_a_vm, beside_linux = (six.measured(ours, ROWS) for ours in six.ours)
    assert alone == [39, 39, None, 83, None]
    assert in_a_vm == [39, None, None, None, None]
    assert beside_linux == [None] * 5
    figure = {row.label: value for row, value in six.beside(ROWS[6])}
    assert figure == {"Mortise + Tenon (2 cores)": 164}


def test_a_cell_without_a_figure_stays_empty():
    tenonos = next(paper for paper in papers() if paper.name == "TenonOS")
    one = next(table for table in tenonos.tables if table.name == "Table 1")
    sizes = [
        row("size", "component", 872, "mortise-static", component="arch", part="lines"),
        row("size", "component", 6_864, "mortise-static", component="arch", part="text"),
    ]
    assert one.measured(one.ours[0], sizes) == [872, 6_864, None, None, None]
    assert "872" in words(page(sizes))


def test_every_table_of_the_paper_is_whole():
    for table in (table for paper in papers() for table in paper.tables):
        assert all(len(row.values) == len(table.columns) for row in table.theirs)
        assert len(table.statistics) == len(table.columns)
        labels = {row.label for row in table.theirs}
        assert {ours.against for ours in table.ours} - {None} <= labels


@pytest.mark.parametrize(
    "table",
    [table for paper in papers() for table in paper.tables if table.theirs],
    ids=lambda table: table.title,
)
def test_every_table_with_figures_is_drawn(table):
    drawn = charts.theirs(table)
    assert drawn is not None
    (drawing,) = drawings(drawn)
    texts = " ".join(drawing.itertext())
    assert all(row.label in texts for row in table.theirs)


@pytest.mark.parametrize("option", ["--json", "--html", "--svg"])
def test_a_file_that_cannot_be_written_is_one_line(option, monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(bench, "run", lambda *_: ROWS)
    assert cli.run(["bench", "-q", option, "/nonexistent/rows"]) == 2
    assert "no folder /nonexistent" in capsys.readouterr().err
    assert cli.run(["bench", "-q", option, str(tmp_path)]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert cli.run(["bench", "-q", option, str(tmp_path / "out")]) == 0
    assert (tmp_path / "out").read_text()
