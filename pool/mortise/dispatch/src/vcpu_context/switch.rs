//! Save and restore of a vCPU context.

use super::VcpuContext;
use mortise_partition::{Core, Vcpu, VirtualInterface};
use mortise_vcpu::{FloatingPointTrap, LrUsage, OptionalRegisters, TimerIrq};

/// What a fast switch applies beside the registers.
#[derive(Clone, Copy)]
pub(crate) struct FastSwitch {
    /// Whether floating point traps for the new vCPU.
    trap: FloatingPointTrap,
    /// The list registers in use, of the loaded vCPU and of the new one.
    there: LrUsage,
    coming: LrUsage,
}

impl VcpuContext {
    /// Whether floating point traps while the vCPU runs, if that is known.
    pub fn fp_trap(&self) -> Option<FloatingPointTrap> {
        self.fp_trap.get()
    }

    /// Sets whether floating point traps.
    pub fn set_fp_trap(&self, trap: Option<FloatingPointTrap>) {
        let bare = self
            .scheduler
            .get()
            .is_some_and(|scheduler| scheduler.optional.get() == OptionalRegisters::NONE);
        self.fp_trap.set(trap);
        self.fast_fp_trap.set(trap.filter(|_| bare));
    }

    /// Saves the loaded vCPU.
    pub fn save(&self, core: &'static Core) {
        self.mask_timer();
        self.save_masked(core);
    }

    /// Masks the virtual timer: the first step of a save.
    #[inline(always)]
    pub fn mask_timer(&self) {
        // SAFETY: the core's registers hold this vCPU, and only this core accesses the context.
        unsafe { self.registers.save_timer() };
    }

    /// Reverts [`mask_timer`](Self::mask_timer).
    #[cold]
    pub fn unmask_timer(&self) {
        // SAFETY: the core's registers still hold this vCPU, and only its timer was masked.
        unsafe { self.registers.resume_timer() };
    }

    /// The second step of a save, after [`mask_timer`](Self::mask_timer).
    #[inline(always)]
    pub fn save_masked(&self, core: &'static Core) {
        self.save_registers();
        core.save_virtual_interface_slow(&self.registers, &self.cold);
    }

    /// The second step of a save for a [fast switch](Self::fast_switch).
    #[inline(always)]
    pub fn save_fast(&self, core: &'static Core, fast: FastSwitch) {
        self.save_registers();
        core.save_virtual_interface(&self.registers, fast.there);
    }

    #[inline(always)]
    fn save_registers(&self) {
        // SAFETY: the core's registers hold this vCPU with its timer masked, and only this core
        // accesses the context.
        unsafe { self.registers.save() };
    }

    /// What a fast switch to this vCPU applies, if one is possible.
    #[inline(always)]
    pub fn fast_switch(&self, core: &'static Core) -> Option<FastSwitch> {
        let (trap, there, coming) = (
            self.fast_fp_trap.get()?,
            core.lr_usage(),
            self.registers.lr_usage(),
        );
        let fast = FastSwitch {
            trap,
            there,
            coming,
        };
        there.is_fast_switch(coming).then_some(fast)
    }

    /// Sets where the timer interrupt of a descheduled vCPU is.
    pub fn note_timer(&self, timer: TimerIrq) {
        let listed = self.registers.lr_usage().with_timer_irq(timer);
        self.registers.set_lr_usage(listed);
    }

    /// Saves the optional registers.
    pub fn save_optional(&self, optional: OptionalRegisters) {
        // SAFETY: the core's registers hold this vCPU and include the `optional` groups, and only
        // this core accesses the context.
        unsafe { self.cold.save(optional) };
    }

    /// Restores the vCPU after the previous vCPU is saved.
    #[inline(always)]
    pub fn restore(&self, core: &'static Core, vcpu: Vcpu) {
        core.set_current_vcpu(vcpu);
        core.restore_virtual_interface_slow(&self.registers, &self.cold, &self.timer_template);
        self.restore_registers();
    }

    /// Restores the vCPU for a [fast switch](Self::fast_switch).
    #[inline(always)]
    pub fn restore_fast(&self, core: &'static Core, vcpu: Vcpu, fast: FastSwitch) {
        core.set_current_vcpu(vcpu);
        fast.trap.apply();
        core.restore_virtual_interface(&self.registers, fast.coming, &self.timer_template);
        self.restore_registers();
    }

    #[inline(always)]
    fn restore_registers(&self) {
        // This includes the timer; its interrupt is listed already if it expired.
        //
        // SAFETY: the previous vCPU is saved, and stage 2 is that of this vCPU's VM.
        unsafe { self.registers.load() };
    }

    /// Restores the optional registers.
    pub fn restore_optional(&self, optional: OptionalRegisters) {
        // SAFETY: the previous vCPU's optional registers are saved, the core implements the
        // `optional` groups, and only this core accesses the context.
        unsafe { self.cold.load(optional) };
    }

    /// Disables the floating-point trap.
    #[inline]
    pub fn enable_fp(&self) {
        FloatingPointTrap::OFF.apply();
        self.set_fp_trap(Some(FloatingPointTrap::OFF));
    }
}
