//! What a program wants to be told, and how: `struct sigevent`.

use crate::attributes::Attributes;
use crate::create::pthread_create;
use crate::join::pthread_detach;
use crate::pending::{Entry, Information, PROCESS};
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

/// A function of C that is given a `union sigval`.
type Function = unsafe extern "C" fn(*mut c_void) -> *mut c_void;

/// `struct sigevent`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Wanted {
    notify: c_int,
    signal: c_int,
    value: usize,
    function: Option<Function>,
    attributes: *const Attributes,
}

impl Wanted {
    /// A signal with this value.
    pub fn signal(signal: u32, value: usize) -> Self {
        Self {
            notify: SIGNAL,
            signal: signal as c_int,
            value,
            function: None,
            attributes: ptr::null(),
        }
    }

    /// Whether it can be.
    pub fn check(&self) -> Result<(), Errno> {
        match self.notify {
            NONE => Ok(()),
            SIGNAL => set::number(self.signal).map(|_| ()),
            THREAD if self.function.is_some() => Ok(()),
            _ => Err(Errno::EINVAL),
        }
    }
}

/// Something that tells the program when it happens.
pub struct Event {
    /// With the code of its signal.
    wanted: Cell<Option<(Wanted, c_int)>>,
    entry: Entry,
}

// SAFETY: touched behind `LOCK`.
unsafe impl Sync for Event {}

/// What became of telling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    /// The program was told, or did not want to be.
    Yes,
    /// The last signal of it has not been taken yet.
    StillPending,
}

impl Event {
    /// An event that tells nobody; `taken` is called when its signal was taken, behind `LOCK`.
    pub const fn new(taken: fn(&'static Entry)) -> Self {
        Self {
            wanted: Cell::new(None),
            entry: Entry::new(taken),
        }
    }

    /// Changes what is wanted when it happens next; a signal that is pending stays as it is. To be
    /// called behind `LOCK`.
    pub fn set(&self, wanted: Option<Wanted>, code: c_int) {
        self.wanted.set(wanted.map(|wanted| (wanted, code)));
    }

    /// The entry of its signal.
    pub fn entry(&'static self) -> &'static Entry {
        &self.entry
    }

    /// It happened: tells the program. To be called in a thread of C, outside of `LOCK`.
    pub fn happen(&'static self) -> Told {
        let Some((wanted, code)) = LOCK.masked(|(), _| self.wanted.get()) else {
            return Told::Yes;
        };
        match wanted.notify {
            SIGNAL => LOCK.waking(|(), waking| {
                if self.entry.is_pending() {
                    return Told::StillPending;
                }
                self.entry.set(Information {
                    signal: wanted.signal,
                    code,
                    errno: 0,
                    process: PROCESS,
                    value: wanted.value,
                });
                post(waking, None, Sent::Queued(&self.entry));
                Told::Yes
            }),
            THREAD => {
                // A thread that cannot be made is none: there is nobody to be told of that.
                let _ = run(&wanted);
                Told::Yes
            }
            _ => Told::Yes,
        }
    }
}

/// Runs the program's function in a thread of its own.
fn run(wanted: &Wanted) -> Option<()> {
    let mut name = 0;
    let argument = wanted.value as *mut c_void;
    // SAFETY: the program says that these are attributes, and that the function takes the value;
    // a `union sigval` is given and taken as a pointer is (AAPCS64, 6.8.2).
    let made =
        unsafe { pthread_create(&raw mut name, wanted.attributes, wanted.function?, argument) };
    if made == 0 {
        // One that its attributes detached already is as it should be.
        let _ = pthread_detach(name);
    }
    Some(())
}
