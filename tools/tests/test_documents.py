"""The figures in the documents are those of the rows that the tree keeps."""

import pytest

from tenonos.analysis import recorded
from tenonos.analysis.recorded import RecordedRows
from tenonos.errors import InputError
from tools.bench import documents


def row(suite, name, median, environment="bare", **params):
    statistics = {"min": median, "median": median, "p99": median, "max": median + 1}
    more = {"system": "x", "unit": "instructions", "samples": 9, "sysreg_writes": 2, "barriers": 0}
    named = {"suite": suite, "name": name, "params": params, "environment": environment}
    return {**named, **statistics, **more}


ROWS = RecordedRows(
    {},
    [
        row("sched", "yield", 54, fp=True),
        row("sched", "yield", 1039, fp=False) | {"best": 84},
        row("size", "hello", 100, part="text"),
        row("size", "hello", 23, part="rodata"),
    ],
)


def test_documents_say_what_the_rows_say():
    for file, text in documents.written(RecordedRows.load()).items():
        assert file.read_text() == text, f"{file}: ./tenon bench --documents writes it"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("sched yield median", "1,039"),
        ("sched yield fp=true max", "55"),
        ("sched yield best", "84"),
        ("size hello part=rodata sysreg_writes", "2"),
        ("size hello parts=text+rodata median", "123"),
        ("size hello part=text median / size hello part=rodata median", "100 / 23"),
        ("size hello part=text best", ""),
    ],
)
def test_a_cell_names_its_row(words, said):
    assert ROWS.value(words) == said


@pytest.mark.parametrize(
    "words", ["sched halt median", "sched yield fp=3 median", "sched yield mode"]
)
def test_a_cell_of_no_row_is_an_error(words):
    with pytest.raises(InputError, match="no figure"):
        ROWS.value(words)


def test_a_document_without_the_place_is_an_error(tmp_path):
    source = tmp_path / "documents.toml"
    table = (
        'file = "page.md"\nname = "a"\nhead = ["x", "y"]\nrows = [["z", "= sched yield median"]]\n'
    )
    source.write_text(f"[[table]]\n{table}")
    page = tmp_path / "page.md"
    page.write_text("<!-- figures: b -->\n<!-- end of figures -->\n")
    with pytest.raises(InputError, match="0 places for the figures a"):
        documents.written(ROWS, tmp_path, source)
    page.write_text("One.\n<!-- figures: a -->\nold\n<!-- end of figures -->\nTwo.\n")
    (text,) = documents.written(ROWS, tmp_path, source).values()
    written = "| x | y |\n|---|---:|\n| z | 1,039 |\n"
    end = "<!-- end of figures -->\n"
    assert text == f"One.\n<!-- figures: a -->\n{written}{end}Two.\n"


def test_suites_that_were_measured_replace_their_rows(tmp_path, monkeypatch):
    monkeypatch.setattr(recorded, "tools", lambda: {"qemu": "7.2"})
    new = row("sched", "yield", 40, fp=False) | {"peers": [{"value": 90}, {"value": 80}], "more": 1}
    found = ROWS.with_measured([new])
    file = tmp_path / "results/rows.json"
    found.write(file)
    again = RecordedRows.load(file)
    assert again == found and again.made == {"qemu": "7.2"}
    assert [(it["suite"], it["median"]) for it in again.rows] == [
        ("sched", 40),
        ("size", 100),
        ("size", 23),
    ]
    assert again.rows[0]["best"] == 80 and "more" not in again.rows[0]


def test_differences_are_named_with_no_tolerance():
    (same, *_) = ROWS.rows
    other = row("sched", "yield", 55, fp=True)
    new = row("sched", "halt", 1)
    assert ROWS.differences([same]) == []
    changed, missing = ROWS.differences([other, new])
    assert changed.startswith("sched yield") and "median 54 → 55" in changed
    assert missing == "sched halt {} bare x: not recorded"
