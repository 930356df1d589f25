//! Announcements to a shared core: something arrived for a VM with a vCPU there.
//!
//! Another VM causes them at will, by SGIs, channels, PSCI or devices. An IPI that the core took at
//! once would take time of a more urgent vCPU for each. The sender therefore leaves the VM in a word
//! of its level and sends an SGI that has the priority of the VM's interrupts. While a more urgent
//! vCPU runs, the priority mask of the core holds the SGI back, as it does an SPI of that VM; no
//! instruction is executed there. The SGI stays pending in the redistributor, and is taken when the
//! core runs something less urgent or nothing.

use crate::{Core, vm::Vm};
use core::sync::atomic::Ordering;
use hw_irqchip_gicv3::{
    Group,
    cpu_interface::{self, Sgi},
};
use mortise_state::{
    announcement::first_sgi,
    priority::{INTERRUPT_LEVELS, interrupt_level},
};

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
        self.wake_announced(index);
    }

    /// Passes all announced VMs to this core's scheduler, before it schedules for the first time.
    pub fn take_all_announced(&'static self) {
        for level in 0..INTERRUPT_LEVELS {
            while let Some((index, _)) = self.announcements.take(level) {
                self.wake_announced(index);
            }
        }
    }

    /// Passes an announced VM to this core's scheduler.
    #[inline(always)]
    fn wake_announced(&'static self, index: usize) {
        if let (Some(dispatcher), Some(vm)) = (self.dispatcher(), self.machine.vm(index)) {
            self.wake_vcpu(dispatcher, vm);
        }
    }
}
