//! Priorities of physical interrupts.

use hw_irqchip_gicv3::cpu_interface;

/// Priority of Mortise's own interrupts: less urgent than the doorbell, which has 0, more urgent than
/// those of guests. In the GIC the smaller value is more urgent (GIC 4.8).
pub const OWN_PRIORITY: u8 = 0x40;

/// Priority of the virtual timer's interrupt on a shared core, where it always belongs to the
/// current vCPU.
pub const TIMER_PRIORITY: u8 = 0x80;

/// Priority of the SPIs of a VM with this scheduling priority (0 to 63): 16 of these share one
/// level. The priorities that a guest sets order its interrupts in the list registers.
pub const fn spi_priority(vm_priority: u8) -> u8 {
    LEAST_URGENT - (vm_priority & LEVEL_MASK)
}

/// Number of levels that interrupts of VMs are told apart by.
pub const INTERRUPT_LEVELS: usize = (LEVEL_MASK / STEP) as usize + 1;

/// Level of a VM with this priority, from 0, the least urgent.
pub const fn interrupt_level(vm_priority: u8) -> usize {
    ((vm_priority & LEVEL_MASK) / STEP) as usize
}

/// Interrupt priority of a level.
pub const fn level_priority(level: usize) -> u8 {
    spi_priority(level as u8 * STEP)
}

/// Priority mask of a core's CPU interface while a vCPU runs: it holds back the interrupts of VMs
/// of a lower level, which could not preempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PriorityMask {
    while_running: u8,
    during_switch: u8,
}

impl PriorityMask {
    /// No vCPU runs: nothing is masked.
    pub const OPEN: Self = Self::of(0);

    /// Masks all but Mortise's own interrupts.
    pub const CLOSED: Self = Self {
        while_running: TIMER_PRIORITY,
        during_switch: TIMER_PRIORITY,
    };

    /// Mask while a vCPU of this priority runs.
    #[must_use]
    pub const fn of(vm_priority: u8) -> Self {
        let own = spi_priority(vm_priority);
        Self {
            while_running: own + STEP,
            during_switch: own,
        }
    }

    /// Sets the core's priority mask. Masked interrupts stay pending in the distributor.
    #[inline]
    pub fn apply(self) {
        cpu_interface::set_mask(self.while_running);
    }

    /// Also masks interrupts for VMs of the same level, even more urgent ones: they do not delay the
    /// switch and are taken after it.
    #[inline]
    pub fn apply_during_switch(self) {
        cpu_interface::set_mask(self.during_switch);
    }
}

/// A CPU interface may implement 16 priorities, and signals those above its mask.
const STEP: u8 = 0x10;

const LEAST_URGENT: u8 = 0xe0;

/// Bits of a VM's priority that choose one of four levels of SPIs.
const LEVEL_MASK: u8 = 0x30;

const _: () = assert!(OWN_PRIORITY < TIMER_PRIORITY && TIMER_PRIORITY < spi_priority(LEVEL_MASK));

#[cfg(test)]
mod tests {
    use super::{PriorityMask, interrupt_level, level_priority, spi_priority};

    #[test]
    fn a_level_has_the_priority_of_its_vms() {
        for urgency in 0..64 {
            let level = interrupt_level(urgency);
            assert!(level < super::INTERRUPT_LEVELS);
            assert_eq!(level_priority(level), spi_priority(urgency));
        }
    }

    #[test]
    fn a_running_vcpu_is_interrupted_for_more_urgent_vms_only() {
        for running in 0..64 {
            for other in 0..64 {
                let mask = PriorityMask::of(running);
                let passes = spi_priority(other) < mask.while_running;
                assert!(passes || other < running, "{other} reaches {running}");
                if other / 16 < running / 16 {
                    assert!(!passes, "{other} waits for {running}");
                }
                let passes = spi_priority(other) < mask.during_switch;
                assert_eq!(
                    passes,
                    other / 16 > running / 16,
                    "{other}, {running} comes"
                );
            }
        }
    }
}
