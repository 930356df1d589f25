//! Physical GIC behind the virtual GIC of a VM.

use super::list_registers::{clear_list_registers, hcr, list_registers};
use core_sync::TicketLock;
use hw_arch::registers::{ich_hcr_el2, ich_lr};
use hw_irqchip_gicv3::{FIRST_SPI, Trigger};
use mortise_machine::{Core, Machine, Vm, interface::WakeReason};
use mortise_vgic::{ListRegister, Maintenance, PhysicalGic};

/// Lock for registers that are written as a whole and hold bits of several VMs.
pub(crate) static MERGE_LOCK: TicketLock<()> = TicketLock::new(());

/// This core's list registers, and the physical interrupts that `vm` owns.
pub(crate) struct VmInterrupts {
    /// The machine.
    pub(crate) machine: &'static Machine,
    /// The owner.
    pub vm: &'static Vm,
}

impl VmInterrupts {
    /// Calls `private` with the redistributor of `vcpu`, or `shared` with the distributor,
    /// depending on `intid`.
    fn on_gic<R>(
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

    /// Whether a private interrupt of `vcpu` is virtual only: a shared core has it enabled, at one
    /// priority, for its current vCPU.
    fn is_virtual_only(&self, intid: u32, vcpu: usize) -> bool {
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
        core.lr_usage
            .set(core.lr_usage.get().with_lr(index, something));
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
        // The current vCPU is refreshed on its way to the guest, without a doorbell unless an
        // interrupt is pending.
        if here && core.is_running(self.vm) && !core.preemption_pending() {
            self.defer_refresh();
        } else {
            self.machine.wake(self.vm, vcpu);
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
        if self.is_virtual_only(intid, vcpu) {
            return;
        }
        self.on_gic(
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
        if self.is_virtual_only(intid, vcpu) {
            return;
        }
        self.on_gic(
            intid,
            vcpu,
            |private| private.set_pending(intid, pending),
            |shared| shared.set_pending(intid, pending),
        );
    }

    fn pending_word(&self, first: u32, vcpu: usize) -> u32 {
        if self.is_virtual_only(first, vcpu) {
            return 0;
        }
        self.on_gic(
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
        if self.is_virtual_only(intid, vcpu) {
            return;
        }
        let trigger = if edge { Trigger::Edge } else { Trigger::Level };
        let _guard = MERGE_LOCK.lock();
        self.on_gic(
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

/// Refreshes this core's list registers.
pub(crate) fn refresh(core: &'static Core, vm: &'static Vm, vcpu: usize) {
    if let Some(gic) = vm.interrupts.shared() {
        gic.lock().refresh_lrs(
            vcpu,
            &mut VmInterrupts {
                machine: core.machine,
                vm,
            },
        );
    }
}

/// Injects an acknowledged interrupt without a [template](Vm::timer_template).
pub(crate) fn inject_listed(core: &'static Core, vm: &'static Vm, vcpu: usize, intid: u32) -> bool {
    let mut physical = VmInterrupts {
        machine: core.machine,
        vm,
    };
    let gic = vm.interrupts.shared();
    gic.is_some_and(|gic| gic.lock().inject_hardware(vcpu, intid, &mut physical))
}

/// Virtual interrupts that software raises.
pub trait RaiseInterrupt {
    /// Raises an interrupt that [`Vm::add_interrupt`] added. Has no effect on a VM with direct
    /// interrupts.
    fn raise(&'static self, machine: &'static Machine, intid: u32);
}

impl RaiseInterrupt for Vm {
    fn raise(&'static self, machine: &'static Machine, intid: u32) {
        if let Some(gic) = self.interrupts.shared() {
            gic.lock()
                .pulse(intid, &mut VmInterrupts { machine, vm: self });
        }
    }
}
