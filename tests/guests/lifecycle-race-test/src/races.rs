//! Two concurrent calls about one VM from two cores.

use crate::Outcome;
use crate::guest;
use crate::model::{Act, Life, Meeting};
use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use tenon::sync::Semaphore;
use tenon::thread::{Priority, Storage};
use tenon::time::{Duration, Instant};
use tenon_vm::{Error, Listed, State, Vm};

/// Priority of VMs from image files.
const PRIORITY: u8 = 20;
/// Offsets between the calls: from zero to longer than most calls.
const APART: [u64; 4] = [0, 400, 3_000, 40_000];
/// Delay from setup to the first call.
const READY: Duration = Duration::from_micros(20);

static RIVAL: Storage<8192> = Storage::new();
static READ: Semaphore = Semaphore::new(0);
static DONE: Semaphore = Semaphore::new(0);
/// Request to the other core: operation, VM and time.
static ACT: AtomicUsize = AtomicUsize::new(0);
static ABOUT: AtomicU64 = AtomicU64::new(0);
static WHEN: AtomicU64 = AtomicU64::new(0);
/// Its result: 0, or the index of an error in this list, from 1.
static ANSWER: AtomicUsize = AtomicUsize::new(0);
const ERRORS: [Error; 3] = [Error::Busy, Error::NotFound, Error::Denied];

/// Thread on the other core.
fn rival() {
    loop {
        READ.take();
        let act = Act::ALL[ACT.load(Ordering::Acquire) % Act::ALL.len()];
        let vm = Vm::from_handle(ABOUT.load(Ordering::Acquire));
        wait_until(WHEN.load(Ordering::Acquire));
        let answer = match act.call(vm) {
            Ok(()) => 0,
            Err(error) => {
                let place = ERRORS.iter().position(|known| *known == error);
                place.map_or(ERRORS.len() + 1, |place| place + 1)
            }
        };
        ANSWER.store(answer, Ordering::Release);
        let _ = DONE.give();
    }
}

fn wait_until(nanoseconds: u64) {
    while Instant::now().nanoseconds() < nanoseconds {
        hw_arch::cpu::relax();
    }
}

/// Makes two calls, the second with this offset.
fn meet(
    vm: Vm,
    from: Life,
    anew: bool,
    acts: [Act; 2],
    apart: u64,
    first: bool,
) -> Result<Meeting, Error> {
    if RIVAL.is_free() {
        let thread = RIVAL.spawn_on(1, "rival", Priority::new(20), rival);
        if thread.is_err() {
            return Err(Error::NoMemory);
        }
    }
    let at = Instant::now().nanoseconds() + READY.as_nanos() as u64;
    let (own, other) = if first {
        (at, at + apart)
    } else {
        (at + apart, at)
    };
    ACT.store(acts[1].number(), Ordering::Release);
    ABOUT.store(vm.handle(), Ordering::Release);
    WHEN.store(other, Ordering::Release);
    let _ = READ.give();
    wait_until(own);
    let answer = acts[0].call(vm);
    DONE.take();
    let answers = [
        answer,
        match ANSWER.load(Ordering::Acquire) {
            0 => Ok(()),
            place => Err(ERRORS.get(place - 1).copied().unwrap_or(Error::Invalid)),
        },
    ];
    Ok(Meeting {
        acts,
        answers,
        from,
        anew,
    })
}

/// Runs all pairs of operations in all states and orders, on VMs that `make` brings to a state and
/// `leave` cleans up.
fn try_all(
    acts: &[Act],
    lives: &[Life],
    anew: bool,
    make: fn(Life) -> Result<Vm, Error>,
    leave: fn(Vm) -> Result<(), Error>,
) -> Outcome {
    let mut good = true;
    for &from in lives {
        for &own in acts {
            for &other in acts.iter().filter(|act| act.number() >= own.number()) {
                for (turn, apart) in APART.into_iter().enumerate() {
                    let vm = make(from)?;
                    let met = meet(vm, from, anew, [own, other], apart, turn % 2 == 0)?;
                    let life = Life::of(vm);
                    let kept = life.map_or(Ok(false), |life| life.is_kept(vm))?;
                    if !kept || !life.is_some_and(|life| met.leads_to(life)) {
                        tenon::log::info!(
                            "{own:?} and {other:?} of {from:?}, {apart} ns apart: {:?}, {life:?}, kept: {kept}",
                            met.answers
                        );
                        good = false;
                    }
                    if life != Some(Life::Gone) {
                        leave(vm)?;
                    }
                }
            }
        }
    }
    Ok(good)
}

const LIVES: [Life; 3] = [Life::Created, Life::Running, Life::Paused];

fn taken_to(vm: Vm, life: Life) -> Result<Vm, Error> {
    if life == Life::Paused {
        vm.pause()?;
    }
    Ok(vm)
}

pub(crate) fn of_files() -> Outcome {
    let make = |life| match life {
        Life::Created => guest::created("one", PRIORITY),
        _ => taken_to(guest::running("one", PRIORITY)?, life),
    };
    try_all(&Act::ALL, &LIVES, false, make, |vm| vm.destroy())
}

pub(crate) fn of_templates() -> Outcome {
    let acts = [Act::Restart, Act::Resume, Act::Destroy];
    let make = |life| taken_to(Vm::instantiate("job")?, life);
    try_all(&acts, &LIVES[1..], true, make, |vm| vm.destroy())
}

/// The VM of the manifest.
pub(crate) fn resident() -> Result<Vm, Error> {
    let mut slot = 0;
    loop {
        match Listed::at(slot)? {
            Some(listed)
                if matches!(
                    listed.state,
                    State::Starting | State::Running | State::Paused
                ) =>
            {
                return Ok(listed.vm);
            }
            _ => slot += 1,
        }
    }
}

pub(crate) fn of_residents() -> Outcome {
    let acts = [Act::Pause, Act::Resume, Act::Restart];
    let make = |life| {
        let vm = resident()?;
        if Life::of(vm) == Some(Life::Paused) {
            vm.resume()?;
        }
        taken_to(vm, life)
    };
    let met = try_all(&acts, &LIVES[1..], true, make, |_| Ok(()))?;
    // At the end it is destroyed while another restart is prepared.
    let vm = resident()?;
    vm.restart()?;
    vm.destroy()?;
    Ok(met && vm.statistics() == Err(Error::NotFound))
}
