"""What runs is what stands in the folder: random sequences over projects of one name."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import ROOT, assert_well

STEPS = 5
KINDS = ("edit", "edit", "break", "mend", "copy", "swap", "former", "kill")
SEEDS, ALL_SEEDS = 2, 100
"""Sequences for each language, and those of a full run."""


def pytest_generate_tests(metafunc):
    full = metafunc.config.getoption("--full")
    metafunc.parametrize("seed", range(ALL_SEEDS if full else SEEDS))


def write(folder, word):
    """A program with a constant of its own; without one, it is not to be built."""
    (folder / "word.inc").write_text(f'"said: {word}"\n' if word else "broken broken\n")


def prepare(folder, language):
    """Let the program of a new project print what `word.inc` holds."""
    file = folder / ("main.c" if language == "c" else "src/lib.rs")
    text = file.read_text()
    if language == "c":
        text = text.replace("{\n", '{\n\tputs(\n#include "word.inc"\n\t);\n', 1)
    else:
        text = text.replace(
            "pub fn main() {\n",
            'pub fn main() {\n    tenon::log::info!("{}", include!("../word.inc"));\n',
        )
    file.write_text(text)
    write(folder, "none")


def play(tenon, place, language, seed):
    """One sequence, each step of which is built or run."""
    chosen = random.Random(seed)
    assert_well(tenon("new", "app", "twin", "--lang", language, "-C", place, json_file=False))
    folders = [place / f"p{number}" for number in range(chosen.randrange(2, 5))]
    (place / "twin").rename(folders[0])
    prepare(folders[0], language)
    for other in folders[1:]:
        shutil.copytree(folders[0], other)
    words = dict.fromkeys(folders, "none")
    for step in range(STEPS):
        one, other = chosen.sample(folders, 2)
        kind = chosen.choice(KINDS)
        if kind == "copy":
            shutil.rmtree(one)
            shutil.copytree(other, one)
            words[one] = words[other]
        elif kind == "swap":
            one.rename(place / "aside")
            other.rename(one)
            (place / "aside").rename(other)
            words[one], words[other] = words[other], words[one]
        else:
            said = "none" if kind == "former" else f"{seed} {step}"
            words[one] = "" if kind == "break" else said
            write(one, words[one])
        if kind == "kill":
            kill_build(one, chosen.uniform(0, 4))
        assert_stands_there(tenon, one, words[one], runs=chosen.random() < 0.3)


def kill_build(folder, seconds):
    """Start a build, and kill it with all that it started."""
    line = [sys.executable, ROOT / "orchestrator", "build", folder, "-q"]
    building = subprocess.Popen(line, start_new_session=True, stderr=subprocess.DEVNULL)
    time.sleep(seconds)
    os.killpg(building.pid, signal.SIGKILL)
    building.wait()


def assert_stands_there(tenon, folder, word, *, runs):
    """A broken project is refused; of another one, the image or the console has its constant."""
    if runs:
        outcome = tenon("run", folder, "--headless", "--seconds", "0.1")
    else:
        outcome = tenon("build", folder, "--json", json_file=False)
    if not word:
        assert outcome.status == 1, outcome
        return
    assert_well(outcome)
    if runs:
        assert f"said: {word}" in outcome.stderr
        assert f"sources {outcome.result['sources'][:8]}" in outcome.stderr
        return
    elf = Path(json.loads(outcome.stdout)["elves"]["twin"])
    assert f"said: {word}".encode() in elf.read_bytes()


@pytest.mark.long(60, "orchestrator/tenonos/build", "orchestrator/tenonos/run")
@pytest.mark.parametrize("language", ["c", "rust"])
def test_random_sequences_run_what_stands_there(tenon, tmp_path, monkeypatch, language, seed, full):
    if full:
        # A third of the time of a link, and read by nothing here.
        monkeypatch.setenv("CARGO_PROFILE_RELEASE_DEBUG", "0")
    play(tenon, tmp_path, language, seed)
