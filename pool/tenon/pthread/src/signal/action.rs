//! What is to be done about a signal.

use crate::pending::{Information, Set};
use crate::signal::set::{KILL, LAST, STOP, UNBLOCKABLE, number};
use crate::table::LOCK;
use crate::table::slots;
use core::cell::Cell;
use core::ffi::{c_int, c_void};
use tenon_libc::errno::{self, Errno};

/// `SIG_DFL`.
const DEFAULT: usize = 0;
/// `SIG_IGN`.
const IGNORE: usize = 1;
/// `SIG_ERR`.
const ERROR: usize = usize::MAX;

/// `SA_SIGINFO`: the handler is told more than the number.
const TELL: c_int = 0x02;
/// `SA_RESTART`: a wait that it interrupts goes on.
const RESTART: c_int = 0x10;
/// `SA_NODEFER`: it may be interrupted by its own signal.
const NO_DEFER: c_int = 0x20;
/// `SA_RESETHAND`: once only.
const RESET: c_int = 0x40;

/// `struct sigaction`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Action {
    handler: usize,
    mask: Set,
    flags: c_int,
}

/// What comes of a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing.
    Ignored,
    /// The program ends.
    Terminated,
    /// Everything would stop.
    Stopped,
    /// A handler runs.
    Handled,
}

impl Action {
    const USUAL: Self = Self {
        handler: DEFAULT,
        mask: 0,
        flags: 0,
    };

    /// What it makes of that signal.
    pub fn outcome(&self, signal: u32) -> Outcome {
        match (self.handler, signal) {
            (IGNORE, _) => Outcome::Ignored,
            // SIGURG, SIGCONT, SIGCHLD and SIGWINCH (POSIX.1-2017, <signal.h>).
            (DEFAULT, 16 | 19 | 20 | 28) => Outcome::Ignored,
            // SIGSTOP, SIGTSTP, SIGTTIN and SIGTTOU.
            (DEFAULT, 17 | 18 | 21 | 22) => Outcome::Stopped,
            (DEFAULT, _) => Outcome::Terminated,
            _ => Outcome::Handled,
        }
    }

    /// What a thread that blocks `blocked` blocks while the handler runs.
    pub fn blocked(&self, blocked: Set, signal: u32) -> Set {
        let own = if self.flags & NO_DEFER == 0 {
            1 << signal
        } else {
            0
        };
        (blocked | self.mask | own) & !UNBLOCKABLE
    }

    /// Whether a wait that it interrupts goes on afterwards.
    pub fn restarts(&self) -> bool {
        self.flags & RESTART != 0
    }

    /// Runs the handler.
    ///
    /// # Safety
    ///
    /// Its outcome is a handler.
    pub unsafe fn run(&self, information: &mut Information) {
        let signal = information.signal;
        if self.flags & TELL != 0 {
            type Telling = unsafe extern "C" fn(c_int, *mut Information, *mut c_void);
            // SAFETY: the program says that it is such a function.
            unsafe {
                let handler: Telling = core::mem::transmute(self.handler);
                handler(signal, information, core::ptr::null_mut());
            }
        } else {
            // SAFETY: as above.
            unsafe {
                let handler: unsafe extern "C" fn(c_int) = core::mem::transmute(self.handler);
                handler(signal);
            }
        }
    }
}

struct Actions([Cell<Action>; LAST as usize + 1]);

// SAFETY: touched behind `LOCK`.
unsafe impl Sync for Actions {}

static ACTIONS: Actions = Actions([const { Cell::new(Action::USUAL) }; LAST as usize + 1]);

/// What is to be done about a signal. To be called behind `LOCK`.
pub(crate) fn of(signal: u32) -> Action {
    ACTIONS.0[signal as usize % ACTIONS.0.len()].get()
}

fn set(signal: u32, action: Action) {
    ACTIONS.0[signal as usize % ACTIONS.0.len()].set(action);
}

/// As [`of`], for a handler that is about to run: one that runs once has run.
pub(crate) fn take(signal: u32) -> Action {
    let action = of(signal);
    if action.flags & RESET != 0 && action.outcome(signal) == Outcome::Handled {
        set(signal, Action::USUAL);
    }
    action
}

/// Changes the action of a signal; returns the former one.
fn exchange(signal: c_int, new: Option<Action>) -> Result<Action, Errno> {
    let signal = number(signal)?;
    if new.is_some() && matches!(signal, KILL | STOP) {
        return Err(Errno::EINVAL);
    }
    LOCK.masked(|(), _| {
        let old = of(signal);
        if let Some(new) = new {
            set(signal, new);
            if new.outcome(signal) == Outcome::Ignored {
                // What is pending of it is of no interest any more (POSIX.1-2017, 2.4.3).
                crate::signal::deliver::program().forget(1 << signal);
                slots()
                    .iter()
                    .for_each(|slot| slot.signals.pending.forget(1 << signal));
            }
        }
        Ok(old)
    })
}

/// Says what is done about a signal, and changes it.
///
/// # Safety
///
/// The new action is null or a `struct sigaction`; there is a place for the old one, unless it is
/// null.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn sigaction(signal: c_int, new: *const Action, old: *mut Action) -> c_int {
    // SAFETY: the caller's contract.
    let exchanged = exchange(signal, unsafe { new.as_ref() }.copied());
    errno::report(exchanged.map(|former| {
        if !old.is_null() {
            // SAFETY: the caller's contract.
            unsafe { old.write(former) };
        }
    }))
}

/// Has a signal handled by a function, or as `SIG_DFL` or `SIG_IGN`; returns what was before.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub extern "C" fn signal(signal: c_int, handler: usize) -> usize {
    let new = Action {
        handler,
        mask: 0,
        flags: RESTART,
    };
    match exchange(signal, Some(new)) {
        Ok(old) => old.handler,
        Err(errno) => {
            errno.raise();
            ERROR
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_signal_has_its_outcome() {
        assert_eq!(Action::USUAL.outcome(6), Outcome::Terminated);
        assert_eq!(Action::USUAL.outcome(40), Outcome::Terminated);
        assert_eq!(Action::USUAL.outcome(20), Outcome::Ignored);
        assert_eq!(Action::USUAL.outcome(18), Outcome::Stopped);
        let action = |handler, flags| Action {
            handler,
            flags,
            mask: 1 << 3 | 1 << KILL,
        };
        assert_eq!(action(IGNORE, 0).outcome(6), Outcome::Ignored);
        assert_eq!(action(0x4000, 0).outcome(18), Outcome::Handled);
        assert_eq!(
            action(0x4000, 0).blocked(1 << 1, 40),
            1 << 1 | 1 << 3 | 1 << 40
        );
        assert_eq!(action(0x4000, NO_DEFER).blocked(0, 40), 1 << 3);
    }
}
