//! The timer thread.

use crate::timer::table::timers;
use core::cell::Cell;
use core::ffi::c_void;
use core::ptr;
use tenon_libc::errno::Errno;
use tenon_pthread::attributes::Attributes;
use tenon_pthread::create::pthread_create;
use tenon_pthread::pending::Set;
use tenon_pthread::policy::{FIFO, HIGHEST};
use tenon_pthread::table::LOCK;
use tenon_pthread::{Slot, current, wait};
use tenon_thread::time::{Duration, Instant};
use tenon_thread::wait::Guarded;

/// Minimum time for other threads after an expiry: an interval may be shorter than the execution of
/// its expiry; missed expiries are counted.
const MIN_GAP: Duration = Duration::from_micros(20);

/// The slot of the timer thread; `begun` without a slot while it is being created.
#[derive(Default)]
struct Server {
    begun: Cell<bool>,
    slot: Cell<Option<&'static Slot>>,
}

static SERVER: Guarded<Server> = Guarded::new(Server {
    begun: Cell::new(false),
    slot: Cell::new(None),
});

/// Creates the timer thread on the first call.
pub(crate) fn start() -> Result<(), Errno> {
    if SERVER.masked(|server, _| server.begun.replace(true)) {
        return Ok(());
    }
    let mut attributes = Attributes::default();
    attributes.explicit = true;
    attributes.policy = FIFO;
    attributes.priority = HIGHEST;
    attributes.detached = true;
    let mut name = 0;
    // SAFETY: `serve` ignores its argument.
    let made =
        unsafe { pthread_create(&raw mut name, &raw const attributes, serve, ptr::null_mut()) };
    if made != 0 {
        SERVER.masked(|server, _| server.begun.set(false));
        return Err(Errno::EAGAIN);
    }
    Ok(())
}

/// Makes the thread examine the timers again. The caller does not hold `LOCK`.
pub(crate) fn wake() {
    if let Some(slot) = SERVER.masked(|server, _| server.slot.get()) {
        LOCK.waking(|(), waking| slot.notify(waking));
    }
}

/// Waits for the earliest expiry, for ever.
extern "C" fn serve(_: *mut c_void) -> *mut c_void {
    let slot = current();
    LOCK.masked(|(), _| slot.signals.blocked.set(Set::MAX));
    slot.exclude_from_exit();
    SERVER.masked(|server, _| server.slot.set(Some(slot)));
    loop {
        // Examines all timers; `any` would stop at the first.
        let expired = timers().iter().filter(|timer| timer.expire()).count() > 0;
        let not_before = expired.then(|| Instant::now() + MIN_GAP);
        let earliest = LOCK.masked(|(), _| {
            let instants = timers().iter().filter_map(|timer| timer.setting());
            instants.map(|setting| setting.instant()).min()
        });
        wait::pause(
            earliest
                .map(|earliest| not_before.map_or(earliest, |not_before| earliest.max(not_before))),
        );
        wait::act_on_pending();
    }
}
