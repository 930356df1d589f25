//! The physical interrupt controller behind a virtual one.

use crate::{
    dispatch::WakeReason,
    machine::{Core, Machine},
    registry,
    vm::Vm,
};
use core_sync::TicketLock;
use hw_arch::registers::{ich_hcr_el2, ich_lr, ich_vtr_el2};
use hw_irqchip_gicv3::{FIRST_SPI, Trigger, cpu_interface};
use mortise_vgic::{ListRegister, Maintenance, PhysicalGic};

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

/// Bits of several virtual machines can share a register that is written back as
/// a whole.
pub(crate) static MERGE: TicketLock<()> = TicketLock::new(());

/// `ICH_HCR_EL2` (IHI 0069, 12.4.5).
mod hcr {
    pub const EN: u64 = 1;
    pub const EOI_COUNT_SHIFT: u64 = 27;
    pub const EOI_COUNT: u64 = 0x1f << EOI_COUNT_SHIFT;
}

/// Takes the virtual CPU interface of this core back to power-on: off, empty, no
/// group enabled, and no priority passes until the guest sets its mask.
pub(crate) fn reset_virtual_interface() {
    ich_hcr_el2::write(0);
    // Of an interface that is never turned on nothing is seen.
    if registry::virtual_devices() {
        clear_list_registers();
    }
    hw_arch::registers::ich_ap0r0_el2::write(0);
    hw_arch::registers::ich_ap1r0_el2::write(0);
    hw_arch::registers::ich_vmcr_el2::write(0);
    hw_arch::barrier::isb();
}

fn clear_list_registers() {
    for index in 0..list_registers() {
        ich_lr::write(index, 0);
    }
    let core = Core::current();
    core.listed.set(core.listed.get().cleared());
}

/// Turns the virtual CPU interface of this core on, with what stands in it.
pub(crate) fn open_virtual_interface() {
    ich_hcr_el2::write(ich_hcr_el2::read() | hcr::EN);
    hw_arch::barrier::isb();
}

/// Whether an interrupt waits in a list register of this core.
#[inline(never)]
pub(crate) fn is_interrupt_listed(core: &Core) -> bool {
    let mut listed = core.listed.get().registers();
    while listed != 0 {
        let index = listed.trailing_zeros() as usize;
        listed &= listed - 1;
        if ListRegister::from_bits(ich_lr::read(index)).is_pending() {
            return true;
        }
    }
    false
}

/// Injects the virtual timer's interrupt, which is active in the physical controller, by its
/// template, if there is one and its list register is free.
#[inline]
pub(crate) fn list_timer(core: &Core, vm: &Vm, vcpu: usize) -> bool {
    let template = vm.timer_template(vcpu);
    let fits = template != 0 && ListRegister::from_bits(ich_lr::read(0)).is_free();
    if fits {
        ich_lr::write(0, template);
        core.record_injection(ListRegister::from_bits(template).intid());
        let listed = core.listed.get().with_lr(0, true);
        core.listed
            .set(listed.with_timer_irq(mortise_vcpu::TimerIrq::InLr0));
    }
    fits
}

fn list_registers() -> usize {
    (ich_vtr_el2::read() & 0x1f) as usize + 1
}

/// This core's list registers, and the interrupts that `vm` owns.
pub(crate) struct VmInterrupts {
    pub machine: &'static Machine,
    pub vm: &'static Vm,
}

impl VmInterrupts {
    /// Runs `private` on the redistributor of `vcpu`, or `shared` on the
    /// distributor, whichever `intid` belongs to.
    fn on<R>(
        &self,
        intid: u32,
        vcpu: usize,
        private: impl FnOnce(hw_irqchip_gicv3::Redistributor) -> R,
        shared: impl FnOnce(hw_irqchip_gicv3::Distributor) -> R,
    ) -> R {
        let board = &self.machine.board;
        if intid < FIRST_SPI {
            private(board.redistributor(self.vm.cpu(vcpu)))
        } else {
            shared(board.distributor())
        }
    }

    /// Whether a private interrupt of `vcpu` is only the guest's idea of it: a core that
    /// several share has it enabled, at one priority, for whoever is there.
    fn is_apart(&self, intid: u32, vcpu: usize) -> bool {
        intid < FIRST_SPI && self.is_shared_core(self.vm.cpu(vcpu))
    }

    fn is_shared_core(&self, cpu: usize) -> bool {
        let core = self.machine.cores.get(cpu);
        core.is_some_and(|core| core.dispatcher().is_some())
    }
}

