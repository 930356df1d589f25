//! Posted interrupts: software-raised interrupts for a pinned vCPU, without a lock.
//!
//! The sender stores the INTID in a word of the receiving core and sends an SGI that is reserved
//! for this. It does not take the lock of the receiver's virtual GIC, which the receiver may hold.
//! The receiving core moves the INTID into the virtual GIC as soon as the SGI arrives, whatever the
//! guest has masked, so that no guest instruction comes in between: for the guest the interrupt is
//! pending from then on.
//!
//! The word holds one INTID. To post the same INTID again has no effect; another one is raised in
//! the virtual GIC by the sender.

use crate::{Core, Machine};
use core::sync::atomic::{AtomicU64, Ordering};
use hw_irqchip_gicv3::{
    Group,
    cpu_interface::{self, Sgi},
};

/// Posts `intid`; returns false if another INTID is posted.
#[inline(always)]
fn leave(posted_irq: &AtomicU64, intid: u32) -> bool {
    let intid = u64::from(intid);
    // The word is written even if it holds the INTID already, so that the receiver observes all
    // earlier stores.
    let free = |there| (there == 0 || there == intid).then_some(intid);
    posted_irq
        .fetch_update(Ordering::Release, Ordering::Relaxed, free)
        .is_ok()
}

/// Takes the posted INTID.
#[inline(always)]
pub fn take(posted_irq: &AtomicU64) -> Option<u32> {
    match posted_irq.swap(0, Ordering::Acquire) as u32 {
        0 => None,
        intid => Some(intid),
    }
}

impl Machine {
    /// Posts interrupt `intid` to the vCPU that is pinned to core `cpu` and has [posted interrupts
    /// enabled](crate::Vm::enable_posted_irq); returns false if the interrupt is to be
    /// raised (`RaiseInterrupt::raise`) instead.
    #[inline(always)]
    #[must_use]
    pub fn post_irq(&self, cpu: usize, intid: u32) -> bool {
        let Some(core) = self.cores.get(cpu) else {
            return false;
        };
        let Some(bell) = Sgi::from_bits(core.posted_irq_sgi.load(Ordering::Relaxed)) else {
            return false;
        };
        let left = leave(&core.pinned.posted_intid, intid);
        if left {
            cpu_interface::send(Group::Zero, bell);
        }
        left
    }
}

impl Core {
    /// Discards `intid` if it is posted.
    pub fn clear_posted_irq(&self, intid: u32) {
        let _other = self.pinned.posted_intid.compare_exchange(
            intid.into(),
            0,
            Ordering::Relaxed,
            Ordering::Relaxed,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_intid_is_posted_until_it_is_taken() {
        let posted_irq = AtomicU64::new(0);
        assert_eq!(take(&posted_irq), None);
        assert!(leave(&posted_irq, 40) && leave(&posted_irq, 40));
        assert!(!leave(&posted_irq, 41), "another one is raised otherwise");
        assert_eq!(take(&posted_irq), Some(40));
        assert_eq!(take(&posted_irq), None, "once");
        assert!(leave(&posted_irq, 41));
        assert_eq!(take(&posted_irq), Some(41));
    }

    #[test]
    fn an_intid_posted_during_a_take_is_taken_now_or_next() {
        const ROUNDS: u64 = 20_000;
        static MESSAGES: AtomicU64 = AtomicU64::new(0);
        static BELL: AtomicU64 = AtomicU64::new(0);
        static LEFT: AtomicU64 = AtomicU64::new(0);
        let sender = std::thread::spawn(|| {
            for message in 1..=ROUNDS {
                MESSAGES.store(message, Ordering::Relaxed);
                assert!(leave(&LEFT, 40));
                BELL.store(1, Ordering::Release);
            }
        });
        let mut seen = 0;
        while seen < ROUNDS {
            // Acknowledged first, as on the target: what is posted after that sends an SGI again.
            if BELL.swap(0, Ordering::AcqRel) == 0 {
                std::thread::yield_now();
            } else if take(&LEFT).is_some() {
                seen = MESSAGES.load(Ordering::Relaxed);
            }
        }
        assert!(sender.join().is_ok());
    }
}
