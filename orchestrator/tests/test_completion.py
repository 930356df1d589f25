"""Completion as the shells ask for it."""

import os
import shutil
import subprocess
import sys

import pytest

from tenonos.cli import COMMANDS
from tenonos.completion import VARIABLE
from tenonos.paths import ROOT


@pytest.fixture
def tenon(tmp_path, monkeypatch):
    """`tenon` on the path, as a clone that is set up has it."""
    program = tmp_path / "tenon"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{ROOT}/orchestrator" "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    return program


def ran(line, **variables):
    return subprocess.run(
        line, env=os.environ | variables, capture_output=True, text=True, check=True, timeout=60
    ).stdout


def in_bash(words, number):
    script = ran(["tenon", "--completion", "bash"])
    ask = f'COMP_WORDS=({words}) COMP_CWORD={number}; _tenon_completion {words.split()[0]}; echo "'
    return ran(["bash", "-c", f'{script}\n{ask}${{COMPREPLY[*]}}"']).split()


def test_bash_completes_commands_and_options(tenon):
    assert in_bash("tenon comp", 1) == ["compose"]
    assert in_bash(f"{tenon} ex", 1) == [name for name in COMMANDS if name.startswith("ex")]
    assert in_bash("tenon compose --bo", 2) == ["--board"]
    assert in_bash("tenon list s", 2) == ["systems"]


def test_bash_completes_the_names_there_are(tenon):
    assert in_bash("tenon run motor-l", 2) == ["motor-linux"]
    assert in_bash("tenon bench thr", 2) == ["thread-metric"]
    assert in_bash("tenon compose words --board qe", 4) == [
        *("qemu-imx8mp", "qemu-raspi4b", "qemu-virt", "qemu-virt-gicv2", "qemu-zcu102")
    ]
    assert in_bash("tenon explain servo core/tim", 3) == ["core/timer"]
    assert in_bash("tenon explain servo sched.perio", 3) == ["sched.periodic"]
    assert in_bash("tenon explain servo CONFIG_LIB_CORE_TI", 3) == ["CONFIG_LIB_CORE_TIMER"]
    assert in_bash("tenon run ./no-system", 2) == [], "which leaves it to the files there are"


def test_zsh_and_fish_complete_commands(tenon):
    for shell in ("zsh", "fish"):
        assert VARIABLE in ran(["tenon", "--completion", shell])
        asked = {VARIABLE: f"complete_{shell}", "_TYPER_COMPLETE_ARGS": "tenon comp"}
        said = ran(["tenon"], **asked, _TYPER_COMPLETE_FISH_ACTION="get-args")
        assert "compose" in said and "clean" not in said


def test_a_shell_that_is_not_known_is_refused(tenon):
    with pytest.raises(subprocess.CalledProcessError) as refused:
        ran(["tenon", "--completion", "tcsh"])
    assert refused.value.returncode == 2
    assert refused.value.stderr.count("\n") == 1


def test_nothing_is_set_up_for_a_completion(tmp_path):
    shutil.copy(ROOT / "tenon", tmp_path)
    (tmp_path / "orchestrator").mkdir()
    (tmp_path / "orchestrator" / "requirements.lock").touch()
    (tmp_path / "orchestrator" / "bootstrap.sh").write_text("bootstrap() { echo set up; exit 3; }")
    assert ran([str(tmp_path / "tenon")], **{VARIABLE: "complete_bash"}) == ""
    with pytest.raises(subprocess.CalledProcessError):
        ran([str(tmp_path / "tenon")])
