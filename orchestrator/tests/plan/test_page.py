"""The page of the Lib-Graph: whole, self-contained, and true to the graph and the choice."""

import json
import os
import re

import pytest
from browser import browser

from tenonos import cli
from tenonos.plan.retrieval.graph import lib_graph
from tenonos.setup.browser import find

OBJECTIVE = "a 1 kHz control loop beside Linux"


@pytest.fixture(scope="module")
def made(composed, tmp_path_factory):
    """The page of a composed folder, as text."""
    folder = tmp_path_factory.mktemp("servo")
    composed(OBJECTIVE).write(folder)
    file = folder / "graph.html"
    assert cli.run(["graph", str(folder), "--html", str(file)]) == 0
    return file


@pytest.fixture(scope="module")
def told(made):
    return inside(made.read_text())


def inside(text):
    return json.loads(re.search(r'<script id="data"[^>]*>(.*?)</script>', text, re.DOTALL)[1])


def test_the_page_needs_nothing_else(made):
    text = made.read_text()
    assert not re.search(r'(?:src|href)="|@import|url\(', text)
    assert re.findall(r"https?://[^\"]*", text) == ["http://www.w3.org/2000/svg"]


def test_every_relation_between_symbols_is_there(pool, told):
    graph = lib_graph(pool.tree.kconf)
    names = [symbol["symbol"] for symbol in told["symbols"]]
    edges = {(names[a], relation, names[b]) for a, relation, b in told["edges"]}
    assert edges == {
        (a, edge["relation"], b)
        for a, b, edge in graph.edges(data=True)
        if edge["relation"] != "describes"
    }


def test_what_was_chosen_has_its_words_its_path_and_its_cost(told):
    by_symbol = {symbol["symbol"]: symbol for symbol in told["symbols"]}
    timer = by_symbol["LIB_CORE_TIMER"]
    assert timer["in"] == ["mortise", "motor"]
    assert timer["name"] == "core/timer" and timer["cost"] > 0 and timer["help"]
    assert not by_symbol["APP_BENCH"]["in"]
    number = told["symbols"].index(timer)
    (why,) = (w for w in told["because"] if (w["symbol"], w["image"]) == (number, "motor"))
    assert why["words"] == "control loop"
    ends = [told["symbols"][at]["symbol"] for _, at in why["path"]]
    assert (ends[0], ends[-1]) == ("APP_MOTOR", "LIB_CORE_TIMER")
    edges = {(a, relation, b) for a, relation, b in told["edges"]}
    steps = zip(why["path"], why["path"][1:], strict=False)
    assert all((a, relation, b) in edges for (_, a), (relation, b) in steps)


def test_all_phrases_are_marked_with_what_they_became(told):
    phrases = {text: meanings for text, start, meanings in told["objective"] if start is not None}
    assert phrases.keys() == {"1 kHz", "control loop", "Linux"}
    assert phrases["1 kHz"] == ["period 1ms"]
    assert "".join(text for text, *_ in told["objective"]) == OBJECTIVE


def test_a_text_does_not_get_out_of_its_place(tmp_path):
    (tmp_path / "Kconfig").write_text(
        'config ODD\n\tbool "</script><script>alert(1)</script>"\n\thelp\n\t<b>&amp;\n'
    )
    file = tmp_path / "graph.html"
    assert cli.run(["graph", "--kconfig", str(tmp_path), "--html", str(file)]) == 0
    text = file.read_text()
    assert text.count("</script>") == 2
    (odd,) = inside(text)["symbols"]
    assert odd["prompt"] == "</script><script>alert(1)</script>" and odd["help"] == "<b>&amp;"


def test_a_system_chooses_from_the_pool(tmp_path, capsys):
    assert cli.run(["graph", "motor-linux", "--kconfig", str(tmp_path)]) == 2
    assert "--kconfig: a system chooses from the pool" in capsys.readouterr().err


HEADING = "card.querySelector('h2').textContent"
NEXT = f"document.activeElement.tagName === 'H2' && {HEADING}"


@pytest.fixture(scope="module")
def shown(made):
    """The page in a browser, which only a machine without one may do without."""
    program = find()
    if program is None and not os.environ.get("CI"):
        pytest.skip("no chromium here")
    assert program is not None, "there is no chromium to try the page in: install Debian's"
    with browser(program, made.parent / "profile") as found:
        yield found


@pytest.fixture
def opened(shown, made):
    """The page afresh."""
    shown.open(made)
    return shown


def test_keys_lead_from_the_words_to_a_library_and_back(opened):
    opened.go_to("control loop")
    opened.press("Enter")
    opened.until(f"{NEXT} === '“control loop”'")
    opened.go_to("core/timer")
    opened.press("Enter")
    opened.until(f"{NEXT} === 'core/timer'")
    paths = opened.value("[...card.querySelectorAll('.path')].map(path => path.textContent)")
    (path,) = (path for path in paths if path.startswith("“control loop”"))
    assert path.startswith("“control loop”→apps/motor") and path.endswith("core/timer")
    assert opened.value("list.querySelector('[aria-selected=true]').textContent").startswith(
        "core/timer "
    )
    opened.go_to("“control loop”")
    opened.press("Enter")
    opened.until(f"{NEXT} === '“control loop”'")


def test_keys_follow_the_path_step_by_step(opened):
    opened.go_to("control loop")
    opened.press("Enter")
    opened.until(f"{NEXT} === '“control loop”'")
    opened.press("Tab")
    assert opened.focus == "apps/motor", "what the words ask for is first"
    opened.press("Enter")
    opened.until(f"{NEXT} === 'apps/motor'")
    opened.go_to("tenon/api")
    opened.press("Enter")
    opened.until(f"{NEXT} === 'tenon/api'")
    opened.value("history.go(-2)")
    opened.until(f"{HEADING} === '“control loop”'")


def test_keys_search_select_and_go_through_the_list(opened, told):
    opened.press("/")
    assert opened.focus == "search"
    opened.type("mutex")
    assert opened.value("search.value") == "mutex"
    opened.press("Enter")
    first = opened.value("list.children[0].firstChild.textContent").strip()
    opened.until(f"{HEADING} === '{first}'")
    assert opened.focus == "list"
    opened.press("ArrowDown")
    second = opened.value("list.children[1].firstChild.textContent").strip()
    opened.until(f"{HEADING} === '{second}'")
    opened.press("ArrowUp")
    opened.until(f"{HEADING} === '{first}'")
    for name in (first, second):
        assert any("mutex" in str(each) and name in str(each) for each in told["symbols"]), name


def test_on_a_small_screen_nothing_is_beside_it(shown, made):
    shown.open(made, 360, 640)
    shown.go_to("control loop")
    shown.press("Enter")
    shown.until(f"{NEXT} === '“control loop”'")
    assert shown.value("document.documentElement.scrollWidth") <= 360
    list_end, card_start = shown.value(
        "[list.getBoundingClientRect().bottom, card.getBoundingClientRect().top]"
    )
    assert list_end <= card_start < 640
    shown.go_to("core/timer")
    assert shown.value("document.activeElement.getBoundingClientRect().bottom") <= 640


def test_a_page_without_a_system_has_no_objective(shown, tmp_path):
    file = tmp_path / "graph.html"
    assert cli.run(["graph", "--html", str(file)]) == 0
    shown.open(file)
    assert shown.value("asked.hidden && image.hidden")
    assert shown.value(HEADING)
