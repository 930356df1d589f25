"""What the host refuses: closed and full streams, full and read-only disks, whole folders."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tenonos import cli, host, outputs, paths
from tenonos.errors import InputError
from tenonos.paths import ROOT
from tenonos.plan.reader import load
from tenonos.serve.served_folder import Project
from tenonos.serve.tools import asked

LOOP = "a 1 kHz control loop"


@pytest.fixture(scope="module", autouse=True)
def _base_model():
    """The base model of the reader, which the first sentence of a clone would fetch."""
    load.provide()


def tenon(*line, redirect="", folder=ROOT):
    """Run a command line by the shell; its status and messages."""
    command = f'exec "$@" {redirect}'
    return subprocess.run(
        ["sh", "-c", command, "sh", sys.executable, str(ROOT / "orchestrator"), *line],
        cwd=folder, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False,
    )  # fmt: skip


LINES = [
    ("list", "boards"),
    ("list", "systems", "--json"),
    ("--help",),
    ("--version",),
    ("compose", LOOP, "--json"),
]


@pytest.mark.parametrize("line", LINES, ids=" ".join)
@pytest.mark.parametrize(
    ("redirect", "says"),
    [(">&-", "stdout: it is closed; redirect it"), (">/dev/full", "stdout: cannot write to it")],
)
def test_output_that_goes_nowhere_is_one_line(line, redirect, says):
    done = tenon(*line, redirect=redirect)
    assert done.returncode == 1
    assert done.stderr.startswith(f"tenon: {says}")
    assert done.stderr.count("\n") == 1


def test_a_closed_output_is_reported_before_the_work(tmp_path):
    assert tenon("compose", LOOP, "-o", "made", redirect=">&-", folder=tmp_path).returncode == 1
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize("redirect", ["2>&-", "2>/dev/full", "<&-"])
def test_work_goes_on_without_messages_or_input(tmp_path, redirect):
    done = tenon("compose", LOOP, "-o", "made", redirect=f">out {redirect}", folder=tmp_path)
    assert done.returncode == 0
    assert (tmp_path / "made/system.toml").exists()
    assert "motor" in (tmp_path / "out").read_text()


@pytest.mark.parametrize(("both", "ends"), [(True, True), (False, False)])
def test_a_closed_pipe_ends_a_command_if_it_has_the_output_too(tmp_path, both, ends):
    work = "import sys; from tenonos import cli, host; host.connect()\n"
    work += "def app(*_, **__):\n print('one line', file=sys.stderr); open('went-on', 'w')\n"
    work += "cli.app = app; sys.exit(cli.run([]))"
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-c", work],
        cwd=tmp_path, stdout=writing if both else subprocess.DEVNULL, stderr=writing,
        env={**os.environ, "PYTHONPATH": str(ROOT / "orchestrator")}, check=False,
    )  # fmt: skip
    os.close(writing)
    assert done.returncode == (1 if ends else 0)
    assert (tmp_path / "went-on").exists() != ends


@pytest.mark.parametrize(
    ("number", "mend"), [(errno.ENOSPC, "make room there"), (errno.EROFS, "mount it so that")]
)
def test_a_full_or_read_only_disk_is_one_line(monkeypatch, capsys, number, mend):
    for name in (str(paths.BUILD / "hello" / "lock"), None):
        error = OSError(number, os.strerror(number), name)

        def refuse(*_, error=error, **__):
            raise error

        monkeypatch.setattr(cli, "app", refuse)
        assert cli.run([]) == 1
        line = capsys.readouterr().err
        assert line.startswith("tenon: ") and line.count("\n") == 1
        assert ".tenon" in line and mend in line and "internal" not in line


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to mount in a name space of its own")
@pytest.mark.parametrize(
    ("mount", "says"),
    [
        (f"mount -t tmpfs -o size=1500k none {paths.BUILD}", "no space left on device; make room"),
        (f"mount --bind {ROOT} {ROOT} && mount -o remount,bind,ro {ROOT}", "read-only file system"),
    ],
    ids=["full", "read-only"],
)
def test_a_build_in_a_full_or_read_only_folder_is_refused_in_one_line(mount, says):
    paths.ensure(paths.BUILD)
    command = f"{mount} && cd {ROOT} && exec {sys.executable} orchestrator -q build hello"
    line = ["unshare", "--mount", "sh", "-c", command]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    if "unshare" in done.stderr or "mount:" in done.stderr:
        pytest.skip(done.stderr)
    assert done.returncode == 1
    assert done.stderr.startswith("tenon: .tenon/build") and done.stderr.count("\n") == 1
    assert says in done.stderr


def test_an_error_of_ours_is_none_of_the_hosts():
    assert host.trouble(FileNotFoundError(errno.ENOENT, "No such file")) is None
    assert host.trouble(ValueError("x")) is None
    assert host.trouble(MemoryError()) is not None


def test_a_working_folder_that_was_removed_is_named(tmp_path):
    (tmp_path / "gone").mkdir()
    command = f'rmdir "$PWD" && exec {sys.executable} {ROOT}/orchestrator build'
    done = subprocess.run(
        ["sh", "-c", command], cwd=tmp_path / "gone", capture_output=True, text=True, check=False
    )
    assert done.stderr == "tenon: the working folder was removed; change to another one\n"


def test_a_folder_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    whole = Path.write_text

    def full(self, text, **more):
        if self.name == "b":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return whole(self, text, **more)

    (tmp_path / "old").mkdir()
    (tmp_path / "old/a").write_text("before")
    monkeypatch.setattr(Path, "write_text", full)
    for name in ("new", "old"):
        with pytest.raises(InputError, match="No space left"):
            outputs.write_folder(tmp_path / name, {"a": "after", "b": "x"})
    monkeypatch.undo()
    assert [path.name for path in tmp_path.iterdir()] == ["old"]
    assert (tmp_path / "old/a").read_text() == "before"
    outputs.write_folder(tmp_path / "old", {"a": "after", "b": "x"})
    outputs.write_folder(tmp_path / "new", {"a": "after"})
    assert {p.name: p.read_text() for p in (tmp_path / "old").iterdir()} == {"a": "after", "b": "x"}
    assert (tmp_path / "new/a").read_text() == "after"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new", "old"]


def test_a_composition_follows_no_link_out_of_its_folder(tmp_path):
    (tmp_path / "outside").write_text("mine")
    project = tmp_path / "project"
    (project / "made").mkdir(parents=True)
    for name in ("system.toml", "motor.config", "explain.json"):
        (project / "made" / name).symlink_to(tmp_path / "outside")
    line = asked("compose", {"objective": LOOP, "output": "made"}).line(Project(project))
    assert cli.run(["-q", "compose", *line]) == 0
    assert (tmp_path / "outside").read_text() == "mine"
    assert not any(path.is_symlink() for path in (project / "made").iterdir())


def test_an_explanation_is_not_read_through_a_link_out_of_the_project(tmp_path):
    (tmp_path / "outside").write_text("{}")
    (tmp_path / "project").mkdir()
    (tmp_path / "project/explain.json").symlink_to(tmp_path / "outside")
    with pytest.raises(InputError, match="leads out of"):
        asked("explain", {"folder": "."}).line(Project(tmp_path / "project"))
