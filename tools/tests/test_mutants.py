"""Mutation tests: what counts as a survivor, and what is told of it."""

import json
import os
from contextlib import contextmanager

import pytest

from tenonos import cli, paths
from tenonos.errors import InputError, WorkError
from tenonos.paths import ROOT
from tenonos.settings import SETTINGS
from tenonos.setup import cargo_tool
from tools import mutants

LISTS = {
    "caught": ["a.rs: replace + with - in sum", "a.rs: replace f with ()"],
    "timeout": ["a.rs: replace wait with ()"],
    "missed": ["a.rs: replace relax with ()", "pool/a/src/b.rs:12:9: replace < with <= in g"],
    "unviable": [],
}


def written(folder, lists):
    folder.mkdir(parents=True, exist_ok=True)
    for name, lines in lists.items():
        (folder / f"{name}.txt").write_text("".join(f"{line}\n" for line in lines))


def test_survivors_are_those_without_a_reason(tmp_path):
    written(tmp_path / "out", LISTS)
    found = mutants.read("a", tmp_path / "out", {"a.rs: replace relax with ()": "a hint"})
    assert (found.detected, found.unviable, found.explained) == (3, 0, 1)
    assert found.survivors == ("pool/a/src/b.rs: replace < with <= in g",)


@pytest.fixture
def cargo(monkeypatch, tmp_path):
    """A stand-in for cargo-mutants with these outcomes, and the calls of it."""

    def run(line, environment, log, watch):
        calls.append(line)
        calls.environment = environment
        output = tmp_path / line[line.index("--output") + 1] / "mutants.out"
        log.write_text("")
        watch()
        log.write_text("Found 8 mutants to test\nok Unmutated baseline in 3s\n")
        watch()
        written(output, calls.lists)
        watch()
        return calls.status

    class Calls(list):
        lists, status, environment = LISTS, 2, None

    calls = Calls()
    monkeypatch.setattr(mutants, "OUTPUT", tmp_path)
    monkeypatch.setattr(mutants, "provide", lambda: tmp_path / "cargo-mutants")
    monkeypatch.setattr(mutants, "call", run)
    return calls


def test_a_survivor_fails_the_command(cargo, capsys):
    assert cli.run(["mutants", "core-ring"]) == 1
    told = capsys.readouterr().out
    assert "core-ring: a.rs: replace relax with (): no test fails with it" in told
    assert cargo[0][cargo[0].index("--package") + 1] == "core-ring"
    assert "--gitignore=true" in cargo[0], "what was built is not copied"
    assert cargo.environment["CARGO_PROFILE_TEST_OPT_LEVEL"] == "1", "tests take most of the time"


def test_its_progress_is_told(cargo, monkeypatch):
    told = []

    @contextmanager
    def activity(text):
        told.append(text)
        yield told.append

    monkeypatch.setattr("tenonos.ui.activity", activity)
    cli.run(["mutants", "core-ring", "core-list"])
    assert told[:3] == [
        "mutants of core-ring (crates: 0 of 2 done)",
        "looking for mutants",
        "0 of 8 done",
    ]
    assert told[3].startswith("5 of 8 done, about ") and told[3].endswith(" s left")
    assert told[4].startswith("mutants of core-list (crates: 1 of 2 done, about ")
    # The outcomes of the former run are gone.
    cli.run(["mutants", "core-ring"])
    assert told[-3:-1] == ["looking for mutants", "0 of 8 done"]


def test_a_program_is_watched_while_it_runs(monkeypatch, tmp_path):
    monkeypatch.setattr(cargo_tool, "WATCHED", 0.01)
    looks, go_on = [], tmp_path / "go-on"

    def watch():
        looks.append(1)
        if len(looks) == 3:
            go_on.touch()

    line = ["sh", "-c", f"echo said; until [ -e {go_on} ]; do sleep 0.01; done; exit 7"]
    assert cargo_tool.call(line, dict(os.environ), tmp_path / "log", watch) == 7
    assert len(looks) >= 3 and (tmp_path / "log").read_text() == "said\n"


def test_a_crate_without_survivors_passes(cargo, capsys):
    cargo.lists, cargo.status = LISTS | {"missed": []}, 0
    assert cli.run(["mutants", "core-ring", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["crate"] == "core-ring" and row["detected"] == 3 and row["survivors"] == []


def test_a_failure_of_the_program_is_one_line(cargo, capsys):
    cargo.status = 4  # the tests fail without any mutant
    assert cli.run(["mutants", "core-ring"]) == 1
    assert "cargo-mutants ended with status 4" in capsys.readouterr().err


def test_what_is_no_crate_is_wrong_input(cargo, capsys):
    assert cli.run(["mutants", "--", "-x"]) == 2
    assert "not the name of a crate" in capsys.readouterr().err and not cargo


def test_its_absence_is_reported_when_offline(monkeypatch, tmp_path):
    monkeypatch.setattr(paths, "CACHE", tmp_path)
    monkeypatch.setattr(SETTINGS, "offline", True)
    with pytest.raises(InputError, match="cargo-mutants is not installed"):
        mutants.provide()


def test_a_failed_installation_names_its_log(monkeypatch, tmp_path):
    monkeypatch.setattr(paths, "CACHE", tmp_path)
    monkeypatch.setattr(SETTINGS, "yes", True)
    monkeypatch.setattr(cargo_tool, "call", lambda *_: 101)
    with pytest.raises(WorkError, match="could not install"):
        mutants.provide()


def test_the_list_has_crates_of_the_pool_and_reasons():
    listed = mutants.listed()
    names = {file.parent for file in (ROOT / "pool").glob("*/*/Cargo.toml")}
    crates = {f"{folder.parent.name}-{folder.name}" for folder in names}
    assert listed and listed.keys() <= crates
    for crate, entry in listed.items():
        assert set(entry.users) <= crates
        for mutant, reason in entry.reasons.items():
            file = mutant.partition(":")[0]
            assert (ROOT / file).is_file() and file.startswith("pool/"), (crate, mutant)
            assert len(reason) > 20, (crate, mutant)
