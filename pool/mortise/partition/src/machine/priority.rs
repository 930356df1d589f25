//! Priorities of physical interrupts.

use hw_irqchip_gicv3::cpu_interface;

/// Priority of Mortise's own interrupts: below the doorbell's, above all of guests.
pub(crate) const OWN_PRIORITY: u8 = 0x40;

/// Priority of the virtual timer's interrupt on a core that several share: it is always that of
/// who is there.
pub(crate) const TIMER_PRIORITY: u8 = 0x80;

/// Priority of the devices' interrupts of a virtual machine, by how urgent it is itself (0 to
/// 63). What its guest makes of theirs orders them among each other, in the list registers.
pub(crate) const fn device_priority(urgency: u8) -> u8 {
    LEAST_URGENT - (urgency & LEVELS)
}

/// What a core's interface holds back while somebody has it: the interrupts of those who are
/// less urgent, who could not have the core for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PriorityMask {
    here: u8,
    coming: u8,
}

impl PriorityMask {
    /// Nothing: nobody has the core.
    pub const OPEN: Self = Self::of(0);

    /// All but Mortise's own.
    pub const CLOSED: Self = Self {
        here: TIMER_PRIORITY,
        coming: TIMER_PRIORITY,
    };

    /// While one as urgent as that has it.
    #[must_use]
    pub const fn of(urgency: u8) -> Self {
        let own = device_priority(urgency);
        Self {
            here: own + STEP,
            coming: own,
        }
    }

    /// Has this core hold that back: it stays pending in the controller, where no look and no
    /// wait sees it.
    #[inline]
    pub fn apply(self) {
        cpu_interface::set_mask(self.here);
    }

    /// Has it hold back what is for one as urgent as well: that comes when it is there, and does
    /// not delay its coming.
    #[inline]
    pub fn apply_during_switch(self) {
        cpu_interface::set_mask(self.coming);
    }
}

/// An interface may tell 16 priorities apart, and passes what is more urgent than its mask.
const STEP: u8 = 0x10;

const LEAST_URGENT: u8 = 0xe0;

const LEVELS: u8 = 0x30;

const _: () = assert!(OWN_PRIORITY < TIMER_PRIORITY && TIMER_PRIORITY < device_priority(LEVELS));

#[cfg(test)]
mod tests {
    use super::{PriorityMask, device_priority};

    #[test]
    fn who_has_the_core_is_disturbed_by_the_more_urgent_only() {
        for running in 0..64 {
            for other in 0..64 {
                let mask = PriorityMask::of(running);
                let passes = device_priority(other) < mask.here;
                assert!(passes || other < running, "{other} reaches {running}");
                if other / 16 < running / 16 {
                    assert!(!passes, "{other} waits for {running}");
                }
                let passes = device_priority(other) < mask.coming;
                assert_eq!(
                    passes,
                    other / 16 > running / 16,
                    "{other}, {running} comes"
                );
            }
        }
    }
}
