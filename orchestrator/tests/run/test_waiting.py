"""What a run states while nothing is printed."""

import re

from tenonos.run.script import parse
from tenonos.run.waiting import Waiting


def told(session, until):
    """The lines up to one of this form, after which the run ends; each tick is a silence."""
    lines = []

    class UntilTold(Waiting):
        def tick(self, session):
            super().tick(session)
            if re.fullmatch(until, lines[-1]):
                session.finish()

    session.observers = [UntilTold(lines.append, 0.0)]
    session.run()
    assert re.fullmatch(until, lines[-1]), lines
    return lines


def test_a_linux_that_boots(scenario):
    awaited = r"linux to print `tenon-ready` \(key `ready`\), at most \d+ s more"
    told(scenario("silent"), f"waiting for {awaited}; Ctrl-C ends the run")


def test_a_line_that_a_script_expects(scenario, tmp_path):
    file = tmp_path / "steps"
    file.write_text("timeout 200\nexpect never\n")
    session = scenario("", scripts={"linux": parse(file)})
    awaited = rf"linux to print 'never' \({re.escape(str(file))}:2\), at most \d+ s more"
    assert len(told(session, f"waiting for {awaited}; .*")) == 1, "before the window, too"


def test_the_end_of_the_window(scenario):
    told(scenario("", seconds=1e6), r"waiting for the end of the window, \d+\.\d of 1e\+06 s; .*")


def test_a_run_without_an_end(scenario):
    told(scenario(""), "waiting for the end of all VMs, as the run has no --seconds; .*")


def test_what_is_printed_puts_it_off(scenario):
    lines = []

    class Printing(Waiting):
        def tick(self, session):
            self.printed()
            super().tick(session)

    session = scenario("", seconds=0.1)
    session.observers = [Printing(lines.append, 60.0)]
    session.run()
    assert not lines
