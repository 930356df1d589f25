//! The judge, vCPU 0, which orders the attacks and reports their outcomes.
//!
//! It is independent of what an attack can damage: its interrupts are masked, it waits by polling the
//! counter, and its state is in memory that a restart keeps.

use crate::attack::{Attack, Expect, Trial, attack};
use crate::ledger::{Ledger, Phase, Progress};
use crate::machine;
use core::fmt;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use core_statistics::StatusPage;
use hw_arch::firmware::{Call, Hvc};
use mortise_sysregs::TABLE;
use tenon::environment;
use tenon::log::{error, info};
use tenon::time::Instant;

const CONSOLE_KICK: u32 = 0xc600_0000;
const SYSTEM_RESET: u32 = 0x8400_0009;

/// Order for the culprit: a ticket number, written last, and the trial.
static TICKET: AtomicU32 = AtomicU32::new(0);
static NUMBER: AtomicU32 = AtomicU32::new(0);
static CASE: AtomicU32 = AtomicU32::new(0);
static SEED: AtomicU64 = AtomicU64::new(0);
/// The last completed ticket, and how its code ended.
static DONE: AtomicU32 = AtomicU32::new(0);
static RETURNED: AtomicU32 = AtomicU32::new(0);
static CAUGHT: AtomicU32 = AtomicU32::new(0);
static BROKEN: AtomicU32 = AtomicU32::new(0);

/// Outcome of a trial.
#[derive(Debug)]
enum Outcome<'a> {
    /// It ended by itself: numbers of pieces of code that returned, and that ended in an exception.
    Contained(u32, u32),
    /// It ended by itself, with these deviations of this register.
    Broken(&'static str, u32),
    /// Mortise stopped the VM with this reason.
    Stopped(&'a str),
    /// It was ended by a restart.
    CalledBack,
    /// It restarted this VM.
    Restarted,
}

impl Outcome<'_> {
    fn meets(&self, expect: Expect) -> bool {
        match (expect, self) {
            (_, Self::Broken(..)) => false,
            (Expect::Any, _)
            | (Expect::Contained, Self::Contained(..))
            | (Expect::Endless, Self::CalledBack)
            | (Expect::Restarted, Self::Restarted) => true,
            (Expect::Stopped(how), Self::Stopped(reason)) => reason.starts_with(how),
            _ => false,
        }
    }
}

impl fmt::Display for Outcome<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Contained(returned, caught) => {
                write!(f, "contained: {returned} returned, {caught} caught")
            }
            Self::Broken(name, what) => {
                write!(f, "contained: {name} is not as the table says ({what:#x})")
            }
            Self::Stopped(reason) => write!(f, "stopped: {reason}"),
            Self::CalledBack => f.write_str("contained: called back from an endless run"),
            Self::Restarted => f.write_str("contained: restarted itself"),
        }
    }
}

/// Prints a line synchronously, as the next step may end this life.
macro_rules! say {
    ($log:ident, $($text:tt)*) => {{
        $log!($($text)*);
        let _ = Hvc::call64(CONSOLE_KICK, [0; 17]);
    }};
}

/// Runs all attacks, round after round.
pub fn judge(ledger: &Ledger) -> ! {
    let mut progress = ledger.read().unwrap_or(Progress::START);
    match progress.phase {
        Phase::Idle => say!(info, "round {} begins", progress.round),
        Phase::CalledBack => conclude(&mut progress, ledger, &Outcome::CalledBack),
        Phase::Trying => after_restart(&mut progress, ledger),
    }
    if let Err(error) = machine::start(culprit) {
        say!(error, "UNEXPECTED: vCPU 1 does not start: {error:?}");
    }
    loop {
        match attack(progress.attack as usize) {
            Some(attack) => {
                progress.phase = Phase::Trying;
                note_past(&mut progress);
                ledger.write(progress);
                let outcome = order(&progress, attack);
                match outcome {
                    Some(outcome) => conclude(&mut progress, ledger, &outcome),
                    None => call_back(&mut progress, ledger),
                }
            }
            None => next_round(&mut progress, ledger),
        }
    }
}

/// Number of restarts of this VM, and a digest of its last fault.
fn past(page: &StatusPage) -> (u64, u64) {
    let fault = &page.fault;
    let digest = [fault.esr, fault.far, fault.hpfar, fault.elr, fault.spsr]
        .iter()
        .chain(&page.x)
        .fold(0u64, |sum, value| sum.rotate_left(5).wrapping_add(*value));
    (page.restarts.into(), digest)
}

