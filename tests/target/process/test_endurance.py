"""Endurance: random system calls, kills and want of memory, beside a loop at 1 kHz."""

import re

import pytest
from conftest import ROOT, assert_well, until
from process.test_processes import compiled, system, unharmed


@pytest.mark.timeout(900)
def test_nothing_is_lost_by_hostile_processes(tenon, tmp_path, full):
    folder = system(tmp_path / "endure", "endure")
    compiled(ROOT / "tests/support/endure.c", folder / "files/init")
    # Each way to use up memory, or something else, once.
    short, long = (4000, 1000, 60, 20), (10_000_000, 20_000, 100_000, 1000)
    calls, each, kills, exhaustions = long if full else short
    text = (folder / "system.toml").read_text()
    arguments = ", ".join(f'"{number}"' for number in (calls, each, kills, exhaustions))
    (folder / "system.toml").write_text(text + f"arguments = [{arguments}]\n")
    last = until(tmp_path, programs="init has ended")
    if full:
        script = tmp_path / "programs.until"
        script.write_text(script.read_text().replace("timeout 240", "timeout 36000"))
    outcome = tenon("run", folder, "--headless", "--deterministic", *last)
    assert_well(outcome)
    said = "\n".join(outcome.said("programs"))
    parts = dict(re.findall(r"^(calls|kills|exhaustions): (\d+, lost -?\d+)$", said, re.M))
    made = {name: int(part.split(",")[0]) for name, part in parts.items()}
    lost = {name: int(part.split()[-1]) for name, part in parts.items()}
    assert set(lost) == {"calls", "kills", "exhaustions"}, said
    assert lost == dict.fromkeys(lost, 0)
    assert "exhaustion " not in said, said
    assert made["calls"] >= calls
    assert made["kills"] >= kills
    unharmed(outcome)
