//! The thread that timers expire in.

use crate::timer::table::timers;
use core::cell::Cell;
use core::ffi::c_void;
use core::ptr;
use tenon_libc::errno::Errno;
use tenon_pthread::attributes::Attributes;
use tenon_pthread::create::pthread_create;
use tenon_pthread::pending::Set;
use tenon_pthread::policy::{FIFO, MOST};
use tenon_pthread::table::LOCK;
use tenon_pthread::{Slot, current, wait};
use tenon_thread::time::{Duration, Instant};
use tenon_thread::wait::Guarded;

/// How long others run after each expiry at least: an interval may be shorter than what it takes to
/// serve it, and expiries that were missed are counted.
const REST: Duration = Duration::from_micros(20);

/// The slot of the thread, once there is one; it is being made if there is one but no slot.
#[derive(Default)]
struct Server {
    begun: Cell<bool>,
    slot: Cell<Option<&'static Slot>>,
}

static SERVER: Guarded<Server> = Guarded::new(Server {
    begun: Cell::new(false),
    slot: Cell::new(None),
});

/// Makes the thread, if there is none.
pub(crate) fn begin() -> Result<(), Errno> {
    if SERVER.masked(|server, _| server.begun.replace(true)) {
        return Ok(());
    }
    let mut attributes = Attributes::default();
    attributes.explicit = true;
    attributes.policy = FIFO;
    attributes.priority = MOST;
    attributes.detached = true;
    let mut name = 0;
    // SAFETY: the function takes anything.
    let made =
        unsafe { pthread_create(&raw mut name, &raw const attributes, serve, ptr::null_mut()) };
    if made != 0 {
        SERVER.masked(|server, _| server.begun.set(false));
        return Err(Errno::EAGAIN);
    }
    Ok(())
}

/// Has the thread look at the timers again. Outside of `LOCK`.
pub(crate) fn look() {
    if let Some(slot) = SERVER.masked(|server, _| server.slot.get()) {
        LOCK.waking(|(), waking| slot.notify(waking));
    }
}

/// Waits for the earliest timer, for ever.
extern "C" fn serve(_: *mut c_void) -> *mut c_void {
    let slot = current();
    LOCK.masked(|(), _| slot.signals.blocked.set(Set::MAX));
    slot.serve();
    SERVER.masked(|server, _| server.slot.set(Some(slot)));
    loop {
        // All are looked at; `any` would stop at the first one.
        let expired = timers().iter().filter(|timer| timer.expire()).count() > 0;
        let rest = expired.then(|| Instant::now() + REST);
        let earliest = LOCK.masked(|(), _| {
            let instants = timers().iter().filter_map(|timer| timer.setting());
            instants.map(|setting| setting.instant()).min()
        });
        wait::pause(earliest.map(|earliest| rest.map_or(earliest, |rest| earliest.max(rest))));
        wait::attend();
    }
}
