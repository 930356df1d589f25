import sys
import time

import pytest

from tenonos import cli
from tools import testing
from tools.testing import Count, Suite, cargo, lanes
from tools.testing import pytest as python_tests
from tools.testing.process import Process, Silent

LONG = "pytest.mark.long"

LIBTEST = """\
     Running unittests src/lib.rs (.tenon/target/debug/deps/core_timer-1)

running 3 tests
test a ... ok
test b ... FAILED
test c ... ignored
printed by a test test d ... ok

test result: FAILED. 2 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s

   Doc-tests core_ring
test pool/core/ring/src/lib.rs - (line 12) ... ok
test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s
"""


def test_libtest_results_are_added_up():
    shown = []
    total = cargo.count(LIBTEST.splitlines(), shown.append)
    assert total == Count(3, 1, 1, ["core_timer: b"])
    assert shown == ["core_timer", "core_ring (docs)"]


def test_the_closing_line():
    assert Count(3, 0).line == "3 passed, 0 failed"
    assert (Count(3, 0) + Count(0, 1, 2, ["x"])).line == "3 passed, 1 failed, 2 skipped"


@pytest.fixture
def scratch(monkeypatch, tmp_path):
    monkeypatch.setattr(python_tests.paths, "LOG", tmp_path / "log")
    monkeypatch.setattr(python_tests.paths, "RUN", tmp_path / "run")
    folder = tmp_path / "tests"
    folder.mkdir()
    return folder


def test_a_mark_that_states_too_little_is_reported(scratch, tmp_path):
    file = scratch / "test_y.py"
    file.write_text(
        f"@{LONG}(10, 'a')\ndef test_one(): pass\n@{LONG}(100, 'b')\ndef test_two(): pass\n"
    )
    cases = (("test_one[a]", 15), ("test_one[b]", 30), ("test_two", 90), ("test_three", 400))
    text = "".join(
        f'<testcase classname="y.test_y" name="{name}"><properties>'
        f'<property name="processor_seconds" value="{seconds}"/></properties></testcase>'
        for name, seconds in cases
    )
    report = tmp_path / "report.xml"
    report.write_text(f"<testsuites><testsuite>{text}</testsuite></testsuites>")
    (told,) = python_tests.understated(report, [file])
    assert told.endswith("test_one: 45 s of processor time, and marked 10")


def test_a_test_is_awaited_for_as_long_as_it_may_take(scratch):
    quick, long = scratch / "test_quick.py", scratch / "test_long.py"
    quick.write_text("def test_it(): pass\n")
    long.write_text("@pytest.mark.timeout(4000)\ndef test_it(): pass\n")
    assert python_tests.patience(900, [quick], []) == 900
    assert python_tests.patience(900, [quick, long], []) > 4000
    assert python_tests.patience(900, [quick], ["--full"]) == python_tests.WHOLE


def test_python_results_are_added_up(scratch):
    (scratch / "test_x.py").write_text(
        "import pytest\n"
        "def test_good(): pass\n"
        "def test_bad(): assert 0\n"
        "def test_broken(absent): pass\n"
        "@pytest.mark.skip\ndef test_not(): pass\n"
    )
    total = python_tests.run("x", [scratch], 60, lambda _: None, 1)
    assert (total.passed, total.failed, total.skipped) == (1, 2, 1)
    assert any("test_bad: assert 0" in told for told in total.failures)


def test_python_tests_that_cannot_be_read_are_a_failure(scratch):
    (scratch / "test_x.py").write_text("def (\n")
    assert python_tests.run("x", [scratch], 60, lambda _: None, 1).failed == 1


def test_a_pytest_that_ran_nothing_is_a_failure(scratch):
    (scratch / "pytest.ini").write_text("[pytest]\naddopts = --strict-markers -m blorp\n")
    (scratch / "test_x.py").write_text("import pytest\n@pytest.mark.blorp\ndef test_x(): pass\n")
    total = python_tests.run("x", [scratch], 60, lambda _: None, 1)
    assert total.failed == 1 and not total.passed


def test_files_of_a_folder_share_a_lane(scratch):
    for folder in ("one", "other"):
        (scratch / folder).mkdir()
        for name in ("a", "b"):
            (scratch / folder / f"test_{folder}_{name}.py").write_text(
                "import os, pathlib\n"
                "def test_it():\n"
                "    note = pathlib.Path(__file__).parent / 'process'\n"
                "    assert not note.exists() or note.read_text() == str(os.getpid())\n"
                "    note.write_text(str(os.getpid()))\n"
            )
    total = python_tests.run("x", [scratch], 60, lambda _: None, 2, by_folder=True)
    assert (total.passed, total.failed) == (4, 0)
    assert len({(scratch / name / "process").read_text() for name in ("one", "other")}) == 2


