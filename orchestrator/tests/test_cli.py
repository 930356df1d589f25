import importlib
import json
import pkgutil
import re
import shlex

import pytest
import typer

from tenonos import cli
from tenonos.errors import InputError, WorkError
from tenonos.paths import ROOT


@pytest.fixture
def failing(monkeypatch):
    """Makes every command end in the given exception."""

    def arm(error):
        def explode(*_args, **_kwargs):
            raise error

        monkeypatch.setattr(cli, "app", explode)

    return arm


def test_an_unknown_command_is_one_line_and_status_2(capsys, monkeypatch):
    monkeypatch.chdir(ROOT)
    assert cli.run(["blorp"]) == 2
    said = "tenon: No such command 'blorp'; ./tenon --help lists all\n"
    assert capsys.readouterr().err == said


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (
            "trace",
            "No such command 'trace'; did you mean ./tenon run SYSTEM --trace FILE? ./tenon ",
        ),
        ("rnu", "No such command 'rnu'; did you mean ./tenon run? ./tenon --help lists all"),
        ("run --list", "No such option: --list (Possible options: --input, --live, --quiet); see "),
        ("run x --seconds 1s", "'--seconds': it is no number"),
        ("new app x --lang cpp", "'cpp' is not one of 'rust', 'c'; see ./tenon new --help"),
    ],
)
def test_a_wrong_line_is_explained(capsys, monkeypatch, line, says):
    monkeypatch.chdir(ROOT)
    assert cli.run(line.split()) == 2
    said = capsys.readouterr().err
    assert says in said and said.count("\n") == 1 and "error," not in said


@pytest.mark.parametrize(("path", "typed"), [("", f"{ROOT}/tenon"), (str(ROOT), "tenon")])
def test_a_remedy_is_what_the_user_types(failing, capsys, monkeypatch, tmp_path, path, typed):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", path)
    failing(InputError("no choice", "x/./tenon", "see ./tenon compose; ./tenon"))
    cli.run([])
    said = f"tenon: x/./tenon: no choice; see {typed} compose; {typed}\n"
    assert capsys.readouterr().err == said


def test_an_unknown_option_is_one_line_and_status_2(capsys):
    assert cli.run(["clean", "--zap"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_a_folder_that_does_not_exist_is_named_wherever_the_option_stands(capsys):
    for line in (["-C", "/nonexistent", "clean"], ["clean", "-C", "/nonexistent"]):
        assert cli.run(line) == 2
        assert "/nonexistent" in capsys.readouterr().err


@pytest.mark.parametrize(
    "line",
    [
        ("run", "hello", "--headless", "--json", "none/x.json"),
        ("run", "hello", "--headless", "--trace", "none/x.json"),
        ("demo", "--headless", "--json", "none/x.json"),
        ("demo", "--headless", "--svg", "none/x.svg"),
        ("bench", "size", "--html", "none/x.html"),
    ],
    ids=" ".join,
)
def test_a_file_without_a_folder_is_refused_before_the_work(capsys, monkeypatch, tmp_path, line):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tenonos.build.build", None)
    assert cli.run([*line]) == 2
    assert capsys.readouterr().err == f"tenon: {line[-2]}: there is no folder none; make it\n"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (("compose", "a 1 kHz loop", "-o", "taken"), "taken: cannot write it: File exists"),
        (("compose", "a 1 kHz loop", "-o", "taken/x"), "taken/x: cannot write it: Not a directory"),
        (("new", "app", "taken"), "taken exists already; choose another name"),
    ],
    ids=["a file", "in a file", "an application"],
)
def test_what_cannot_be_written_is_one_line(capsys, monkeypatch, tmp_path, line, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "taken").touch()
    assert cli.run([*line]) == 2
    assert capsys.readouterr().err.splitlines()[-1] == f"tenon: {said}"


@pytest.mark.parametrize(("error", "status"), [(InputError, 2), (WorkError, 1)])
def test_an_error_states_what_where_and_how_to_correct_it(failing, capsys, error, status):
    failing(error("CPU 3 given\ntwice", "system.toml:7", "give it to one VM"))
    assert cli.run([]) == status
    line = "tenon: system.toml:7: CPU 3 given twice; give it to one VM\n"
    assert capsys.readouterr().err == line


def test_a_bug_leaves_a_log_and_no_traceback(failing, capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(cli.paths, "LOG", tmp_path)
    failing(ZeroDivisionError("of ours"))
    assert cli.run([]) == 1
    line = capsys.readouterr().err
    assert line.startswith("tenon: internal error: ZeroDivisionError: of ours (details in ")
    assert line.count("\n") == 1
    (log,) = tmp_path.iterdir()
    assert "Traceback" in log.read_text()


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_each_help_has_an_example_that_can_be_read(capsys, name):
    """Its options and arguments are those of the command."""
    assert cli.run([name, "--help"]) == 0
    (line,) = re.findall(r"Example: \./tenon (.*)", capsys.readouterr().out)
    command, *words = shlex.split(line.split(", ")[0].rstrip("."))
    assert command == name
    entry = typer.main.get_command(cli.app).get_command(None, name)
    context = entry.context_class(entry)
    _, left, _ = entry.make_parser(context).parse_args(words)
    assert left == []


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_each_help_names_what_to_give(capsys, name):
    """In the words of manual pages: no types of Python, no names of variables, no braces."""
    assert cli.run([name, "--help"]) == 0
    shown = capsys.readouterr().out
    assert not re.findall(r"<(?:path|str|int|float|list)\b.*?>|[{}]", shown)
    usage = shown.split("Usage: ./tenon ")[1].split("\n\n")[0]
    assert re.fullmatch(rf"{name} \[OPTIONS\](\s+[\[\]A-Z|.]+)*", usage), usage


def test_list_alone_lists_all_there_is(capsys):
    assert cli.run(["list"]) == 0
    shown = capsys.readouterr().out
    assert all(name in shown for name in ("motor-linux", "qemu-virt", "core/sched"))
    assert cli.run(["list", "--json"]) == 0
    assert list(json.loads(capsys.readouterr().out)) == ["systems", "boards", "libraries"]


def test_every_module_of_a_command_is_listed_by_the_help(capsys):
    assert cli.run(["--help"]) == 0
    text = capsys.readouterr().out
    for home in cli.HOMES:
        for module in pkgutil.iter_modules(importlib.import_module(home).__path__):
            assert re.search(rf"^ +{module.name} ", text, re.MULTILINE), module.name


def test_the_help_lists_only_commands_that_exist(capsys):
    assert cli.run(["--help"]) == 0
    text = capsys.readouterr().out
    assert "clean" in text and "Exit status" in text
