//! How who has a seat comes into the core's registers, and out of them.

use super::VcpuContext;
use mortise_partition::{Core, Vcpu};
use mortise_vcpu::{FloatingPointTrap, LrUsage, OptionalRegisters, TimerIrq};

/// What is exchanged beside the registers where that takes the fewest steps.
#[derive(Clone, Copy)]
pub(crate) struct FastSwitch {
    /// Whether floating point traps then.
    trap: FloatingPointTrap,
    /// What stands in list registers, and is to stand there.
    there: LrUsage,
    coming: LrUsage,
}

impl VcpuContext {
    /// Whether floating point traps while it is on the core, if that is known.
    pub fn fp_trap(&self) -> Option<FloatingPointTrap> {
        self.fp_trap.get()
    }

    /// Notes that.
    pub fn set_fp_trap(&self, trap: Option<FloatingPointTrap>) {
        let bare = self
            .scheduler
            .get()
            .is_some_and(|scheduler| scheduler.optional.get() == OptionalRegisters::NONE);
        self.fp_trap.set(trap);
        self.fast_fp_trap.set(trap.filter(|_| bare));
    }

    /// Takes it off the core, whose registers hold it.
    pub fn save(&self, core: &'static Core) {
        self.mask_timer();
        self.save_masked(core);
    }

    /// Has its timer be silent, the first part of that.
    #[inline(always)]
    pub fn mask_timer(&self) {
        // SAFETY: the registers hold this virtual CPU, and only its core comes here.
        unsafe { self.registers.save_timer() };
    }

    /// Takes the first part back.
    #[cold]
    pub fn unmask_timer(&self) {
        // SAFETY: as above, and nothing else was done since.
        unsafe { self.registers.resume_timer() };
    }

    /// The second part of it.
    #[inline(always)]
    pub fn save_masked(&self, core: &'static Core) {
        self.save_registers();
        core.save_virtual_interface_slow(&self.registers, &self.cold);
    }

    /// The same where the exchange is [usual](Self::fast_switch).
    #[inline(always)]
    pub fn save_fast(&self, core: &'static Core, fast: FastSwitch) {
        self.save_registers();
        core.save_virtual_interface(&self.registers, fast.there);
    }

    #[inline(always)]
    fn save_registers(&self) {
        // SAFETY: as above.
        unsafe { self.registers.save() };
    }

    /// What is to be exchanged for it, if that takes the fewest steps.
    #[inline(always)]
    pub fn fast_switch(&self, core: &'static Core) -> Option<FastSwitch> {
        let (trap, there, coming) = (
            self.fast_fp_trap.get()?,
            core.listed(),
            self.registers.lr_usage(),
        );
        let fast = FastSwitch {
            trap,
            there,
            coming,
        };
        there.is_fast_switch(coming).then_some(fast)
    }

    /// Notes where the interrupt of its timer is, while it is off the core.
    pub fn note_timer(&self, timer: TimerIrq) {
        let listed = self.registers.lr_usage().with_timer_irq(timer);
        self.registers.set_lr_usage(listed);
    }

    /// Does the same with what few cores have.
    pub fn save_optional(&self, optional: OptionalRegisters) {
        // SAFETY: as above.
        unsafe { self.cold.save(optional) };
    }

    /// Puts it on the core, whose registers hold nobody who is needed.
    #[inline(always)]
    pub fn restore(&self, core: &'static Core, vcpu: Vcpu) {
        core.set_current_vcpu(vcpu);
        core.restore_virtual_interface_slow(&self.registers, &self.cold, &self.timer_template);
        self.restore_registers();
    }

    /// The same where the exchange is [usual](Self::fast_switch).
    #[inline(always)]
    pub fn restore_fast(&self, core: &'static Core, vcpu: Vcpu, fast: FastSwitch) {
        core.set_current_vcpu(vcpu);
        fast.trap.apply();
        core.restore_virtual_interface(&self.registers, fast.coming, &self.timer_template);
        self.restore_registers();
    }

    #[inline(always)]
    fn restore_registers(&self) {
        // With the timer, whose interrupt is listed already if it is due.
        //
        // SAFETY: whoever was there was taken off; stage 2 is this virtual machine's.
        unsafe { self.registers.load() };
    }

    /// Does the same with what few cores have.
    pub fn restore_optional(&self, optional: OptionalRegisters) {
        // SAFETY: as above.
        unsafe { self.cold.load(optional) };
    }

    /// Has floating point not trap on the core any more.
    #[inline]
    pub fn enable_fp(&self) {
        FloatingPointTrap::OFF.apply();
        self.set_fp_trap(Some(FloatingPointTrap::OFF));
    }
}
