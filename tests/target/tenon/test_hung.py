"""Tasks that hang or are overloaded: the run ends in guest time, and what never came is missing."""

import pytest

APP = """\
//! A body that never returns, or takes twice its period.
#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]
use tenon::periodic::Task;
use tenon::time::{Duration, Instant};

/// Runs the task.
pub fn main() {
    let mut count = 0u32;
    Task::new("count", Duration::from_millis(10)).run(|_| {
        count += 1;
        BODY
    });
}
"""
HANGS = "while count > 5 { core::hint::spin_loop(); }"
OVERLOADED = """\
let end = Instant::now().nanoseconds() + 20_000_000;
        while Instant::now().nanoseconds() < end {}"""


@pytest.fixture
def run(tenon, tmp_path):
    def call(body):
        folder = tmp_path / "stuck"
        assert tenon("-C", tmp_path, "new", "app", "stuck", json_file=False).status == 0
        (folder / "src/lib.rs").write_text(APP.replace("BODY", body))
        toml = (folder / "system.toml").read_text()
        name = toml.split("[[vm.task]]")[1].split('name = "')[1].split('"')[0]
        (folder / "system.toml").write_text(
            toml.replace(f'name = "{name}"\nper', 'name = "count"\nper')
        )
        return tenon("run", folder, "--headless", "--deterministic", "--seconds", "0.2")

    return call


def test_releases_of_a_body_that_never_returns_are_missing(run):
    outcome = run(HANGS)
    assert outcome.status == 1
    assert "15 of 20 releases of task count of stuck never came" in outcome.stderr
    task = outcome.task
    assert (task["released"], task["completed"], task["late"]) == (20, 5, 0)
    assert task["last_ns"] - task["first_ns"] == 19 * task["period_ns"]


def test_releases_of_an_overloaded_task_are_missing(run):
    outcome = run(OVERLOADED)
    assert outcome.status == 1
    task = outcome.task
    assert task["released"] == 20
    assert 10 <= task["completed"] < 20 and task["late"] > 0
    assert f"{20 - task['completed']} of 20 releases of task count" in outcome.stderr
