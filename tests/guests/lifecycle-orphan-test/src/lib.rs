//! Test of life-cycle calls of which the caller ends before they are complete.
//!
//! The *maker* makes a VM in each period of a common clock, from a description and from a template in turn,
//! and destroys it. The *supervisor*, which has authority over the maker, restarts it again and again, each
//! time longer after the start of a period, and at last destroys it. Nothing that the maker began keeps memory or a slot: after each start it destroys the
//! VMs that were complete, and all of the reserve must be free.

#![no_std]
#![forbid(unsafe_code)]

use hw_arch::firmware::{Hvc, system_off};
use tenon::time::{self, Duration, Instant};
use tenon_vm::{Blueprint, Error, Listed, Totals, Vm};

/// Period of the maker's calls, longer than they take.
const BEAT: u64 = 4_000_000;
/// Periods after a restart until the next one: the maker runs again by then.
const PAUSE: u64 = 8;
/// Number of restarts of the maker in either kind of creation.
const ROUNDS: u64 = 22;
/// Restart in the first round, in ns from the start of the period.
const FIRST: u64 = 64;
/// Time before the start of a period at which the maker wakes up, in ns.
const AWAKE: u64 = 20_000;
/// Time within which what the maker left is cleaned up.
const PATIENCE_MS: u64 = 15;

/// Memory of the reserve, and of a VM.
const RESERVE: u64 = 4 << 20;
const MEMORY: u64 = 2 << 20;
const CPU: u8 = 2;
/// Priority of VMs, the highest that the maker may assign.
const PRIORITY: u8 = 20;

/// Main thread: the supervisor, if it has authority over a VM made at boot, else the maker.
pub fn main() {
    match boot_vm() {
        Some(maker) => {
            supervise(maker);
            // Mortise prints the output of the VM with a delay.
            time::sleep(Duration::from_millis(50));
            system_off::<Hvc>()
        }
        None => make(),
    }
}

/// Every VM over which the caller has authority.
fn listed() -> impl Iterator<Item = Listed> {
    let all = (0..).map(Listed::at);
    let known = all.take_while(|found| !matches!(found, Err(Error::NotFound)));
    known.filter_map(|found| found.ok().flatten())
}

/// The managed VM that was made at boot: it has more memory than the reserve has.
fn boot_vm() -> Option<Vm> {
    let found = listed().find(|listed| listed.memory > RESERVE);
    found.map(|listed| listed.vm)
}

/// Tells whether all of the reserve becomes free in time.
fn tell_whether_free() {
    for _ in 0..PATIENCE_MS {
        if Totals::read().map(|totals| totals.free) == Ok(RESERVE) {
            tenon::log::info!("free");
            return;
        }
        time::sleep(Duration::from_millis(1));
    }
    tenon::log::info!("FAILED: not all is free: {:?}", Totals::read());
}

/// Makes VMs and destroys them until the supervisor ends it.
fn make() {
    for left in listed() {
        let _being_destroyed = left.vm.destroy();
    }
    tell_whether_free();
    let mut beat = next_beat();
    loop {
        time::sleep_until(Instant::from_nanoseconds(beat * BEAT - AWAKE));
        while Instant::now().nanoseconds() < beat * BEAT {}
        let made = match beat % 2 {
            0 => Vm::create(&Blueprint::new("guest", MEMORY, &[CPU]).priority(PRIORITY)),
            _ => Vm::instantiate("job"),
        };
        if let Err(error) = made.and_then(|vm| vm.destroy()) {
            tenon::log::info!("FAILED: {error}");
        }
        beat = next_beat();
    }
}

/// The next period for which it wakes up in time.
fn next_beat() -> u64 {
    (Instant::now().nanoseconds() + AWAKE) / BEAT + 1
}

/// Restarts the maker, and at last destroys it.
fn supervise(maker: Vm) {
    for round in 0..2 * ROUNDS {
        sleep_into(round);
        if let Err(error) = maker.restart() {
            tenon::log::info!("FAILED: {error}");
        }
    }
    sleep_into(ROUNDS);
    if let Err(error) = maker.destroy() {
        tenon::log::info!("FAILED: {error}");
    }
    if maker.statistics() != Err(Error::NotFound) {
        tenon::log::info!("FAILED: the maker is still there");
    }
    tenon::log::info!("restarted {} times", 2 * ROUNDS);
}

/// Sleeps until a creation is in progress: longer after its start from round to round, by half.
fn sleep_into(round: u64) {
    let beat = (Instant::now().nanoseconds() / BEAT + PAUSE) / 2 * 2 + round % 2;
    let moment = (0..round / 2).fold(FIRST, |moment, _| moment * 3 / 2);
    time::sleep_until(Instant::from_nanoseconds(beat * BEAT + moment));
}
