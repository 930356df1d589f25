//! Announcements to a shared core: something arrived for a VM with a vCPU there.
//!
//! Another VM causes them at will, by SGIs, channels, PSCI or devices. An IPI that the core took at
//! once would take time of a more urgent vCPU for each. The sender therefore leaves the VM in a word
//! of its level and sends an SGI that has the priority of the VM's interrupts. While a more urgent
//! vCPU runs, the priority mask of the core holds the SGI back, as it does an SPI of that VM; no
//! instruction is executed there. The SGI stays pending in the redistributor, and is taken when the
//! core runs something less urgent or nothing.
//!
//! No wake-up is lost: the word is written before the SGI is sent, and read after the SGI is
//! acknowledged; an SGI that is sent while another one is acknowledged pends again.

use crate::{Core, vm::Vm};
use core::sync::atomic::{AtomicU32, Ordering};
use hw_irqchip_gicv3::{
    Group,
    cpu_interface::{self, Sgi},
};
use mortise_state::priority::{INTERRUPT_LEVELS, interrupt_level};

/// VMs that are announced to a core, one bit each, by level.
pub struct Announcements([AtomicU32; INTERRUPT_LEVELS]);

impl Announcements {
    /// No announcement.
    pub(crate) const fn none() -> Self {
        Self([const { AtomicU32::new(0) }; INTERRUPT_LEVELS])
    }

    /// Leaves VM number `vm`.
    #[inline]
    fn leave(&self, level: usize, vm: usize) {
        self.0[level % INTERRUPT_LEVELS].fetch_or(1 << vm, Ordering::Release);
    }

    /// Takes one VM of a level; returns it and whether others are left.
    fn take(&self, level: usize) -> Option<(usize, bool)> {
        let word = &self.0[level % INTERRUPT_LEVELS];
        let all = word.load(Ordering::Acquire);
        let first = all & all.wrapping_neg();
        word.fetch_and(!first, Ordering::AcqRel);
        (first != 0).then(|| (first.trailing_zeros() as usize, all != first))
    }
}

/// First SGI of announcements, of level 0. Secure firmware may keep 8 to 15 for itself, and no guest
/// of a shared core has a physical SGI.
const fn first_sgi(doorbell: u32) -> u32 {
    if doorbell < INTERRUPT_LEVELS as u32 {
        INTERRUPT_LEVELS as u32
    } else {
        0
    }
}

impl Core {
    /// The SGI of a level.
    #[must_use]
    pub fn announcement_sgi(&self, level: usize) -> u32 {
        first_sgi(self.machine.board.doorbell) + level as u32
    }

    /// The level of an SGI of announcements.
    #[must_use]
    pub fn announced_level(&self, intid: u32) -> Option<usize> {
        let level = intid.checked_sub(first_sgi(self.machine.board.doorbell))? as usize;
        (level < INTERRUPT_LEVELS).then_some(level)
    }

    /// Announces a VM to this shared core, at the level of the VM, or at that of the VM that gives it
    /// an order if that is more urgent.
    #[inline(never)]
    pub(crate) fn announce(&self, vm: &Vm, ordered: bool) {
        let mut level = interrupt_level(vm.schedule().priority);
        if ordered && let Some((by, _)) = Core::current().current_vcpu() {
            level = level.max(interrupt_level(by.schedule().priority));
        }
        self.announcements.leave(level, vm.index);
        self.send_announcement(level);
    }

    /// Sends the SGI of a level to this core. A core that is not on yet looks for announcements
    /// before it schedules for the first time.
    fn send_announcement(&self, level: usize) {
        if let Some(bell) = Sgi::from_bits(self.doorbell_sgi.load(Ordering::Acquire)) {
            let sgi = bell.with_intid(self.announcement_sgi(level));
            cpu_interface::send(Group::One, sgi);
        }
    }

    /// Passes one VM that was announced at a level to this core's scheduler. If others are left, the
    /// SGI pends again, so that pending interrupts are taken in between.
    pub fn take_announced(&'static self, level: usize) {
        let Some((index, more)) = self.announcements.take(level) else {
            return;
        };
        if more {
            self.send_announcement(level);
        }
        if let (Some(dispatcher), Some(vm)) = (self.dispatcher(), self.machine.vm(index)) {
            self.wake_vcpu(dispatcher, vm);
        }
    }

    /// Passes all announced VMs to this core's scheduler, before it schedules for the first time.
    pub fn take_all_announced(&'static self) {
        for level in 0..INTERRUPT_LEVELS {
            while let Some((index, _)) = self.announcements.take(level) {
                if let (Some(dispatcher), Some(vm)) = (self.dispatcher(), self.machine.vm(index)) {
                    self.wake_vcpu(dispatcher, vm);
                }
            }
        }
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
