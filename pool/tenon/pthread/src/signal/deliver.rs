//! From a signal to the thread it is for.

use crate::pending::{Entry, Information, Pending, Set};
use crate::signal::action::{self, Action, Outcome};
use crate::table::{LOCK, slots};
use crate::wait::{self, Attended};
use crate::{Slot, current};
use tenon_libc::errno::Errno;
use tenon_libc::process;
use tenon_thread::wait::Waking;

/// A signal to be sent.
#[derive(Clone, Copy)]
pub enum Sent {
    /// One that carries nothing.
    Plain(u32),
    /// One that does.
    Queued(&'static Entry),
}

impl Sent {
    fn signal(self) -> u32 {
        match self {
            Self::Plain(signal) => signal,
            Self::Queued(entry) => entry.information().signal as u32,
        }
    }
}

struct Program(Pending);

// SAFETY: touched behind `LOCK`.
unsafe impl Sync for Program {}

static PROGRAM: Program = Program(Pending::new());

/// What is pending for the program. To be touched behind `LOCK`.
pub(crate) fn program() -> &'static Pending {
    &PROGRAM.0
}

/// Sends a signal to a thread, or to the program, whichever thread of it does not block it. To be
/// called behind `LOCK`, which is `waking`'s.
pub fn post(waking: &Waking, to: Option<&'static Slot>, sent: Sent) {
    let signal = sent.signal();
    let bit = 1 << signal;
    let receiver = to.map_or_else(|| find(bit), Some);
    let wanted = receiver.is_some_and(|slot| slot.signals.accepted.get() & bit != 0);
    let kept = to.is_some_and(|slot| slot.signals.blocked.get() & bit != 0) || receiver.is_none();
    if action::of(signal).outcome(signal) == Outcome::Ignored && !wanted && !kept {
        if let Sent::Queued(entry) = sent {
            entry.release();
        }
        return;
    }
    let pending = to.map_or(program(), |slot| &slot.signals.pending);
    match sent {
        Sent::Plain(signal) => pending.add(signal),
        Sent::Queued(entry) => pending.queue(entry),
    }
    receiver.inspect(|slot| rouse(waking, slot, bit));
}

/// The thread for a signal of the program's: one that waits for it, or the calling one, or any that
/// does not block it.
fn find(bit: Set) -> Option<&'static Slot> {
    let open = |slot: &&'static Slot| slot.signals.blocked.get() & bit == 0;
    let accepts = |slot: &&'static Slot| slot.signals.accepted.get() & bit != 0;
    let alive = || slots().iter().filter(|slot| slot.thread().is_some());
    alive()
        .find(accepts)
        .or_else(|| Some(current()).filter(open))
        .or_else(|| alive().find(open))
}

/// Lets a thread see to a signal that it waits for or does not block.
fn rouse(waking: &Waking, slot: &'static Slot, bit: Set) {
    if slot.signals.accepted.get() & bit != 0 {
        slot.notify(waking);
    } else if slot.signals.blocked.get() & bit == 0 {
        wait::interrupt(slot, waking);
    }
}

/// Changes what the calling thread blocks; returns what it did before. What is let in by that is
/// seen to when this returns; what is kept out goes to others.
pub(crate) fn block(change: impl FnOnce(Set) -> Set) -> Set {
    let old = LOCK.waking(|(), waking| {
        let slot = current();
        let old = slot.signals.blocked.get();
        let new = change(old) & !crate::signal::set::UNBLOCKABLE;
        slot.signals.blocked.set(new);
        let pending = slot.signals.pending.set() | program().set();
        if pending & !new != 0 {
            slot.notify(waking);
        }
        let mut others = program().set() & new & !old;
        while others != 0 {
            let bit = others & others.wrapping_neg();
            others &= !bit;
            find(bit).inspect(|slot| rouse(waking, slot, bit));
        }
        old
    });
    crate::wait::attend();
    old
}

/// Takes a pending signal of the calling thread's or the program's. To be called behind `LOCK`.
pub(crate) fn take(among: Set) -> Option<Information> {
    let own = &current().signals.pending;
    let pending = if lowest(own.set() & among) <= lowest(program().set() & among) {
        own
    } else {
        program()
    };
    pending.take(among)
}

fn lowest(set: Set) -> u32 {
    set.trailing_zeros()
}

/// Sees to all signals that the calling thread does not block.
pub(crate) fn handle() -> Attended {
    let mut attended = Attended::Nothing;
    let errno = Errno::last();
    while let Some((action, mut information, blocked)) = LOCK.masked(|(), _| next()) {
        match action.outcome(information.signal as u32) {
            Outcome::Ignored | Outcome::Stopped => continue,
            Outcome::Terminated => terminate(information.signal),
            Outcome::Handled => {}
        }
        attended = attended.max(if action.restarts() {
            Attended::Restart
        } else {
            Attended::Interrupt
        });
        // SAFETY: the action is a handler, and the thread blocks what it wants blocked.
        unsafe { action.run(&mut information) };
        LOCK.masked(|(), _| {
            let signals = &current().signals;
            signals.blocked.set(blocked);
            // Now, not before: the handler may have waited for others.
            signals.handled.set(true);
        });
    }
    errno.raise();
    attended
}

/// The next signal for the calling thread, what is to be done about it, and what the thread blocked
/// before: while a handler runs it blocks more.
fn next() -> Option<(Action, Information, Set)> {
    let slot = current();
    let blocked = slot.signals.blocked.get();
    let information = take(!blocked)?;
    let signal = information.signal as u32;
    let action = action::take(signal);
    if action.outcome(signal) == Outcome::Handled {
        slot.signals.blocked.set(action.blocked(blocked, signal));
    }
    Some((action, information, blocked))
}

/// Ends the program because of a signal, as its parent would see it.
fn terminate(signal: i32) -> ! {
    core_log::error!("terminated by signal {signal}");
    process::_exit(128 + signal)
}
