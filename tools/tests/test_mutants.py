"""Mutation tests: what counts as a survivor, and what is told of it."""

import json

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
    folder.mkdir(parents=True)
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

    def run(line, environment, _):
        calls.append(line)
        calls.environment = environment
        output = tmp_path / line[line.index("--output") + 1] / "mutants.out"
        written(output, calls.lists)
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
