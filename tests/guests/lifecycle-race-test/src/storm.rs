//! Calls on a core under an interrupt storm.

use crate::Outcome;
use crate::guest;
use crate::model::{Act, Life};
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use tenon::sync::Semaphore;
use tenon::thread::{Priority, Storage};
use tenon::time::{self, Duration, Instant};
use tenon_vm::{Error, Vm};

/// Gaps between two interrupts in ns.
const GAPS: [u64; 4] = [8_000, 4_000, 2_000, 1_500];
/// Maximum number of interrupts, so that a storm without progress ends.
const MOST: u32 = 40_000;

static STORMER: Storage<4096> = Storage::new();
static BEGIN: Semaphore = Semaphore::new(0);
static GAP: AtomicU64 = AtomicU64::new(0);
static LEFT: AtomicU32 = AtomicU32::new(0);

/// Interrupts its core while enabled.
fn interrupts() {
    loop {
        BEGIN.take();
        while LEFT.load(Ordering::Relaxed) > 0 {
            LEFT.fetch_sub(1, Ordering::Relaxed);
            let gap = Duration::from_nanos(GAP.load(Ordering::Relaxed));
            time::sleep_until(Instant::now() + gap);
        }
    }
}

/// Makes a call during a storm; returns whether the call ended before the storm.
fn within<T>(
    gap: u64,
    name: &str,
    call: impl FnOnce() -> Result<T, Error>,
) -> Result<(T, bool), Error> {
    GAP.store(gap, Ordering::Relaxed);
    LEFT.store(MOST, Ordering::Relaxed);
    let _ = BEGIN.give();
    let answer = call();
    let left = LEFT.swap(0, Ordering::Relaxed);
    // The last interrupt of the storm.
    time::sleep(Duration::from_micros(20));
    if left == 0 {
        tenon::log::info!("{name} did not end in a storm with {gap} ns between interrupts");
    }
    Ok((answer?, left > 0))
}

/// Life of a VM, each step of it during a storm.
fn life(gap: u64) -> Outcome {
    let (vm, mut good) = within(gap, "create", || {
        let blueprint = tenon_vm::Blueprint::new("one", guest::MEMORY, &[2, 3]);
        Vm::create(&blueprint)
    })?;
    good &= Life::of(vm) == Some(Life::Created);
    good &= within(gap, "load", || guest::load(vm))?.1;
    let steps = [
        ("start", Act::Start, Life::Running),
        ("pause", Act::Pause, Life::Paused),
        ("resume", Act::Resume, Life::Running),
        ("restart", Act::Restart, Life::Created),
        ("destroy", Act::Destroy, Life::Gone),
    ];
    for (name, act, then) in steps {
        good &= within(gap, name, || act.call(vm))?.1;
        good &= Life::of(vm) == Some(then) && then.is_kept(vm)?;
    }
    let (job, made) = within(gap, "instantiate", || Vm::instantiate("job"))?;
    good &= made && Life::of(job) == Some(Life::Running) && Life::Running.is_kept(job)?;
    good &= within(gap, "statistics", || job.statistics())?.1;
    good &= within(gap, "restart of a template's", || job.restart())?.1;
    good &= Life::Running.is_kept(job)?;
    good &= within(gap, "destroy of a template's", || job.destroy())?.1;
    Ok(good && Life::of(job) == Some(Life::Gone))
}

pub(crate) fn calls() -> Outcome {
    if STORMER.is_free() {
        // Higher priority than the main thread on the same core.
        let thread = STORMER.spawn_on(0, "storm", Priority::HIGHEST, interrupts);
        if thread.is_err() {
            return Ok(false);
        }
    }
    let mut good = true;
    for gap in GAPS {
        good &= life(gap)?;
    }
    Ok(good)
}
