"""The page of the Lib-Graph: whole, self-contained, and true to the graph and the choice."""

import json
import re
import shutil
import subprocess

import pytest

from tenonos import cli
from tenonos.plan.graph import lib_graph

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


BROWSER = shutil.which("chromium")

KEYS = """<script>
const press = (at, key) => at.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
const told_so = [];
const steps = [
  () => { press(document.body, "/"); told_so.push(document.activeElement.id); },
  () => { search.value = "mutex"; search.dispatchEvent(new Event("input")); },
  () => press(search, "Enter"),
  () => { told_so.push(card.querySelector("h2").textContent); press(list, "ArrowDown"); },
  () => { told_so.push(card.querySelector("h2").textContent); document.title = told_so.join("|"); },
];
steps.forEach((step, number) => setTimeout(step, 50 * (number + 1)));
</script></body>"""


WIDTH = """<script>
setTimeout(() => {
  const page = document.documentElement;
  document.title = `${page.scrollWidth} of ${page.clientWidth}`;
}, 200);
</script></body>"""


def dom(file, symbol="", size="1280,800"):
    """The page as a browser has it after a while."""
    options = ("--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=2000")
    options = (*options, f"--window-size={size}")
    line = [BROWSER, *options, f"--user-data-dir={file.parent / 'profile'}", "--dump-dom"]
    address = f"file://{file}#{symbol}"
    done = subprocess.run(
        [*line, address], capture_output=True, text=True, timeout=100, check=False
    )
    return done.stdout


@pytest.mark.skipif(BROWSER is None, reason="no chromium here")
def test_a_browser_shows_the_path_from_the_words(made):
    shown = dom(made, "LIB_CORE_TIMER")
    card = shown[shown.index("<article") : shown.index("</article>")]
    assert "<h2>core/timer</h2>" in card
    assert "“control loop” →" in card
    assert ">apps/motor</button>" in card
    assert 'aria-selected="true"' in shown


@pytest.mark.skipif(BROWSER is None, reason="no chromium here")
def test_keys_search_and_go_through_the_list(made, told):
    pressed = made.with_name("pressed.html")
    pressed.write_text(made.read_text().replace("</body>", KEYS))
    focus, first, next_one = re.search("<title>([^<]*)</title>", dom(pressed))[1].split("|")
    assert focus == "search"
    assert first != next_one
    for name in (first, next_one):
        assert any("mutex" in str(each) and name in str(each) for each in told["symbols"]), name


@pytest.mark.skipif(BROWSER is None, reason="no chromium here")
def test_on_a_small_screen_nothing_is_beside_it(made):
    measured = made.with_name("measured.html")
    measured.write_text(made.read_text().replace("</body>", WIDTH))
    shown = dom(measured, "LIB_CORE_TIMER", "500,800")
    wide, screen = re.search(r"<title>(\d+) of (\d+)</title>", shown).groups()
    assert int(wide) <= int(screen) <= 500
    assert "<h2>core/timer</h2>" in shown
