//! Asynchronous notification of the program: `struct sigevent` (POSIX.1-2017, 2.4.1).

use crate::attributes::Attributes;
use crate::create::pthread_create;
use crate::join::pthread_detach;
use crate::pending::{PROCESS, QueuedSignal, SigInfo};
use crate::signal::deliver::{Sent, post};
use crate::signal::set;
use crate::table::LOCK;
use core::cell::Cell;
use core::ffi::{c_int, c_void};
use core::ptr;
use tenon_libc::Errno;

/// `SIGEV_NONE`, `SIGEV_SIGNAL` and `SIGEV_THREAD`.
const NONE: c_int = 1;
const SIGNAL: c_int = 2;
const THREAD: c_int = 3;

/// A notification function, which takes a `union sigval`.
type Function = unsafe extern "C" fn(*mut c_void) -> *mut c_void;

/// `struct sigevent`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct SigEvent {
    notify: c_int,
    signal: c_int,
    value: usize,
    function: Option<Function>,
    attributes: *const Attributes,
}

impl SigEvent {
    /// Notification by a signal with a value.
    pub fn signal(signal: u32, value: usize) -> Self {
        Self {
            notify: SIGNAL,
            signal: signal as c_int,
            value,
            function: None,
            attributes: ptr::null(),
        }
    }

    /// Checks the fields.
    pub fn check(&self) -> Result<(), Errno> {
        match self.notify {
            NONE => Ok(()),
            SIGNAL => set::number(self.signal).map(|_| ()),
            THREAD if self.function.is_some() => Ok(()),
            _ => Err(Errno::EINVAL),
        }
    }
}

/// A source of notifications.
pub struct Notification {
    /// The requested notification, with the code of its signal.
    wanted: Cell<Option<(SigEvent, c_int)>>,
    entry: QueuedSignal,
}

// SAFETY: accessed with `LOCK` held.
unsafe impl Sync for Notification {}

/// Result of a notification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notified {
    /// The program was notified, or requested none.
    Yes,
    /// The former signal is still pending.
    StillPending,
}

impl Notification {
    /// A source without a request; `taken` is called with `LOCK` held when its signal was taken.
    pub const fn new(taken: fn(&'static QueuedSignal)) -> Self {
        Self {
            wanted: Cell::new(None),
            entry: QueuedSignal::new(taken),
        }
    }

    /// Changes the request; a pending signal is not affected. The caller holds `LOCK`.
    pub fn set(&self, wanted: Option<SigEvent>, code: c_int) {
        self.wanted.set(wanted.map(|wanted| (wanted, code)));
    }

    /// The queue entry of its signal.
    pub fn entry(&'static self) -> &'static QueuedSignal {
        &self.entry
    }

    /// Notifies the program. Called by a POSIX thread that does not hold `LOCK`.
    pub fn notify(&'static self) -> Notified {
        let Some((wanted, code)) = LOCK.masked(|(), _| self.wanted.get()) else {
            return Notified::Yes;
        };
        match wanted.notify {
            SIGNAL => LOCK.waking(|(), waking| {
                if self.entry.is_pending() {
                    return Notified::StillPending;
                }
                self.entry.set(SigInfo {
                    signal: wanted.signal,
                    code,
                    errno: 0,
                    process: PROCESS,
                    value: wanted.value,
                });
                post(waking, None, Sent::Queued(&self.entry));
                Notified::Yes
            }),
            THREAD => {
                // A thread that cannot be created is left out: POSIX defines no error for it.
                let _ = run(&wanted);
                Notified::Yes
            }
            _ => Notified::Yes,
        }
    }
}

/// Calls the notification function in a new thread.
fn run(wanted: &SigEvent) -> Option<()> {
    let mut name = 0;
    let argument = wanted.value as *mut c_void;
    // SAFETY: the program passes attributes, and a function that takes the value; a `union sigval`
    // is passed as a pointer is (AAPCS64, 6.8.2).
    let made =
        unsafe { pthread_create(&raw mut name, wanted.attributes, wanted.function?, argument) };
    if made == 0 {
        // The attributes may have detached it already.
        let _ = pthread_detach(name);
    }
    Some(())
}
