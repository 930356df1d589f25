//! Ticket lock core: tickets, served in the order in which they were drawn.

#[cfg(not(loom))]
use core::sync::atomic::{AtomicU32, Ordering};
#[cfg(loom)]
use loom::sync::atomic::{AtomicU32, Ordering};

/// The ticket being served; it grants exclusive access.
#[derive(Debug)]
pub struct Ticket(u32);

/// The next ticket to draw, and the one being served. Both wrap: 2³² cores would have to wait at
/// once for a number to repeat.
#[derive(Debug)]
pub(crate) struct Tickets {
    next: AtomicU32,
    serving: AtomicU32,
}

impl Tickets {
    #[cfg(not(loom))]
    pub(crate) const fn new() -> Self {
        Self {
            next: AtomicU32::new(0),
            serving: AtomicU32::new(0),
        }
    }

    /// Draws a ticket and spins until it is served.
    #[inline]
    pub(crate) fn take(&self) -> Ticket {
        let ticket = self.next.fetch_add(1, Ordering::Relaxed);
        // Acquire: the former holder's accesses are visible to this one.
        while self.serving.load(Ordering::Acquire) != ticket {
            relax();
        }
        Ticket(ticket)
    }

    /// Draws a ticket only if it is served at once.
    #[inline]
    pub(crate) fn try_take(&self) -> Option<Ticket> {
        let ticket = self.serving.load(Ordering::Acquire);
        self.next
            .compare_exchange(
                ticket,
                ticket.wrapping_add(1),
                Ordering::Relaxed,
                Ordering::Relaxed,
            )
            .ok()
            .map(Ticket)
    }

    /// The ticket that is being served.
    #[cfg(not(loom))]
    #[inline]
    pub(crate) fn served(&self) -> Ticket {
        Ticket(self.serving.load(Ordering::Relaxed))
    }

    /// Serves the next ticket.
    #[inline]
    pub(crate) fn give_back(&self, ticket: Ticket) {
        self.serving
            .store(ticket.0.wrapping_add(1), Ordering::Release);
    }

    #[cfg(not(loom))]
    pub(crate) fn is_taken(&self) -> bool {
        self.serving.load(Ordering::Relaxed) != self.next.load(Ordering::Relaxed)
    }
}

/// Pauses a spinning core.
///
/// YIELD, not the ISB of `core::hint::spin_loop`: an emulator that runs the cores in turn switches
/// to the next core here, and does not spin for a whole time slice while the holder cannot run.
#[inline]
fn relax() {
    #[cfg(loom)]
    loom::thread::yield_now();
    #[cfg(all(not(loom), target_arch = "aarch64"))]
    // SAFETY: a hint changes no state.
    unsafe {
        core::arch::asm!("yield", options(nomem, nostack, preserves_flags));
    }
    #[cfg(all(not(loom), not(target_arch = "aarch64")))]
    core::hint::spin_loop();
}

/// Exhaustive check of mutual exclusion. Run with
/// `RUSTFLAGS="--cfg loom" cargo test --release -p core-sync`.
#[cfg(all(test, loom))]
mod model {
    use super::*;
    use loom::cell::UnsafeCell;
    use loom::sync::Arc;
    use loom::thread;

    struct Counter {
        tickets: Tickets,
        count: UnsafeCell<u32>,
    }

    // SAFETY: the model checks that access is exclusive.
    unsafe impl Sync for Counter {}
    // SAFETY: the model checks that access is exclusive.
    unsafe impl Send for Counter {}

    impl Counter {
        fn increment(&self, ticket: Ticket) {
            // SAFETY: loom reports an access that is not exclusive.
            self.count.with_mut(|count| unsafe { *count += 1 });
            self.tickets.give_back(ticket);
        }
    }

    #[test]
    fn holders_exclude_each_other() {
        loom::model(|| {
            let tickets = Tickets {
                next: AtomicU32::new(u32::MAX),
                serving: AtomicU32::new(u32::MAX),
            };
            let counter = Arc::new(Counter {
                tickets,
                count: UnsafeCell::new(0),
            });
            let other = Arc::clone(&counter);
            let tried = thread::spawn(move || {
                other.increment(other.tickets.take());
                other
                    .tickets
                    .try_take()
                    .map(|ticket| other.increment(ticket))
                    .is_some()
            });
            counter.increment(counter.tickets.take());
            let expected = 2 + u32::from(tried.join().unwrap());
            // SAFETY: the other thread has ended.
            counter
                .count
                .with(|count| assert_eq!(unsafe { *count }, expected));
        });
    }
}
