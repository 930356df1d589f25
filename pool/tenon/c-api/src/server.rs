//! Servers of POSIX threads: `<tenon/server.h>`.
//!
//! The functions give POSIX threads what [`tenon_thread::server`] gives Rust's: a budget in each
//! period, and a fair share of the remaining time.
//!
//! Guarantees: those of [`tenon_thread::server`]. There are 16 servers; attaching searches for a
//! free one, one step for each.

use core::ffi::c_int;
use tenon_libc::Errno;
use tenon_libc::errno::report;
use tenon_pthread::table::{LOCK, ThreadId, find};
use tenon_thread::server::Server;
use tenon_thread::thread::{Error, Handle, PreemptionLock};
use tenon_thread::time::Duration;

/// Number of servers.
const SERVERS: usize = 16;

/// Maximum period of a server.
const LONGEST: Duration = Duration::from_secs(68);

static ALL: [Server; SERVERS] = [const { Server::background() }; SERVERS];

/// Reserves a budget of ns in each period for a thread.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub(crate) extern "C" fn tenon_server_attach(thread: ThreadId, budget: u64, period: u64) -> c_int {
    let [budget, period] = [budget, period].map(Duration::from_nanos);
    if budget.is_zero() || budget > period || period > LONGEST {
        return Errno::EINVAL.raise();
    }
    report(attach(thread, Some((budget, period))))
}

/// Assigns a background server without a budget to a thread.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub(crate) extern "C" fn tenon_server_attach_background(thread: ThreadId) -> c_int {
    report(attach(thread, None))
}

/// Detaches the server of a thread.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub(crate) extern "C" fn tenon_server_detach(thread: ThreadId) -> c_int {
    report(handle(thread).and_then(|thread| {
        let own = ALL.iter().find(|server| server.is_attached_to(thread));
        own.map(Server::detach).ok_or(Errno::EINVAL)
    }))
}

fn attach(thread: ThreadId, share: Option<(Duration, Duration)>) -> Result<(), Errno> {
    let thread = handle(thread)?;
    // No other thread may take the server between its reservation and its attachment.
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

/// The thread of a `pthread_t`.
fn handle(name: ThreadId) -> Result<Handle, Errno> {
    LOCK.masked(|(), _| {
        let thread = find(name)?.thread().ok_or(Errno::ESRCH)?;
        Ok(thread.handle())
    })
}
