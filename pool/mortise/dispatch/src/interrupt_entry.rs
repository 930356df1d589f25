//! The way of most exits into here: an interrupt, told by the vector.

use crate::{
    core_mode::CoreMode, core_scheduler::CoreScheduler, interrupts::hypervisor_deadline,
    vcpu_context::VcpuContext,
};
use core_statistics::ExitKind;
use mortise_partition::{Core, PriorityMask};
use mortise_vcpu::{Cause, FrameCell};

/// Takes an interrupt of the guest whose registers went to that frame. The vectors call it, so that
/// nobody has to be asked for who shares this core out.
#[unsafe(no_mangle)]
extern "C" fn mortise_interrupted(frame: &'static FrameCell) -> ! {
    // SAFETY: the frames that are entered on a shared core stand in seats.
    let context = unsafe { VcpuContext::of(frame) };
    let core = Core::current();
    context.scheduler().handle_irq_exit(core, context)
}

impl CoreScheduler {
    /// The same for who is in the registers.
    #[inline(always)]
    fn handle_irq_exit(&'static self, core: &'static Core, context: &'static VcpuContext) -> ! {
        core.record_exit(Cause::Irq);
        core.check_exit(Cause::Irq);
        context.count(ExitKind::Interrupt);
        let intid = core.acknowledge();
        match core.is_hypervisor_timer(intid) {
            true => self.reschedule_at_timer(core, context, core.clock().ticks()),
            false => self.reschedule_at_interrupt(core, context, intid),
        }
    }

    /// Ends it for the hypervisor timer's.
    #[inline(always)]
    fn reschedule_at_timer(
        &'static self,
        core: &'static Core,
        context: &'static VcpuContext,
        now: u64,
    ) -> ! {
        match self.mode.get() {
            CoreMode::Reserved => self.reschedule_reserved(core, context, now),
            CoreMode::FixedPriority => self.reschedule_fixed(core, context, now),
            CoreMode::Stale => self.reschedule_slow(core, now),
        }
    }

    /// Ends it for any other one.
    #[inline(never)]
    fn reschedule_at_interrupt(
        &'static self,
        core: &'static Core,
        context: &'static VcpuContext,
        intid: u32,
    ) -> ! {
        match self.repend(core, intid) {
            Some(alarm) => self.reschedule_at_timer(core, context, alarm),
            None => self.handle_device_interrupt(core, intid),
        }
    }

    /// Puts a guest's interrupt that was acknowledged back where the core's timer is near, which is taken
    /// for come then: the switch that it may lead to has nothing before it. When that is.
    #[inline(always)]
    fn repend(&self, core: &'static Core, intid: u32) -> Option<u64> {
        let (alarm, now) = (hypervisor_deadline(), core.clock().ticks());
        if alarm > now + self.timer_guard.get() || !core.repend(intid) {
            return None;
        }
        // Until it is decided who has the core, or a look is to see it.
        PriorityMask::CLOSED.apply();
        Some(alarm.max(now))
    }
}
