"""Learned dependencies: used by the next composition, disproved by the next search."""

from contextlib import contextmanager

import pretended
import pytest

from tenonos import cli
from tenonos.errors import InputError
from tenonos.explore.oracle import Verdict
from tenonos.plan import learned
from tenonos.plan.compose import compose
from tenonos.plan.explain import Explainer
from tenonos.plan.learned import Dependency
from tenonos.plan.pool import Pool

LOOP = "a 1 kHz motor-control loop"


class Pretending:
    def verdicts(self, asked, seconds):
        yield from enumerate(pretended.judge(files, seconds) for files in asked)


@pytest.fixture
def file(tmp_path, monkeypatch):
    file = tmp_path / "dependencies.toml"
    monkeypatch.setattr(learned, "FILE", file)
    return file


@pytest.fixture
def explored(tmp_path, monkeypatch, file):
    """A search with simulated workers; the dependencies known afterwards."""

    @contextmanager
    def workers(address, jobs):
        yield Pretending()

    monkeypatch.setattr("tenonos.explore.workers.workers", workers)

    def explore(objective=LOOP):
        assert cli.run(["explore", objective, "-o", str(tmp_path / "found"), "--most", "60"]) == 0
        (tmp_path / "found/explored.jsonl").unlink()
        return {(one.symbol, one.value): one for one in learned.load()}

    return explore


def needs(file, symbol, value, when=("APP_MOTOR",)):
    file.write_text(Dependency(symbol=symbol, value=value, when=when, why="it died").text)


def test_what_an_image_dies_without_is_learned(explored, pool, capsys):
    found = explored()
    assert list(found) == [("TENON_THREAD_PROTECTION", True)]
    (one,) = found.values()
    assert one.why == "motor stopped: data-abort"
    assert {"APP_MOTOR", "LIB_TENON_THREAD"} <= set(one.when)
    assert "learned: TENON_THREAD_PROTECTION must be y here" in capsys.readouterr().err


def test_a_setting_that_mends_the_composition_is_used_next_time(explored, monkeypatch):
    def only_small(files, seconds):
        small = "CONFIG_OPTIMISE_SIZE=y" in files["motor.config"]
        return Verdict(True, True, small, None if small else "motor never began", 1, 1, 1)

    assert "OPTIMISE_SIZE=y" not in compose(LOOP, pool=Pool()).files["motor.config"]
    monkeypatch.setattr(pretended, "judge", only_small)
    found = explored()
    assert found["OPTIMISE_SIZE", True].why == "motor never began"
    assert len(found) == 1
    assert "OPTIMISE_SIZE=y" in compose(LOOP, pool=Pool()).files["motor.config"]
    other = compose("a greeter", pool=Pool())
    assert not any("OPTIMISE_SIZE=y" in text for text in other.files.values())


def test_what_is_learned_holds_against_a_demand(file):
    # No other loop does it.
    asked = f"{LOOP} without GPIO, without networking, without a disk, without time slices"
    assert compose(asked, pool=Pool()).accepted
    needs(file, "TENON_THREAD_SLICING", True)
    refused = compose(asked, pool=Pool())
    assert not refused.accepted
    assert any("time slices" in (clash.source or "") for clash in refused.conflict)


def test_it_is_explained(file, tmp_path):
    needs(file, "OPTIMISE_SIZE", True)
    pool = Pool()
    compose(LOOP, pool=pool).write(tmp_path)
    told = Explainer(tmp_path, pool).one("OPTIMISE_SIZE", "motor")
    assert told.chosen and told.because == "without it was found: it died"


def test_what_turns_out_good_either_way_is_forgotten(explored, file, monkeypatch):
    (kept,) = explored().values()
    elsewhere = kept.model_copy(update={"when": ("APP_ECHO",)})
    learned.keep([elsewhere], set())
    good = Verdict(True, True, True, None, 1, 1, 1)
    monkeypatch.setattr(pretended, "judge", lambda files, seconds: good)
    assert [*explored().values()] == [elsewhere]


def test_what_is_not_in_the_tree_is_no_matter(file):
    needs(file, "OPTIMISE_SIZE", True, ("APP_OF_ANOTHER",))
    assert "OPTIMISE_SIZE=y" not in compose(LOOP, pool=Pool()).files["motor.config"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[[needs]]\nsymbol = 1\n", "not a list of dependencies"),
        ("needs = 7\n", "not a list of dependencies"),
        ("needs = [", "not valid TOML"),
        ("\ufffe[", "not valid TOML"),
    ],
)
def test_a_file_that_is_none_is_one_line(file, text, why):
    file.write_text(text)
    with pytest.raises(InputError, match=why):
        learned.load()
    assert cli.run(["compose", LOOP]) == 2


def test_a_reason_does_not_get_out_of_its_line(file):
    why = 'x"\n[[needs]]\\u0000"'
    one = Dependency(symbol="A", value=True, when=("B",), why=why)
    learned.keep([one], set())
    assert [(each.symbol, each.when) for each in learned.load()] == [("A", ("B",))]
