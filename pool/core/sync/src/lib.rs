//! A ticket spin lock for data that cores share.
//!
//! # Purpose
//!
//! [`TicketLock`] is a spinning mutex for kernels. Its guard is that of `lock_api`; this crate
//! defines the order in which cores get the lock.
//!
//! # Guarantees
//!
//! - **First come, first served.** A core waits for each other core at most once, so that the wait
//!   is bounded by the number of cores and the longest critical section.
//! - **Cheap without contention.** One atomic addition takes the lock, one store releases it.
//! - It masks no interrupts. For data that an interrupt handler of the same core locks too, the
//!   holder masks interrupts; Mortise always runs with interrupts masked.
//! - It is not for cores of different criticality: the holder delays all waiters.
//!
//! # Example
//!
//! ```
//! use core_sync::TicketLock;
//!
//! static COUNT: TicketLock<u32> = TicketLock::new(0);
//! *COUNT.lock() += 1;
//! assert_eq!(*COUNT.lock(), 1);
//! ```

#![cfg_attr(not(any(test, loom)), no_std)]
#![expect(
    unsafe_code,
    reason = "the promise of mutual exclusion, and the instruction to wait by"
)]

mod ticket;

/// Data protected by a ticket lock.
#[cfg(not(loom))]
pub type TicketLock<T> = lock_api::Mutex<raw::RawTicketLock, T>;

#[cfg(not(loom))]
pub mod raw {
    //! Raw ticket lock, without data.

    pub use crate::ticket::Ticket;
    use crate::ticket::Tickets;
    pub use lock_api::RawMutex;

    /// A ticket lock without data.
    #[derive(Debug)]
    pub struct RawTicketLock(Tickets);

    impl RawTicketLock {
        /// The ticket being served, for a holder that did not keep its ticket.
        ///
        /// # Safety
        ///
        /// The caller holds the lock and unlocks it once with this ticket.
        #[inline]
        pub unsafe fn ticket(&self) -> Ticket {
            self.0.served()
        }
    }

    // SAFETY: `Tickets` serves one ticket at a time, which the guard holds until `unlock`; no
    // operation unwinds. The model in `ticket` checks this for all interleavings of two cores.
    unsafe impl RawMutex for RawTicketLock {
        const INIT: Self = Self(Tickets::new());
        type Guard = Ticket;

        #[inline]
        fn lock(&self) -> Ticket {
            self.0.take()
        }

        #[inline]
        fn try_lock(&self) -> Option<Ticket> {
            self.0.try_take()
        }

        #[inline]
        unsafe fn unlock(&self, ticket: Ticket) {
            self.0.give_back(ticket);
        }

        #[inline]
        fn is_locked(&self) -> bool {
            self.0.is_taken()
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::TicketLock;

    #[test]
    fn every_addition_counts() {
        let count = TicketLock::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..1000).for_each(|_| *count.lock() += 1));
            }
        });
        assert_eq!(*count.lock(), 4000);
    }

    #[test]
    fn a_held_lock_is_not_to_be_had() {
        let lock = TicketLock::new(());
        let guard = lock.lock();
        assert!(lock.is_locked() && lock.try_lock().is_none());
        drop(guard);
        assert!(!lock.is_locked() && lock.try_lock().is_some());
    }
}
