"""Which tests a command runs, and which long ones it leaves out."""

import subprocess
from pathlib import Path

import pytest

from tenonos import cli, paths
from tenonos.errors import InputError
from tools import testing
from tools.testing import Count, Selection, Suite, cargo, named, suites
from tools.testing import pytest as python_tests
from tools.testing.selection import long_tests

LONG = """\
import pytest
def test_short(): pass
@pytest.mark.long(40, "pool/a")
def test_of_a(): pass
@pytest.mark.long(30, "pool/b/c", "pool/a/deep")
def test_of_both(): pass
"""


def git(folder, *words, date="2026-01-01T00:00:00Z"):
    who = ("-c", "user.name=a", "-c", "user.email=a@b")
    environment = {"PATH": "/usr/bin:/bin", "GIT_COMMITTER_DATE": date, "GIT_AUTHOR_DATE": date}
    subprocess.run(["git", "-C", folder, *who, *words], check=True, env=environment)


@pytest.fixture
def tree(tmp_path):
    """A tree with a commit of a day ago and one of now that touches pool/a."""
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/pytest.ini").write_text("[pytest]\nmarkers =\n    long: x\n")
    (tmp_path / "tests/test_x.py").write_text(LONG)
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "old")
    (tmp_path / "pool/a").mkdir(parents=True)
    (tmp_path / "pool/a/x.rs").write_text("")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "new", date="2026-01-03T00:00:00Z")
    return tmp_path


def left_out(tree, **how):
    selection = Selection(root=tree, **how)
    return [test.name for test in selection.left_out(selection.files(tree / "tests"))]


def test_long_tests_of_what_the_commits_of_a_day_touch_are_run(tree):
    assert left_out(tree) == ["test_of_both"]
    git(tree, "commit", "--allow-empty", "-qm", "newest", date="2026-01-09T00:00:00Z")
    assert left_out(tree) == ["test_of_both", "test_of_a"]
    assert left_out(tree, since="HEAD~2") == ["test_of_both"]
    assert left_out(tree, full=True) == left_out(tree, words="short") == []


def test_what_is_not_committed_is_a_change_too(tree):
    (tree / "pool/b/c").mkdir(parents=True)
    (tree / "pool/b/c/x.rs").write_text("")
    git(tree, "commit", "--allow-empty", "-qm", "newest", date="2026-01-09T00:00:00Z")
    assert left_out(tree) == ["test_of_a"]


def test_the_cheapest_are_run_until_the_budget_is_spent(tree):
    (tree / "pool/b/c").mkdir(parents=True)
    (tree / "pool/b/c/x.rs").write_text("")
    assert left_out(tree) == ["test_of_a"], "30 + 40 seconds are more than 60"


@pytest.mark.parametrize("marks", ["{}", "[pytest.mark.alone, {}]"])
def test_a_file_is_left_out_whole(tree, monkeypatch, marks):
    monkeypatch.setattr(python_tests.paths, "LOG", tree / "log")
    monkeypatch.setattr(python_tests.paths, "RUN", tree / "run")
    marks = marks.format('pytest.mark.long(20, "pool/z")')
    mark = f"import pytest\npytestmark = {marks}\n"
    (tree / "tests/test_y.py").write_text(f"{mark}def test_a(): assert 0\ndef test_b(): assert 0\n")
    git(tree, "add", ".")
    git(tree, "commit", "-qm", "newest", date="2026-01-09T00:00:00Z")
    git(tree, "commit", "--allow-empty", "-qm", "one more", date="2026-01-19T00:00:00Z")
    assert left_out(tree) == ["", "test_of_both", "test_of_a"]
    total = python_tests.run("x", [tree / "tests"], 60, lambda _: None, 1, Selection(root=tree))
    assert (total.passed, total.failed) == (1, 0)


def test_a_named_file_may_have_the_words_in_parameters(tree):
    file = tree / "tests/test_x.py"
    assert Selection(words="two-vms", root=tree).files(tree / "tests") == []
    chosen = Selection(places=(file,), words="two-vms", root=tree)
    assert chosen.files(tree / "tests") == [file]


def test_a_commit_that_is_not_there_is_refused(tree):
    with pytest.raises(InputError, match="knows no blorp"):
        left_out(tree, since="blorp")


def test_pytest_leaves_out_what_the_selection_does(tree, monkeypatch):
    monkeypatch.setattr(python_tests.paths, "LOG", tree / "log")
    monkeypatch.setattr(python_tests.paths, "RUN", tree / "run")

    def run(**how):
        selection = Selection(root=tree, **how)
        return python_tests.run("x", [tree / "tests"], 60, lambda _: None, 1, selection).passed

    assert run() == 2
    assert run(full=True) == 3
    assert run(words="of_both or short") == 2
    file = tree / "tests/test_x.py"
    assert run(places=(file,), tests=((file, "test_of_both"),)) == 1


def test_a_folder_chooses_its_packages():
    crates = [("core-sched", paths.POOL / "core/sched"), ("core-timer", paths.POOL / "core/timer")]
    assert Selection().packages(crates) == ["core-sched", "core-timer"]
    assert Selection((paths.POOL / "core/sched/src/lib.rs",)).packages(crates) == ["core-sched"]
    assert Selection(words="no_crate_has_such_a_word").packages(crates) == []
    assert "core-sched" in cargo._manifests()


@pytest.mark.parametrize(
    ("arguments", "suites"),
    [
        ([], ["python", "host", "target"]),
        (["target"], ["target"]),
        (["all"], ["python", "host", "target"]),
        (["pool/core"], ["host"]),
        (["orchestrator/tests/test_cli.py"], ["python"]),
        (["orchestrator/tests/test_cli.py::test_x"], ["python"]),
        (["tests/bootstrap"], ["bootstrap"]),
        (["tests/fuzz"], ["host"]),
        (["-k", "word"], ["python", "host", "target"]),
    ],
)
def test_words_choose_suites(monkeypatch, arguments, suites):
    ran = []

    def instead(suite):
        def run(*_):
            ran.append(suite.name)
            return Count(1, 0)

        return Suite(suite.name, suite.purpose, run, suite.folders, suite.usual)

    monkeypatch.setattr(testing, "SUITES", tuple(map(instead, testing.SUITES)))
    monkeypatch.chdir(paths.ROOT)
    assert cli.run(["test", *arguments]) == 0
    assert ran == suites


def test_places_are_seen_from_the_folder_and_from_the_root(tmp_path):
    (tmp_path / "mine.py").write_text("")
    places, tests = named(["mine.py::test_a", "pool/core"], tmp_path)
    assert places == (tmp_path / "mine.py", paths.POOL / "core")
    assert tests == ((tmp_path / "mine.py", "test_a"),)
    with pytest.raises(InputError, match="no tests named absent/x"):
        named(["absent/x"], tmp_path)


def test_what_long_tests_cover_is_there():
    every = Selection().files(*suites.PYTHON, *suites.TARGET)
    marked = long_tests(file for file in every if file != Path(__file__))
    missing = {
        place for test in marked for place in test.covers if not (paths.ROOT / place).exists()
    }
    assert marked and not missing


def test_no_mark_of_a_long_test_is_overlooked():
    """Only decorators and `pytestmark` are read from the source, not marks of single parameters."""
    for file in Selection().files(*suites.PYTHON, *suites.TARGET):
        if file != Path(__file__):
            assert len(long_tests([file])) == file.read_text().count("mark.long("), file
