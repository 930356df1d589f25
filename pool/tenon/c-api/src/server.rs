//! Servers of threads for applications in C.
//!
//! # Purpose
//!
//! `<tenon/server.h>`, in `include/`, is for POSIX threads what [`tenon_thread::server`] is for Rust's: a
//! budget in each period, and a fair part of what is left. What a function returns is 0, or -1 with the
//! reason in `errno`.
//!
//! # Guarantees
//!
//! Those of [`tenon_thread::server`]. There are 16 servers, each of whichever thread asks first; to find a
//! free one takes a step for each. No allocation.

use core::ffi::c_int;
use tenon_libc::Errno;
use tenon_libc::errno::report;
use tenon_pthread::table::{LOCK, ThreadId, find};
use tenon_thread::server::Server;
use tenon_thread::thread::{Error, Handle, PreemptionLock};
use tenon_thread::time::Duration;

/// Servers that there can be.
const SERVERS: usize = 16;

/// The longest period, as a server has it.
const LONGEST: Duration = Duration::from_secs(68);

static ALL: [Server; SERVERS] = [const { Server::background() }; SERVERS];

/// Promises a thread so many ns in each so many.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub(crate) extern "C" fn tenon_server_attach(thread: ThreadId, budget: u64, period: u64) -> c_int {
    let [budget, period] = [budget, period].map(Duration::from_nanos);
    if budget.is_zero() || budget > period || period > LONGEST {
        return Errno::EINVAL.raise();
    }
    report(attach(thread, Some((budget, period))))
}

/// Has a thread's part be what all others leave.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub(crate) extern "C" fn tenon_server_attach_background(thread: ThreadId) -> c_int {
    report(attach(thread, None))
}

/// Takes a thread's server back.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub(crate) extern "C" fn tenon_server_detach(thread: ThreadId) -> c_int {
    report(handle(thread).and_then(|thread| {
        let own = ALL.iter().find(|server| server.is_attached_to(thread));
        own.map(Server::detach).ok_or(Errno::EINVAL)
    }))
}

fn attach(thread: ThreadId, share: Option<(Duration, Duration)>) -> Result<(), Errno> {
    let thread = handle(thread)?;
    // What a server promises is its thread's: nobody takes it in between.
    let _alone = PreemptionLock::new();
    let free = ALL.iter().find(|server| server.set_reservation(share));
    free.ok_or(Errno::ENOMEM)?
        .attach(thread)
        .map_err(|error| match error {
            Error::Overload => Errno::EAGAIN,
            Error::InUse => Errno::EBUSY,
            _ => Errno::ESRCH,
        })
}

/// The thread that C means.
fn handle(name: ThreadId) -> Result<Handle, Errno> {
    LOCK.masked(|(), _| {
        let thread = find(name)?.thread().ok_or(Errno::ESRCH)?;
        Ok(thread.handle())
    })
}
