//! Signal actions (POSIX.1-2017, `sigaction`).

use crate::pending::{Set, SigInfo};
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

/// `SA_SIGINFO`: the handler takes the information too.
const SIGINFO: c_int = 0x02;
/// `SA_RESTART`: an interrupted wait is restarted.
const RESTART: c_int = 0x10;
/// `SA_NODEFER`: the signal is not blocked while its handler runs.
const NO_DEFER: c_int = 0x20;
/// `SA_RESETHAND`: the action is reset when the handler runs.
const RESET: c_int = 0x40;

/// `struct sigaction`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Action {
    handler: usize,
    mask: Set,
    flags: c_int,
}

/// Effect of a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The signal is discarded.
    Ignored,
    /// The program terminates.
    Terminated,
    /// The process would stop.
    Stopped,
    /// A handler runs.
    Handled,
}

impl Action {
    const DEFAULT: Self = Self {
        handler: DEFAULT,
        mask: 0,
        flags: 0,
    };

    /// The effect of a signal with this action.
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

    /// The signal mask while the handler runs, in a thread with the mask `blocked`.
    pub fn blocked(&self, blocked: Set, signal: u32) -> Set {
        let own = if self.flags & NO_DEFER == 0 {
            1 << signal
        } else {
            0
        };
        (blocked | self.mask | own) & !UNBLOCKABLE
    }

    /// Whether an interrupted wait is restarted.
    pub fn restarts(&self) -> bool {
        self.flags & RESTART != 0
    }

    /// Calls the handler.
    ///
    /// # Safety
    ///
    /// The effect of the signal is [`Outcome::Handled`].
    pub unsafe fn run(&self, information: &mut SigInfo) {
        let signal = information.signal;
        if self.flags & SIGINFO != 0 {
            type Telling = unsafe extern "C" fn(c_int, *mut SigInfo, *mut c_void);
            // SAFETY: with `SA_SIGINFO` the program installed a function of this type.
            unsafe {
                let handler: Telling = core::mem::transmute(self.handler);
                handler(signal, information, core::ptr::null_mut());
            }
        } else {
            // SAFETY: without `SA_SIGINFO` the program installed a function of this type.
            unsafe {
                let handler: unsafe extern "C" fn(c_int) = core::mem::transmute(self.handler);
                handler(signal);
            }
        }
    }
}

struct Actions([Cell<Action>; LAST as usize + 1]);

// SAFETY: accessed with `LOCK` held.
unsafe impl Sync for Actions {}

static ACTIONS: Actions = Actions([const { Cell::new(Action::DEFAULT) }; LAST as usize + 1]);

/// The action of a signal. The caller holds `LOCK`.
pub(crate) fn of(signal: u32) -> Action {
    ACTIONS.0[signal as usize % ACTIONS.0.len()].get()
}

fn set(signal: u32, action: Action) {
    ACTIONS.0[signal as usize % ACTIONS.0.len()].set(action);
}

/// As [`of`], for a handler that is about to run: resets an action with `SA_RESETHAND`.
pub(crate) fn take(signal: u32) -> Action {
    let action = of(signal);
    if action.flags & RESET != 0 && action.outcome(signal) == Outcome::Handled {
        set(signal, Action::DEFAULT);
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
                // Pending instances of an ignored signal are discarded (POSIX.1-2017, 2.4.3).
                crate::signal::deliver::program().forget(1 << signal);
                slots()
                    .iter()
                    .for_each(|slot| slot.signals.pending.forget(1 << signal));
            }
        }
        Ok(old)
    })
}

/// Reads and changes the action of a signal.
///
/// # Safety
///
/// `new` is null or points to a `struct sigaction`; `old` is null or valid for a write.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn sigaction(signal: c_int, new: *const Action, old: *mut Action) -> c_int {
    // SAFETY: `new` is null or points to a value of its type, as the caller ensures.
    let exchanged = exchange(signal, unsafe { new.as_ref() }.copied());
    errno::report(exchanged.map(|former| {
        if !old.is_null() {
            // SAFETY: `old` is not null, and then valid for a write, as the caller ensures.
            unsafe { old.write(former) };
        }
    }))
}

/// Sets the handler of a signal, `SIG_DFL` or `SIG_IGN`; returns the former one.
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
        assert_eq!(Action::DEFAULT.outcome(6), Outcome::Terminated);
        assert_eq!(Action::DEFAULT.outcome(40), Outcome::Terminated);
        assert_eq!(Action::DEFAULT.outcome(20), Outcome::Ignored);
        assert_eq!(Action::DEFAULT.outcome(18), Outcome::Stopped);
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
