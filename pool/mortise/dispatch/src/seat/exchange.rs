//! How who has a seat comes into the core's registers, and out of them.

use super::Seat;
use mortise_partition::{Core, Vcpu};
use mortise_vcpu::{FloatingPointTrap, LrUsage, OptionalRegisters, TimerIrq};

/// What is exchanged beside the registers where that takes the fewest steps.
#[derive(Clone, Copy)]
pub(crate) struct ExitClass {
    /// Whether floating point traps then.
    trap: FloatingPointTrap,
    /// What stands in list registers, and is to stand there.
    there: LrUsage,
    coming: LrUsage,
}

impl Seat {
    /// Whether floating point traps while it is on the core, if that is known.
    pub fn trap(&self) -> Option<FloatingPointTrap> {
        self.trap.get()
    }

    /// Notes that.
    pub fn set_trap(&self, trap: Option<FloatingPointTrap>) {
        let bare = self
            .home
            .get()
            .is_some_and(|home| home.rest.get() == OptionalRegisters::NONE);
        self.trap.set(trap);
        self.usual_trap.set(trap.filter(|_| bare));
    }

    /// Takes it off the core, whose registers hold it.
    pub fn store(&self, core: &'static Core) {
        self.silence();
        self.store_silent(core);
    }

    /// Has its timer be silent, the first part of that.
    #[inline(always)]
    pub fn silence(&self) {
        // SAFETY: the registers hold this virtual CPU, and only its core comes here.
        unsafe { self.context.save_timer() };
    }

    /// Takes the first part back.
    #[cold]
    pub fn go_on_sounding(&self) {
        // SAFETY: as above, and nothing else was done since.
        unsafe { self.context.resume_timer() };
    }

    /// The second part of it.
    #[inline(always)]
    pub fn store_silent(&self, core: &'static Core) {
        self.store_registers();
        core.save_virtual_interface_slow(&self.context, &self.rare);
    }

    /// The same where the exchange is [usual](Self::usual).
    #[inline(always)]
    pub fn store_usual(&self, core: &'static Core, usual: ExitClass) {
        self.store_registers();
        core.save_virtual_interface(&self.context, usual.there);
    }

    #[inline(always)]
    fn store_registers(&self) {
        // SAFETY: as above.
        unsafe { self.context.save() };
    }

    /// What is to be exchanged for it, if that takes the fewest steps.
    #[inline(always)]
    pub fn usual(&self, core: &'static Core) -> Option<ExitClass> {
        let (trap, there, coming) = (
            self.usual_trap.get()?,
            core.listed(),
            self.context.lr_usage(),
        );
        let usual = ExitClass {
            trap,
            there,
            coming,
        };
        there.is_fast_switch(coming).then_some(usual)
    }

    /// Notes where the interrupt of its timer is, while it is off the core.
    pub fn note_timer(&self, timer: TimerIrq) {
        let listed = self.context.lr_usage().with_timer_irq(timer);
        self.context.set_lr_usage(listed);
    }

    /// Does the same with what few cores have.
    pub fn store_rest(&self, rest: OptionalRegisters) {
        // SAFETY: as above.
        unsafe { self.rare.save(rest) };
    }

    /// Puts it on the core, whose registers hold nobody who is needed.
    #[inline(always)]
    pub fn load(&self, core: &'static Core, occupant: Vcpu) {
        core.set_current_vcpu(occupant);
        core.restore_virtual_interface_slow(&self.context, &self.rare, &self.template);
        self.load_registers();
    }

    /// The same where the exchange is [usual](Self::usual).
    #[inline(always)]
    pub fn load_usual(&self, core: &'static Core, occupant: Vcpu, usual: ExitClass) {
        core.set_current_vcpu(occupant);
        usual.trap.apply();
        core.restore_virtual_interface(&self.context, usual.coming, &self.template);
        self.load_registers();
    }

    #[inline(always)]
    fn load_registers(&self) {
        // With the timer, whose interrupt is listed already if it is due.
        //
        // SAFETY: whoever was there was taken off; stage 2 is this virtual machine's.
        unsafe { self.context.load() };
    }

    /// Does the same with what few cores have.
    pub fn load_rest(&self, rest: OptionalRegisters) {
        // SAFETY: as above.
        unsafe { self.rare.load(rest) };
    }

    /// Has floating point not trap on the core any more.
    #[inline]
    pub fn use_floating_point(&self) {
        FloatingPointTrap::OFF.apply();
        self.set_trap(Some(FloatingPointTrap::OFF));
    }
}
