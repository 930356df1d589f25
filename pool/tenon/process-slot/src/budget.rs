//! Budgets of threads with [`Reservations`], which a thread of their own enforces.
//!
//! A thread whose budget is depleted leaves EL0 and waits for its next period; what it does in the
//! kernel until then has the lowest priority of processes. Threads with budgets have priorities of the
//! kernel by their deadlines.

use crate::deadline::Service;
use crate::slot::slots;
use core::sync::atomic::{AtomicUsize, Ordering};
use tenon_reservation::{Parameters, Reservations};
use tenon_schedule::Reservation;
use tenon_sync::Mutex;
use tenon_thread::options;
use tenon_thread::thread::{Priority, Storage};
use tenon_thread::time::Instant;

/// Threads with reservations at most.
const MOST: usize = 64;
/// The least time in nanoseconds from the end of a look at budgets to the next one: what a thread
/// exceeds by it is missing in its next period.
const LEAST: u64 = 5_000;

static TABLE: Mutex<Reservations<MOST>> = Mutex::new(Reservations::new());
/// How many there are.
static COUNT: AtomicUsize = AtomicUsize::new(0);
static SERVICE: Storage<4096> = Storage::new();

/// The priorities of the kernel for processes: the lowest one, and that of services.
fn priorities() -> (u8, u8) {
    let lowest = options::process_priority();
    let highest = options::process_realtime_priority().max(lowest);
    (lowest as u8, highest as u8)
}

/// The priority of a thread with a reservation, by its rank; that of fair policies without a rank.
fn level(rank: Option<usize>) -> u8 {
    let (lowest, highest) = priorities();
    let rank = rank.map(|rank| u8::try_from(rank).unwrap_or(u8::MAX));
    let level = rank.map(|rank| highest.saturating_sub(1).saturating_sub(rank));
    level.map_or(lowest, |level| level.max(lowest))
}

/// The lowest level that reservations have, above those of real-time priorities.
pub(crate) fn lowest_level() -> u8 {
    let (lowest, highest) = priorities();
    let count = u8::try_from(COUNT.load(Ordering::Relaxed)).unwrap_or(u8::MAX);
    highest
        .saturating_sub(count)
        .max(lowest.saturating_add(2).min(highest))
}

/// The level of what inherits from a reservation.
pub(crate) fn highest_level() -> u8 {
    level(Some(0))
}

/// The execution time of the thread at a place.
fn executed(place: usize) -> u64 {
    slots()
        .get(place)
        .map_or(0, |slot| crate::nanoseconds(slot.space.time()))
}

/// Calls `action` with the table and the time, once all that was executed is accounted, and has the
/// kernel do what follows from it.
fn with<R>(action: impl FnOnce(&mut Reservations<MOST>, u64) -> R) -> R {
    let mut table = TABLE.lock().expect("a thread ended with the budgets");
    for slot in slots()
        .iter()
        .enumerate()
        .filter(|(_, slot)| slot.is_reserved())
    {
        table.account(slot.0, executed(slot.0));
    }
    let now = Instant::now().nanoseconds();
    let result = action(&mut table, now);
    table.update(now);
    COUNT.store(table.count(), Ordering::Relaxed);
    for (place, rank) in table.ranks() {
        let Some(slot) = slots().get(place) else {
            continue;
        };
        slot.set_level(level(rank));
        if rank.is_none() || table.has_overrun(place) {
            slot.attend();
        }
    }
    // A budget may be depleted then, or a period begins. From the end of this look, which may take
    // longer than the least time.
    let next = table.next_update(now);
    Service::Budgets.wake_at(
        next.map(|next| Instant::from_nanoseconds(next.max(Instant::now().nanoseconds() + LEAST))),
    );
    result
}

/// Gives the thread at a place a reservation. Returns whether it is admitted.
pub(crate) fn begin(place: usize, wanted: &Reservation) -> bool {
    if SERVICE.is_free() {
        let priority = Priority::new(priorities().1);
        // Another thread may have started it since.
        let _ = SERVICE.spawn("budgets", priority, || {
            loop {
                Service::Budgets.wait();
                with(|_, _| ());
            }
        });
    }
    let parameters = Parameters {
        budget: wanted.runtime,
        deadline: wanted.deadline,
        period: wanted.effective_period(),
    };
    with(|table, now| {
        let admitted = table.set(place, parameters, now, executed(place));
        if admitted && let Some(slot) = slots().get(place) {
            slot.set_reserved(true);
        }
        admitted
    })
}

/// Ends the reservation of the thread at a place, if it has one. Returns whether it had.
pub(crate) fn end(place: usize) -> bool {
    let reserved = slots().get(place).filter(|slot| slot.is_reserved());
    let Some(slot) = reserved else { return false };
    slot.set_reserved(false);
    with(|table, _| table.remove(place));
    true
}

/// The thread at a place waits for something else.
pub(crate) fn block(place: usize) {
    with(|table, _| table.block(place));
}

/// The thread at a place has waited.
pub(crate) fn wake(place: usize) {
    with(|table, now| table.wake(place, now));
}

/// The thread at a place needs no more of its budget in this period.
pub(crate) fn give_up(place: usize) {
    with(|table, now| table.give_up(place, now));
}

/// The instant up to which the thread at a place has no budget.
pub(crate) fn throttled_until(place: usize) -> Option<u64> {
    with(|table, _| table.throttled_until(place))
}

/// Whether the budget of the thread at a place was depleted since the last call.
pub(crate) fn take_overrun(place: usize) -> bool {
    with(|table, _| table.take_overrun(place))
}
