//! Generation and delivery of signals (POSIX.1-2017, 2.4.1).

use crate::pending::{Pending, QueuedSignal, Set, SigInfo};
use crate::signal::action::{self, Action, Outcome};
use crate::table::{LOCK, slots};
use crate::wait::{self, Effect};
use crate::{Slot, current};
use tenon_libc::errno::Errno;
use tenon_libc::process;
use tenon_thread::wait::Waking;

/// A signal to send.
#[derive(Clone, Copy)]
pub enum Sent {
    /// Without a value.
    Plain(u32),
    /// With its information, queued.
    Queued(&'static QueuedSignal),
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

// SAFETY: accessed with `LOCK` held.
unsafe impl Sync for Program {}

static PROGRAM: Program = Program(Pending::new());

/// Signals pending for the program. The caller holds `LOCK`.
pub(crate) fn program() -> &'static Pending {
    &PROGRAM.0
}

/// Sends a signal to a thread, or to the program, where any thread that does not block it receives
/// it. The caller holds `LOCK` through `waking`.
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
    receiver.inspect(|slot| wake_receiver(waking, slot, bit));
}

/// The receiver of a signal to the program: a thread that waits for it, else the calling thread,
/// else any thread that does not block it.
fn find(bit: Set) -> Option<&'static Slot> {
    let open = |slot: &&'static Slot| slot.signals.blocked.get() & bit == 0;
    let accepts = |slot: &&'static Slot| slot.signals.accepted.get() & bit != 0;
    let alive = || slots().iter().filter(|slot| slot.thread().is_some());
    alive()
        .find(accepts)
        .or_else(|| Some(current()).filter(open))
        .or_else(|| alive().find(open))
}

/// Notifies a thread that waits for a signal or does not block it.
fn wake_receiver(waking: &Waking, slot: &'static Slot, bit: Set) {
    if slot.signals.accepted.get() & bit != 0 {
        slot.notify(waking);
    } else if slot.signals.blocked.get() & bit == 0 {
        wait::interrupt(slot, waking);
    }
}

/// Changes the signal mask of the calling thread; returns the former one. Signals that become
/// unblocked are delivered before this returns; those that become blocked are redirected to other
/// threads.
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
            find(bit).inspect(|slot| wake_receiver(waking, slot, bit));
        }
        old
    });
    crate::wait::act_on_pending();
    old
}

/// Takes a pending signal of the calling thread or of the program. The caller holds `LOCK`.
pub(crate) fn take(among: Set) -> Option<SigInfo> {
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

/// Delivers all signals that the calling thread does not block.
pub(crate) fn handle() -> Effect {
    let mut attended = Effect::None;
    let errno = Errno::last();
    while let Some((action, mut information, blocked)) = LOCK.masked(|(), _| next()) {
        match action.outcome(information.signal as u32) {
            Outcome::Ignored | Outcome::Stopped => continue,
            Outcome::Terminated => terminate(information.signal),
            Outcome::Handled => {}
        }
        attended = attended.max(if action.restarts() {
            Effect::Restart
        } else {
            Effect::Interrupt
        });
        // SAFETY: the outcome is `Handled`, and the thread's mask is that of the action.
        unsafe { action.run(&mut information) };
        LOCK.masked(|(), _| {
            let signals = &current().signals;
            signals.blocked.set(blocked);
            // Set after the handler, which may itself have waited for other handlers.
            signals.handled.set(true);
        });
    }
    errno.raise();
    attended
}

/// The next signal for the calling thread, its action, and the thread's mask from before the
/// handler.
fn next() -> Option<(Action, SigInfo, Set)> {
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

/// Terminates the program with the status by which a parent recognises a signal.
fn terminate(signal: i32) -> ! {
    core_log::error!("terminated by signal {signal}");
    process::_exit(128 + signal)
}
