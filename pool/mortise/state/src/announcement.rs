//! Announcements to a core: the VMs for which something arrived, by level, and their SGIs.
//!
//! No wake-up is lost: the word is written before the SGI is sent, and read after the SGI is
//! acknowledged; an SGI that is sent while another one is acknowledged pends again.

use crate::priority::INTERRUPT_LEVELS;
use core::sync::atomic::{AtomicU32, Ordering};

/// VMs that are announced to a core, one bit each, by level.
pub struct Announcements([AtomicU32; INTERRUPT_LEVELS]);

impl Announcements {
    /// No announcement.
    #[must_use]
    pub const fn none() -> Self {
        Self([const { AtomicU32::new(0) }; INTERRUPT_LEVELS])
    }

    /// Leaves VM number `vm`.
    #[inline]
    pub fn leave(&self, level: usize, vm: usize) {
        self.0[level % INTERRUPT_LEVELS].fetch_or(1 << vm, Ordering::Release);
    }

    /// Takes one VM of a level; returns it and whether others are left.
    #[inline]
    pub fn take(&self, level: usize) -> Option<(usize, bool)> {
        let word = &self.0[level % INTERRUPT_LEVELS];
        let all = word.load(Ordering::Acquire);
        let first = all & all.wrapping_neg();
        word.fetch_and(!first, Ordering::AcqRel);
        (first != 0).then(|| (first.trailing_zeros() as usize, all != first))
    }
}

/// First SGI of announcements, of level 0. Secure firmware may keep 8 to 15 for itself, and no guest
/// of a shared core has a physical SGI.
#[must_use]
pub const fn first_sgi(doorbell: u32) -> u32 {
    if doorbell < INTERRUPT_LEVELS as u32 {
        INTERRUPT_LEVELS as u32
    } else {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::sync::atomic::{AtomicBool, AtomicU64};

    #[test]
    fn the_doorbell_is_no_announcement() {
        for doorbell in 0..16 {
            let first = first_sgi(doorbell);
            assert!(first + INTERRUPT_LEVELS as u32 <= 8);
            assert!(!(first..first + INTERRUPT_LEVELS as u32).contains(&doorbell));
        }
    }

    #[test]
    fn each_vm_of_a_level_is_taken_once() {
        let all = Announcements::none();
        all.leave(1, 5);
        all.leave(1, 2);
        all.leave(1, 5);
        all.leave(3, 31);
        assert_eq!(all.take(0), None);
        assert_eq!(all.take(1), Some((2, true)));
        assert_eq!(all.take(1), Some((5, false)));
        assert_eq!(all.take(1), None);
        assert_eq!(all.take(3), Some((31, false)));
    }

    /// Two senders and a core that masks the SGI most of the time: whatever is announced is looked at
    /// once the mask is open, with what was stored before the announcement.
    #[test]
    fn no_wake_up_is_lost_behind_the_mask() {
        const ROUNDS: u64 = 20_000;
        static ALL: Announcements = Announcements::none();
        static PENDING: AtomicBool = AtomicBool::new(false);
        static NEWS: [AtomicU64; 2] = [const { AtomicU64::new(0) }; 2];
        let senders = [0, 1].map(|vm| {
            std::thread::spawn(move || {
                for news in 1..=ROUNDS {
                    NEWS[vm].store(news, Ordering::Relaxed);
                    ALL.leave(2, vm);
                    PENDING.store(true, Ordering::Release);
                }
            })
        });
        let mut seen = [0; 2];
        while seen != [ROUNDS; 2] {
            // Acknowledged first, as on the target.
            if !PENDING.swap(false, Ordering::AcqRel) {
                std::thread::yield_now();
                continue;
            }
            if let Some((vm, more)) = ALL.take(2) {
                if more {
                    PENDING.store(true, Ordering::Release);
                }
                seen[vm] = NEWS[vm].load(Ordering::Relaxed);
            }
        }
        for sender in senders {
            assert!(sender.join().is_ok());
        }
    }
}
