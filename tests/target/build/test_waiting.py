"""Interrupt handlers that may block do not build."""

from __future__ import annotations

import pytest
from conftest import assert_well

PROGRAM = """
#![no_std]

use tenon::irq::{self, Trigger};
use tenon::sync::{Mutex, Semaphore};
use tenon::time::{Duration, Instant, Timer};

static ARRIVED: Semaphore = Semaphore::new(0);
static DATA: Mutex<u32> = Mutex::new(0);
static LATE: Timer = Timer::new(|| in_timer());

pub fn main() {
    let _ = irq::register(40, Trigger::Level, on_edge);
    LATE.start(Instant::now() + Duration::from_millis(1));
    wait();
    touch();
}

#[inline(never)]
fn wait() {
    ARRIVED.take();
}

#[inline(never)]
fn touch() {
    let _ = DATA.try_lock();
}

fn in_timer() {
    TIMER
}

fn on_edge(_: u32) {
    INTERRUPT
}
"""
GIVE = "let _ = ARRIVED.give();"


@pytest.fixture
def pump(tenon, tmp_path):
    """Builds a program with these two handlers; returns the outcome and the path of the source."""
    assert_well(tenon("-C", tmp_path, "new", "app", "pump", json_file=False))
    source = tmp_path / "pump" / "src" / "lib.rs"

    def build(*, timer, interrupt):
        source.write_text(PROGRAM.replace("TIMER", timer).replace("INTERRUPT", interrupt))
        return tenon("build", tmp_path / "pump", json_file=False), source

    return build


def complaint(built):
    outcome, source = built
    assert outcome.status == 1
    (line,) = [line for line in outcome.stderr.splitlines() if line.startswith("tenon:")]
    where = f"tenon: {source}:{1 + source.read_text().splitlines().index('    ARRIVED.take();')}: "
    assert line.startswith(where), line
    return line.removeprefix(where)


@pytest.mark.timeout(300)
def test_an_interrupt_handler_must_not_wait_whoever_waits_for_it(pump):
    line = complaint(pump(timer=GIVE, interrupt="wait();"))
    assert line.startswith(
        "pump: the interrupt handler pump::on_edge may wait (pump::on_edge → pump::wait → "
        "tenon_sync::semaphore::Semaphore::take"
    )
    assert line.endswith("); give a semaphore or unpark a thread there, and let the thread wait")


@pytest.mark.timeout(300)
def test_a_timers_handler_must_not_either(pump):
    line = complaint(pump(timer="wait();", interrupt=GIVE))
    assert "the interrupt handler pump::LATE::{closure#0} may wait" in line
    assert "pump::in_timer → pump::wait" in line


@pytest.mark.timeout(300)
def test_a_handler_owns_no_mutex_not_even_one_that_is_free(pump):
    outcome, source = pump(timer=GIVE, interrupt="touch();")
    assert outcome.status == 1
    assert "pump::on_edge → pump::touch" in outcome.stderr
    line = 1 + source.read_text().splitlines().index("    let _ = DATA.try_lock();")
    assert f"{source}:{line}:" in outcome.stderr


@pytest.mark.timeout(300)
def test_giving_is_what_handlers_are_for(pump):
    outcome, _ = pump(timer=GIVE, interrupt=GIVE)
    assert_well(outcome)
