"""Random sequences of commands over projects that are made, copied, renamed and broken.

Each command ends with status 0, or with 1 or 2 and one line, which for wrong input has a remedy.
Nothing is compiled: a build ends where all input is read. That what is built is what runs, is for
`tests/target/build/test_what_runs.py`.
"""

import os
import random
import re
import shutil

import pytest

from tenonos import build, cli, ui
from tenonos.build import images
from tenonos.errors import WorkError
from tenonos.settings import SETTINGS

STEPS = 14
SEEDS = int(os.environ.get("TENON_SEQUENCES", "8"))
"""Sequences; 200 of them take a minute."""
LONGEST = 500
"""Characters of a line, which may have paths of folders of tests."""
NAMES = ("one", "two", "motor", "hello", "core-timer", "linux", "mortise", "Bad", "a" * 40)
"""Names of projects: of the clone too, and such as are refused."""
JUNK = ("= 3\n", "[[vm]]\n", 'x = "\n', "config\n", "\tselect NOTHING\n", "}\n")
TABLES = ("[[vm]]\n", "[[channel]]\n", "[reserve]\n", "[[vm.task]]\n", "[[disk]]\n")
NUMBERS = (0, 1, 2, 3, 7, 64, 10**9, 10**30)
NEW = (
    *(("app", "{name}", "--lang", "c"), ("app", "{name}"), ("system", "{name}")),
    *(("library", "core/{name}"), ("library", "dsp/{name}"), ("library", "{name}")),
    *(("board", "{name}", "--from", "zcu102"), ("board", "{name}", "--from", "none")),
)
COMMANDS = (
    *(("build", "{it}"), ("build", "{it}"), ("build", "{it}", "-o", "out"), ("size", "{it}")),
    *(("build", "{it}", "-D", "CONFIG_X=y"), ("build", "{it}", "-D", "X"), ("build", "--qiuet")),
    ("build", "{it}", "-D", "CONFIG_TENON_THREAD_TRACE=y"),
    *(("run", "{it}", "--headless", "--seconds", each) for each in ("1", "0", "-3", "nan")),
    *(("run", "{it}", "--console", each) for each in ("one", "nope")),
    *(("run", "{it}", "--input", each) for each in ("one=x", "x", "one=")),
    *(("run", "{it}", "--json", each) for each in ("a/b.json", ".", "x.json")),
    *(("run", "{it}", "--trace", each) for each in ("t.txt", "t.json")),
    *(("run", "{it}", "--live"), ("run", "{it}", "--strace", "one"), ("mkdir", "{it}")),
    *(("graph", "{it}"), ("explain", "{it}"), ("report", "{it}"), ("tree", "{it}")),
    *(("list", "systems"), ("list", "x"), ("compose", "a 1 kHz loop", "-o", "{it}")),
    *(("compose", "a loop beside Linux", "-o", "{it}"), ("compose", "", "-o", "{it}")),
)


@pytest.fixture
def commands(monkeypatch, capsys):
    """Calls a command line; its status and what it prints on stderr."""

    def stop(system, defines=(), **_):
        images.images(system, defines)
        raise WorkError("nothing is compiled here")

    def call(line):
        before = dict(vars(SETTINGS))
        for console in (ui.out, ui.err):
            console.cache_clear()
        status = cli.run(line)
        vars(SETTINGS).update(before)
        return status, capsys.readouterr().err

    monkeypatch.setattr(build, "build", stop)
    yield call
    for console in (ui.out, ui.err):
        console.cache_clear()


class Player:
    """One sequence in a folder."""

    def __init__(self, folder, seed, call):
        self.folder, self.call = folder, call
        self.random = random.Random(seed)
        self.done = []

    @property
    def projects(self):
        return sorted(path for path in self.folder.iterdir() if path.is_dir())

    def play(self):
        for _ in range(STEPS):
            changes = [self.copy, self.rename, self.remove, *[self.change] * 4]
            steps = [self.make, self.make, *([*changes, *[self.command] * 9] * bool(self.projects))]
            self.random.choice(steps)()

    def make(self):
        line = self.random.choice(NEW)
        self.check("new", *(word.format(name=self.random.choice(NAMES)) for word in line))

    def copy(self):
        target = self.folder / self.random.choice(NAMES)
        if not target.exists():
            shutil.copytree(self.random.choice(self.projects), target)

    def rename(self):
        target = self.folder / self.random.choice(NAMES)
        if not target.exists():
            self.random.choice(self.projects).rename(target)

    def remove(self):
        if self.random.random() < 0.3:
            shutil.rmtree(self.random.choice(self.projects))

    def command(self):
        there = [project.name for project in self.projects]
        it = self.random.choice([*there * 3, "nowhere", "motor", "programs", "."])
        self.check(*(word.format(it=it) for word in self.random.choice(COMMANDS)))

    def change(self):
        """Break or change a file of a project."""
        files = sorted(
            file for file in self.random.choice(self.projects).rglob("*") if file.is_file()
        )
        if not files:
            return
        file = self.random.choice(files)
        lines = file.read_text().splitlines(keepends=True)
        self.done.append(file.relative_to(self.folder))
        kind = self.random.choice((*self.OF_LINES, "empty", "delete"))
        if kind == "delete":
            file.unlink()
        elif kind == "empty" or not lines:
            file.write_text("")
        else:
            kind(self, lines, self.random.randrange(len(lines)))
            file.write_text("".join(lines))

    def drop(self, lines, at):
        del lines[at]

    def double(self, lines, at):
        lines.insert(at, lines[at])

    def exchange(self, lines, at):
        other = self.random.randrange(len(lines))
        lines[at], lines[other] = lines[other], lines[at]

    def number(self, lines, at):
        other = str(self.random.choice(NUMBERS))
        lines[at] = re.sub(r"\d+", lambda _: other, lines[at], count=1)

    def text(self, lines, at):
        others = [*re.findall(r'"[^"\n]*"', "".join(lines)), '"nothing"', '""', '"../x"', '"é"']
        other = self.random.choice(others)
        lines[at] = re.sub(r'"[^"\n]*"', lambda _: other, lines[at], count=1)

    def junk(self, lines, at):
        lines[at] = self.random.choice(JUNK)

    def table(self, lines, at):
        lines.insert(at, self.random.choice(TABLES))

    OF_LINES = (drop, double, exchange, number, text, junk, table)

    def check(self, *line):
        """Call a command, and check how it ends."""
        self.done.append(" ".join(line))
        status, err = self.call(list(line))
        complaints = [each for each in err.splitlines() if each.startswith("tenon: ")]
        context = (self.done, err)
        assert status in (0, 1, 2), context
        assert "internal error" not in err and "Traceback" not in err, context
        assert len(complaints) == bool(status), context
        if status:
            assert err.splitlines()[-1] == complaints[0], context
        if status == 2:
            assert "; " in complaints[0] and len(complaints[0]) < LONGEST, context


@pytest.mark.parametrize("seed", range(SEEDS))
def test_a_sequence_of_commands_ends_each_in_order(tmp_path, monkeypatch, commands, seed):
    monkeypatch.chdir(tmp_path)
    Player(tmp_path, seed, commands).play()