def test_a_folder_without_tests_is_none(scratch):
    assert python_tests.run("x", [scratch], 60, lambda _: None, 1) == Count()


def test_a_silent_program_is_killed_with_its_children(tmp_path):
    command = ["sh", "-c", "echo hello; sleep 60 & sleep 60"]
    process = Process(command, tmp_path / "log", tmp_path, {"PATH": "/bin:/usr/bin"})
    process._ended_soon = lambda: False
    started = time.monotonic()
    seen = []
    with pytest.raises(Silent):
        for line in process.lines(0.3):
            seen.append(line)
    assert seen == ["hello"]
    assert time.monotonic() - started < 10
    assert process.status < 0


def test_lines_and_status_come_through(tmp_path):
    command = [sys.executable, "-c", "print('a'); print('b'); raise SystemExit(3)"]
    process = Process(command, tmp_path / "log", tmp_path, {})
    assert list(process.lines(30)) == ["a", "b"]
    assert process.status == 3
    assert (tmp_path / "log").read_text() == "a\nb\n"


@pytest.mark.parametrize(
    ("counts", "status", "line"),
    [
        ((Count(2, 0), Count(1, 0)), 0, "3 passed, 0 failed"),
        ((Count(2, 0), Count(0, 1, 0, ["x"])), 1, "2 passed, 1 failed"),
        ((Count(), Count()), 1, "0 passed, 0 failed"),
    ],
)
def test_the_command_closes_with_the_sum(monkeypatch, capsys, counts, status, line):
    suites = [Suite(str(n), "x", lambda *_, c=c: c) for n, c in enumerate(counts)]
    never = Suite("never", "x", lambda *_: Count(0, 9), usual=False)
    monkeypatch.setattr(testing, "SUITES", (*suites, never))
    assert cli.run(["test"]) == status
    assert capsys.readouterr().out == line + "\n"


def test_words_that_choose_no_test_are_refused(monkeypatch, capsys):
    monkeypatch.setattr(testing, "SUITES", (Suite("one", "x", lambda *_: Count()),))
    assert cli.run(["test", "-k", "blorp"]) == 2
    assert "tenon: -k: no test has a name with blorp" in capsys.readouterr().err


def test_an_unknown_suite_is_refused(capsys):
    assert cli.run(["test", "blorp"]) == 2
    assert "no tests named blorp" in capsys.readouterr().err


def test_lock_free_code_has_its_models_run():
    assert {"core-inbox", "core-placement", "core-ring", "core-sync"} <= set(cargo.modelled())


LANES = """\
import os, pathlib, time
import pytest

NOTES = pathlib.Path(__file__).parent / "notes"

def note(what):
    with NOTES.open("a") as notes:
        notes.write(f"{what} {os.environ.get('TENON_LANE', 'none')}\\n")

def meet(mine, other):
    (NOTES.parent / mine).touch()
    for _ in range(600):
        if (NOTES.parent / other).exists():
            return
        time.sleep(0.1)
    raise AssertionError("nobody beside")
"""


def test_lanes_run_files_side_by_side_and_then_what_is_to_be_alone(scratch, monkeypatch):
    monkeypatch.delenv("TENON_LANE", raising=False)
    (scratch / "pytest.ini").write_text("[pytest]\nmarkers =\n    alone: never beside another\n")
    for mine, other in (("a", "b"), ("b", "a")):
        (scratch / f"test_{mine}.py").write_text(
            f"{LANES}\n"
            f"def test_beside(): meet('{mine}', '{other}'); note('beside')\n"
            "@pytest.mark.alone\ndef test_alone(): note('alone')\n"
        )
    (scratch / "test_c.py").write_text("def test_bad(): assert 0\n")
    shown = []
    total = python_tests.run("x", [scratch], 60, shown.append, 2)
    assert (total.passed, total.failed) == (4, 1)
    assert "test_bad: assert 0" in total.failures[0]
    first, second, *rest = (scratch / "notes").read_text().splitlines()
    assert sorted((first, second)) == ["beside ", "beside lane-2"]
    assert rest == ["alone none"] * 2
    assert sorted(shown)[-1] == "test_c.py::test_bad"
    assert shown[-2:] == ["test_a.py::test_alone", "test_b.py::test_alone"]


def test_an_exception_ends_every_lane(tmp_path):
    def start(seconds):
        command = ["sh", "-c", f"echo hello; sleep {seconds}"]
        return lambda environment: Process(command, tmp_path / seconds, tmp_path, environment)

    def read(process):
        for _ in process.lines(60):
            pass
        return Count(1, 0)

    def interrupted(process):
        next(process.lines(60))
        raise KeyboardInterrupt

    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        lanes.Lanes(2).run([(start("50"), read), (start("51"), interrupted), (start("52"), read)])
    assert time.monotonic() - started < 30
    assert not (tmp_path / "52").exists(), "what had not begun does not begin"