impl PhysicalGic for VmInterrupts {
    fn list_registers(&self) -> usize {
        list_registers()
    }

    fn read_lr(&self, index: usize) -> ListRegister {
        ListRegister::from_bits(ich_lr::read(index))
    }

    fn write_lr(&mut self, index: usize, value: ListRegister) {
        ich_lr::write(index, value.bits());
        let core = Core::current();
        if value.is_pending() {
            core.record_injection(value.intid());
        }
        let something = value != ListRegister::EMPTY;
        core.listed.set(core.listed.get().with_lr(index, something));
    }

    fn clear_lrs(&mut self) {
        clear_list_registers();
    }

    fn take_eoi_count(&mut self) -> usize {
        let value = ich_hcr_el2::read();
        if value & hcr::EOI_COUNT != 0 {
            ich_hcr_el2::write(value & !hcr::EOI_COUNT);
        }
        ((value & hcr::EOI_COUNT) >> hcr::EOI_COUNT_SHIFT) as usize
    }

    fn set_maintenance(&mut self, wanted: Maintenance) {
        let others = ich_hcr_el2::read() & !Maintenance::ALL.bits();
        ich_hcr_el2::write(others | wanted.bits());
    }

    fn kick(&mut self, vcpu: usize) {
        let core = Core::current();
        let here = core.dispatcher().is_some() && core.cpu == self.vm.cpu(vcpu);
        // Who is in the registers hears of it on its way, without a doorbell if nothing goes first.
        if here && core.is_running(self.vm) && !core.preemption_pending() {
            self.defer_refresh();
        } else {
            self.machine.notify(self.vm, vcpu);
        }
    }

    #[inline]
    fn should_yield(&self) -> bool {
        Core::current().preemption_pending()
    }

    fn defer_refresh(&mut self) -> bool {
        let core = Core::current();
        let dispatcher = core.dispatcher();
        if let Some(dispatcher) = dispatcher {
            dispatcher.wake(core, self.vm, WakeReason::StateChanged);
        }
        dispatcher.is_some()
    }

    fn set_template(&mut self, intid: u32, vcpu: usize, value: ListRegister) {
        if intid == self.machine.board.virtual_timer {
            self.vm.set_timer_template(vcpu, value.bits());
        }
    }

    fn enable(&mut self, intid: u32, vcpu: usize, enabled: bool) {
        if self.is_apart(intid, vcpu) {
            return;
        }
        self.on(
            intid,
            vcpu,
            |private| {
                if enabled {
                    private.enable(intid)
                } else {
                    private.disable(intid)
                }
            },
            |shared| {
                if enabled {
                    shared.enable(intid)
                } else {
                    shared.disable(intid)
                }
            },
        );
    }

    fn set_pending(&mut self, intid: u32, vcpu: usize, pending: bool) {
        if self.is_apart(intid, vcpu) {
            return;
        }
        self.on(
            intid,
            vcpu,
            |private| private.set_pending(intid, pending),
            |shared| shared.set_pending(intid, pending),
        );
    }

    fn pending_word(&self, first: u32, vcpu: usize) -> u32 {
        if self.is_apart(first, vcpu) {
            return 0;
        }
        self.on(
            first,
            vcpu,
            |private| private.pending_word(first),
            |shared| shared.pending_word(first),
        )
    }

    fn set_route(&mut self, intid: u32, vcpu: usize) {
        let board = &self.machine.board;
        let affinity = board.redistributor(self.vm.cpu(vcpu)).affinity();
        board.distributor().route(intid, affinity);
    }

    fn set_edge(&mut self, intid: u32, vcpu: usize, edge: bool) {
        if self.is_apart(intid, vcpu) {
            return;
        }
        let trigger = if edge { Trigger::Edge } else { Trigger::Level };
        let _guard = MERGE.lock();
        self.on(
            intid,
            vcpu,
            |private| private.set_trigger(intid, trigger),
            |shared| shared.set_trigger(intid, trigger),
        );
    }

    fn deactivate(&mut self, intid: u32, vcpu: usize) {
        let board = &self.machine.board;
        if intid >= FIRST_SPI {
            return board.distributor().deactivate(intid);
        }
        let cpu = self.vm.cpu(vcpu);
        if !self.is_shared_core(cpu) || Core::current().is_running(self.vm) {
            board.redistributor(cpu).deactivate(intid);
        }
    }
}

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
