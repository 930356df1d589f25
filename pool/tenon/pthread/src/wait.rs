//! Waits that a signal or a cancellation request interrupts.
//!
//! A thread with a pending signal or cancellation request is *notified*: its flag is set, and an
//! interruptible wait ends early. Each cancellation point calls [`act_on_pending`] before its wait,
//! and after a wait that ended with [`WaitError::Interrupted`]. A notification in between is not
//! lost: [`interruptible`] reads the flag with interrupts masked.

use crate::exit::exit_cancelled;
use crate::table::{Interruptible, Slot, current};
use core::cell::Cell;
use tenon_thread::time::Instant;
use tenon_thread::wait::{Guarded, WaitQueue, WaitValue, Waiting, Waking};

/// Error of a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitError {
    /// The timeout expired.
    TimedOut,
    /// A signal or cancellation request is pending: see [`act_on_pending`].
    Interrupted,
}

/// What pending signals did to the calling thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    /// Nothing that concerns the wait.
    None,
    /// Handlers with `SA_RESTART` ran: the wait continues if it can be restarted.
    Restart,
    /// A handler ran, and the wait ends with `EINTR`.
    Interrupt,
}

/// Callback that runs the handlers of pending signals.
type Handlers = Cell<Option<fn() -> Effect>>;

static SIGNALS: Guarded<Handlers> = Guarded::new(Cell::new(None));

/// Blocks on a wait queue until it is woken or `deadline` expires; returns at once if something is
/// pending.
pub fn interruptible<T>(
    waiting: &Waiting<T>,
    queue: impl for<'a> FnOnce(&'a T) -> &'a WaitQueue,
    deadline: Option<Instant>,
) -> Result<(), WaitError> {
    exchange(waiting, queue, deadline, core::ptr::null()).map(|_| ())
}

/// As [`interruptible`], with a value passed to the thread that wakes this one; returns the value
/// received.
pub fn exchange<T>(
    waiting: &Waiting<T>,
    queue: impl for<'a> FnOnce(&'a T) -> &'a WaitQueue,
    deadline: Option<Instant>,
    note: WaitValue,
) -> Result<WaitValue, WaitError> {
    let slot = current();
    if slot.attention.get() {
        return Err(WaitError::Interrupted);
    }
    slot.interruptible.set(Interruptible::Full);
    let woken = waiting.wait_with(queue, deadline, note);
    slot.interruptible.set(Interruptible::No);
    woken.map_err(|_| {
        if slot.attention.get() {
            WaitError::Interrupted
        } else {
            WaitError::TimedOut
        }
    })
}

/// Runs `wait`, an interruptible wait, and passes it a predicate that it evaluates with interrupts
/// masked: whether to return without blocking. Returns the result, and whether something is
/// pending.
pub fn interruptible_by<R>(wait: impl FnOnce(fn() -> bool) -> R) -> (R, bool) {
    let slot = current();
    slot.interruptible.set(Interruptible::Full);
    let result = wait(|| current().attention.get());
    slot.interruptible.set(Interruptible::No);
    (result, slot.attention.get())
}

/// As [`interruptible_by`], for a wait on a lock: it is restarted after [`act_on_urgent`].
pub fn restartable_by<R>(wait: impl FnOnce(fn() -> bool) -> R) -> (R, bool) {
    let slot = current();
    slot.interruptible.set(Interruptible::Restartable);
    let result = wait(|| current().urgent.get());
    slot.interruptible.set(Interruptible::No);
    (result, slot.urgent.get())
}

/// Blocks on the wait queue of a lock. After [`WaitError::Interrupted`] and [`act_on_urgent`] the
/// wait is restarted.
pub fn restartable<T>(
    waiting: &Waiting<T>,
    queue: impl for<'a> FnOnce(&'a T) -> &'a WaitQueue,
    deadline: Option<Instant>,
) -> Result<(), WaitError> {
    let (woken, interrupted) = restartable_by(|over| {
        if over() {
            return Err(WaitError::Interrupted);
        }
        waiting
            .wait(queue, deadline)
            .map_err(|_| WaitError::TimedOut)
    });
    woken.map_err(|cut| {
        if interrupted {
            WaitError::Interrupted
        } else {
            cut
        }
    })
}

/// Runs signal handlers and acts on an asynchronous cancellation request; a deferred request stays
/// pending until the next cancellation point.
pub fn act_on_urgent() {
    let slot = current();
    if slot.urgent.replace(false) {
        if slot.cancel.is_due_anywhere() {
            exit_cancelled();
        }
        run_handlers();
    }
}

fn run_handlers() -> Effect {
    let run = SIGNALS.masked(|signals, _| signals.get());
    run.map_or(Effect::None, |run| run())
}

/// Acts on what is pending for the calling thread: a cancellation request terminates it, then
/// signal handlers run. The caller holds no object.
pub fn act_on_pending() -> Effect {
    let slot = current();
    if !slot.attention.replace(false) {
        return Effect::None;
    }
    if slot.cancel.is_due() {
        exit_cancelled();
    }
    slot.urgent.set(false);
    run_handlers()
}

/// Registers the callback that runs the handlers of the calling thread's pending signals.
pub fn set_signal_hook(run: fn() -> Effect) {
    SIGNALS.masked(|signals, _| signals.set(Some(run)));
}

/// As [`Slot::notify_urgent`]; a preempted thread acts as soon as it runs. The caller holds `LOCK`.
pub fn interrupt(slot: &Slot, waking: &Waking) {
    slot.notify_urgent(waking);
    if let Some(thread) = slot.thread.get() {
        thread.inject_call(waking, act_when_preempted);
    }
}

/// Acts on what is pending for a preempted thread, where no cancellation point is.
fn act_when_preempted() {
    // The preempted call may have declared its wait interruptible. Waits of the handlers are not,
    // and the declaration is restored after them.
    let slot = current();
    let was = slot.interruptible.replace(Interruptible::No);
    act_on_urgent();
    slot.interruptible.set(was);
    // The preempted call must also notice what is no signal: a step of the realtime clock.
    slot.urgent.set(true);
}

/// Blocks without an object until `deadline` expires, a notification comes, or at once if something
/// is pending.
pub fn pause(deadline: Option<Instant>) -> WaitError {
    let slot = current();
    let cut = slot
        .alone
        .waiting(|_, waiting| interruptible(waiting, |queue| queue, deadline));
    cut.err().unwrap_or(WaitError::Interrupted)
}
