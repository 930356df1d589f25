"""`./tenon explore` and `report`: from the objective to the Pareto front and a page."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest
from conftest import ROOT

LIMIT = 280
"""Time-out in seconds."""


def until(true):
    """Waits for a condition."""
    end = time.monotonic() + LIMIT
    while not true():
        assert time.monotonic() < end
        time.sleep(0.1)


def killed_in_the_middle(asked, folder):
    """The journal of a search that is killed after its first verdict."""
    line = [sys.executable, str(ROOT / "orchestrator"), *asked, "-o", str(folder)]
    file = folder / "explored.jsonl"
    quiet = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
    search = subprocess.Popen(line, cwd=ROOT, start_new_session=True, **quiet)
    until(lambda: search.poll() is not None or (file.exists() and file.read_text().endswith("\n")))
    assert search.poll() is None, "it came to its end before"
    os.kill(search.pid, signal.SIGKILL)
    search.wait()
    until(lambda: not any_of(search.pid))
    return file.read_text()


def any_of(group):
    """Whether a process of a group still exists."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.long(25, "orchestrator/tenonos/explore")
def test_a_search_that_was_killed_goes_on_and_is_found_again(tenon, tmp_path):
    folder = tmp_path / "found"
    asked = ["explore", "a 1 kHz control loop", "--most", "2", "--seconds", "0.1", "--json"]
    left = killed_in_the_middle(asked, folder)
    first = tenon(*asked, "-o", folder, json_file=False)
    found = json.loads(first.stdout)["alternatives"]
    composed, other = found
    assert composed["deviations"] == [] and len(other["deviations"]) == 1
    for verdict in found:
        assert verdict["built"] and verdict["booted"] and verdict["good"], verdict["why"]
        assert min(verdict[name] for name in ("size", "latency", "boot")) > 0
    kept = (folder / "explored.jsonl").read_text()
    again = tenon(*asked, "-o", folder, json_file=False)
    assert kept.startswith(left) and left and len(kept.splitlines()) == 2, "judged once each"
    assert json.loads(again.stdout)["alternatives"] == found
    assert (folder / "explored.jsonl").read_text() == kept
    page = tmp_path / "page.html"
    tenon("report", folder, "--html", page, "--seconds", "0.1", json_file=False)
    text = page.read_text()
    assert "of 100 releases lost or late" in text and "2 of 2 alternatives are good" in text


@pytest.mark.long(45, "orchestrator/tenonos/explore")
def test_workers_of_a_cluster_find_the_same_front(tenon, tmp_path, full):
    """Two workers find the same as one; with `--full` including combinations of good
    alternatives."""
    from distributed import LocalCluster

    asked = ["explore", "a 1 kHz control loop", "--most", 24 if full else 2, "--seconds", "0.1"]
    told = []
    for count in (1, 2):
        with LocalCluster(
            n_workers=count,
            threads_per_worker=1,
            dashboard_address=None,
            local_directory=str(tmp_path / f"workers-{count}"),
        ) as cluster:
            there = ["--json", "--cluster", cluster.scheduler_address, "-o", tmp_path / str(count)]
            told.append(tenon(*asked, *there, json_file=False))
    one, two = (json.loads(each.stdout)["alternatives"] for each in told)
    assert two == one and any(each["front"] for each in one)
