"""What a run states while nothing is printed."""

import re

from tenonos.errors import WorkError
from tenonos.run.script import parse
from tenonos.run.waiting import Waiting


def told(session, silence=0.1):
    """The lines of a run in which silence is short."""
    lines = []
    session.observers = [Waiting(lines.append, silence)]
    try:
        session.run()
    except WorkError as error:
        lines.append(str(error))
    return lines


def test_a_linux_that_boots(scenario):
    lines = told(scenario("silent", seconds=0.1, boot_limit=0.5))
    assert len(lines) > 2
    expected = r"waiting for linux to print `tenon-ready`, at most \d s more; Ctrl-C ends the run"
    assert all(re.fullmatch(expected, line) for line in lines)


def test_a_line_that_a_script_expects(scenario, tmp_path):
    file = tmp_path / "steps"
    file.write_text("timeout 0.5\nexpect never\n")
    *lines, error = told(scenario("", seconds=0.1, scripts={"linux": parse(file)}))
    expected = rf"waiting for linux to print 'never' \({file}:2\), at most \d s more; .*"
    assert any(re.fullmatch(expected, line) for line in lines)
    assert "did not say 'never'" in error


def test_the_end_of_the_window(scenario):
    lines = told(scenario("", seconds=1.5))
    expected = r"waiting for the end of the window, \d\.\d of 1\.5 s; .*"
    assert any(re.fullmatch(expected, line) for line in lines)


def test_a_run_without_an_end(scenario):
    session = scenario("")
    lines = []

    class Ending(Waiting):
        def tick(self, session):
            super().tick(session)
            if len(lines) > 1 and "--seconds" in lines[-1]:
                session.finish()

    session.observers = [Ending(lines.append, 0.1)]
    session.run()
    assert lines[-1].startswith("waiting for the end of all VMs, as the run has no --seconds")


def test_what_is_printed_puts_it_off(scenario):
    lines = []

    class Printing(Waiting):
        def tick(self, session):
            self.printed()
            super().tick(session)

    session = scenario("", seconds=0.5)
    session.observers = [Printing(lines.append, 0.1)]
    session.run()
    assert not lines