/// Records both before an attack. Never inlined: the page is copied to the stack.
#[inline(never)]
fn note_past(progress: &mut Progress) {
    if let Some(status) = environment::status() {
        (progress.restarts, progress.fault) = past(&status.snapshot());
    }
}

/// Reports what ended the previous life.
#[inline(never)]
fn after_restart(progress: &mut Progress, ledger: &Ledger) {
    let Some(status) = environment::status() else {
        return;
    };
    let page = status.snapshot();
    let (restarts, fault) = past(&page);
    if restarts != progress.restarts + 1 {
        say!(error, "UNEXPECTED: {restarts} restarts");
    }
    let outcome = if fault == progress.fault {
        Outcome::Restarted
    } else {
        Outcome::Stopped(page.reason_text())
    };
    conclude(progress, ledger, &outcome);
}

/// Has the culprit run a case; returns its outcome, or `None` after the time-out.
fn order(progress: &Progress, attack: &Attack) -> Option<Outcome<'static>> {
    let Progress {
        round,
        attack: number,
        case,
        ..
    } = *progress;
    NUMBER.store(number as u32, Ordering::Relaxed);
    CASE.store(case as u32, Ordering::Relaxed);
    SEED.store(round << 32 | number << 16 | case, Ordering::Relaxed);
    let ticket = TICKET.load(Ordering::Relaxed) + 1;
    TICKET.store(ticket, Ordering::Release);
    let end = Instant::now() + attack.expect.patience();
    while DONE.load(Ordering::Acquire) != ticket {
        if Instant::now() > end {
            return None;
        }
        machine::pause();
    }
    let broken = BROKEN.load(Ordering::Relaxed);
    if broken != 0 {
        let row = TABLE.get(case as usize);
        return Some(Outcome::Broken(row.map_or("", |row| row.name), broken));
    }
    Some(Outcome::Contained(
        RETURNED.load(Ordering::Relaxed),
        CAUGHT.load(Ordering::Relaxed),
    ))
}

/// Restarts the VM, which regains its cores.
fn call_back(progress: &mut Progress, ledger: &Ledger) {
    progress.phase = Phase::CalledBack;
    ledger.write(*progress);
    let _ = Hvc::call32(SYSTEM_RESET, [0; 7]);
    say!(error, "UNEXPECTED: a restart was refused");
}

/// Reports the outcome of a case and advances to the next.
fn conclude(progress: &mut Progress, ledger: &Ledger, outcome: &Outcome<'_>) {
    let Some(attack) = attack(progress.attack as usize) else {
        return;
    };
    let (name, case) = (attack.name, progress.case);
    if outcome.meets(attack.expect) {
        say!(info, "{name} {case} {outcome}");
    } else {
        progress.unexpected += 1;
        say!(error, "UNEXPECTED {name} {case} {outcome}");
    }
    match outcome {
        Outcome::Contained(..) | Outcome::Broken(..) => progress.contained += 1,
        Outcome::Stopped(_) => progress.stopped += 1,
        Outcome::CalledBack | Outcome::Restarted => progress.restarted += 1,
    }
    progress.phase = Phase::Idle;
    progress.case += 1;
    if progress.case >= u64::from(attack.cases) {
        (progress.attack, progress.case) = (progress.attack + 1, 0);
    }
    ledger.write(*progress);
}

/// Reports the totals of a round and starts the next one with other random numbers.
fn next_round(progress: &mut Progress, ledger: &Ledger) {
    let Progress {
        round,
        contained,
        stopped,
        restarted,
        unexpected,
        ..
    } = *progress;
    say!(
        info,
        "round {round} ends: {stopped} stopped, {contained} contained, {restarted} called back, \
         {unexpected} unexpected"
    );
    *progress = Progress {
        round: round + 1,
        unexpected,
        ..Progress::START
    };
    ledger.write(*progress);
}

/// Body of vCPU 1: runs the ordered trials.
extern "C" fn culprit() -> ! {
    loop {
        let ticket = TICKET.load(Ordering::Acquire);
        if ticket == DONE.load(Ordering::Relaxed) {
            machine::pause();
            continue;
        }
        let case = CASE.load(Ordering::Relaxed);
        let mut trial = Trial::new(case, SEED.load(Ordering::Relaxed));
        if let Some(attack) = attack(NUMBER.load(Ordering::Relaxed) as usize) {
            (attack.run)(&mut trial);
        }
        RETURNED.store(trial.done, Ordering::Relaxed);
        CAUGHT.store(trial.caught, Ordering::Relaxed);
        BROKEN.store(trial.broken, Ordering::Relaxed);
        DONE.store(ticket, Ordering::Release);
    }
}
