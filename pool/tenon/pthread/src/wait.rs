//! Waits that a signal or a cancel cuts short.
//!
//! A thread that is to see to something, a cancel or a signal, is *notified*: its flag is set, and a
//! wait that may be interrupted ends early. Every cancellation point calls [`attend`] before it
//! waits, and after a wait that was [`Cut::Interrupted`]. Between the two the flag cannot be missed:
//! [`interruptible`] reads it with interrupts masked.

use crate::exit::act;
use crate::table::{Interruptible, Slot, current};
use core::cell::Cell;
use tenon_thread::time::Instant;
use tenon_thread::wait::{Guarded, WaitQueue, WaitValue, Waiting, Waking};

/// Why a wait ended before its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// The time was over.
    TimedOut,
    /// There is something to [`attend`] to.
    Interrupted,
}

/// What a thread saw to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Attended {
    /// Nothing that concerns who waits.
    Nothing,
    /// Handlers of signals ran, after all of which a wait goes on (`SA_RESTART`), if it is one that
    /// does.
    Restart,
    /// Handlers of signals ran, and the wait is over: `EINTR`.
    Interrupt,
}

/// What runs handlers of signals.
type Handlers = Cell<Option<fn() -> Attended>>;

static SIGNALS: Guarded<Handlers> = Guarded::new(Cell::new(None));

/// Waits in a queue of an object for its turn, at the latest until `deadline`, and not if there is
/// something to attend to.
pub fn interruptible<T>(
    waiting: &Waiting<T>,
    queue: impl for<'a> FnOnce(&'a T) -> &'a WaitQueue,
    deadline: Option<Instant>,
) -> Result<(), Cut> {
    exchange(waiting, queue, deadline, core::ptr::null()).map(|_| ())
}

/// As [`interruptible`], with a word for whoever gives the turn; returns what became of it.
pub fn exchange<T>(
    waiting: &Waiting<T>,
    queue: impl for<'a> FnOnce(&'a T) -> &'a WaitQueue,
    deadline: Option<Instant>,
    note: WaitValue,
) -> Result<WaitValue, Cut> {
    let slot = current();
    if slot.attention.get() {
        return Err(Cut::Interrupted);
    }
    slot.interruptible.set(Interruptible::ForGood);
    let woken = waiting.wait_with(queue, deadline, note);
    slot.interruptible.set(Interruptible::Not);
    woken.map_err(|_| {
        if slot.attention.get() {
            Cut::Interrupted
        } else {
            Cut::TimedOut
        }
    })
}

/// Calls `wait`, which waits and may be cut short, with what it must ask, once interrupts are masked,
/// whether it shall not wait at all. Returns its result, and whether there is something to attend
/// to.
pub fn that_may_end<R>(wait: impl FnOnce(fn() -> bool) -> R) -> (R, bool) {
    let slot = current();
    slot.interruptible.set(Interruptible::ForGood);
    let result = wait(|| current().attention.get());
    slot.interruptible.set(Interruptible::Not);
    (result, slot.attention.get())
}

/// As [`that_may_end`], of a wait for a lock: after [`attend_in_a_lock`] it is to go on.
pub fn for_a_lock<R>(wait: impl FnOnce(fn() -> bool) -> R) -> (R, bool) {
    let slot = current();
    slot.interruptible.set(Interruptible::ForAWhile);
    let result = wait(|| current().urgent.get());
    slot.interruptible.set(Interruptible::Not);
    (result, slot.urgent.get())
}

/// Waits for a lock in a queue of an object; after [`Cut::Interrupted`] and [`attend_in_a_lock`] it
/// is to go on.
pub fn in_a_lock<T>(
    waiting: &Waiting<T>,
    queue: impl for<'a> FnOnce(&'a T) -> &'a WaitQueue,
    deadline: Option<Instant>,
) -> Result<(), Cut> {
    let (woken, interrupted) = for_a_lock(|over| {
        if over() {
            return Err(Cut::Interrupted);
        }
        waiting.wait(queue, deadline).map_err(|_| Cut::TimedOut)
    });
    woken.map_err(|cut| if interrupted { Cut::Interrupted } else { cut })
}

/// Sees to signals, and to a cancel that may come at any time, and leaves any other cancel for the
/// next cancellation point.
pub fn attend_in_a_lock() {
    let slot = current();
    if slot.urgent.replace(false) {
        if slot.cancel.is_due_anywhere() {
            act();
        }
        run_handlers();
    }
}

fn run_handlers() -> Attended {
    let run = SIGNALS.masked(|signals, _| signals.get());
    run.map_or(Attended::Nothing, |run| run())
}

/// Sees to what the calling thread was notified of: a cancel ends it, then handlers of signals run.
/// To be called outside of any object.
pub fn attend() -> Attended {
    let slot = current();
    if !slot.attention.replace(false) {
        return Attended::Nothing;
    }
    if slot.cancel.is_due() {
        act();
    }
    slot.urgent.set(false);
    run_handlers()
}

/// Has `run` called by every thread that attends to something: it runs the handlers of the calling
/// thread's pending signals.
pub fn set_signal_hook(run: fn() -> Attended) {
    SIGNALS.masked(|signals, _| signals.set(Some(run)));
}

/// As [`Slot::rouse`], and a preempted thread attends as soon as it runs. To be called behind `LOCK`.
pub fn interrupt(slot: &Slot, waking: &Waking) {
    slot.rouse(waking);
    if let Some(thread) = slot.thread.get() {
        thread.inject_call(waking, attend_in_place);
    }
}

/// What a thread does that was preempted: no cancellation point.
fn attend_in_place() {
    // The call it was preempted in may have said that its wait may be cut short: so are no waits of
    // the handlers, and that one is again after them.
    let slot = current();
    let was = slot.interruptible.replace(Interruptible::Not);
    attend_in_a_lock();
    slot.interruptible.set(was);
    // That call is still to hear of what was no signal: of a step of the clock.
    slot.urgent.set(true);
}

/// Waits alone, until `deadline` or for good, unless there is something to attend to.
pub fn pause(deadline: Option<Instant>) -> Cut {
    let slot = current();
    let cut = slot
        .alone
        .waiting(|_, waiting| interruptible(waiting, |queue| queue, deadline));
    cut.err().unwrap_or(Cut::Interrupted)
}
