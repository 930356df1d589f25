//! Interrupt exits: the fast path from the exception vector.

use crate::{
    bounds::{self, TIMER_GUARD},
    core_mode::CoreMode,
    core_scheduler::{CoreScheduler, interrupts::hypervisor_deadline},
    vcpu_context::VcpuContext,
};
use core_statistics::ExitKind;
use mortise_partition::{Core, PriorityMask};
use mortise_vcpu::{Cause, FrameCell};

/// Handles an interrupt exit of the guest with that frame. The vector calls this function by name,
/// which avoids an indirect call through the dispatcher table.
#[unsafe(no_mangle)]
extern "C" fn mortise_interrupted(frame: &'static FrameCell) -> ! {
    // SAFETY: on a shared core only frames inside a `VcpuContext` are entered.
    let context = unsafe { VcpuContext::of(frame) };
    let core = Core::current();
    context.scheduler().handle_irq_exit(core, context)
}

impl CoreScheduler {
    /// Acknowledges the interrupt and ends the exit.
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

    /// Ends an exit for the hypervisor timer.
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

    /// Ends an exit for any other interrupt.
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

    /// Makes an acknowledged interrupt of a guest pending again if the hypervisor timer is near,
    /// and treats that timer as expired, so that nothing precedes the switch it may lead to.
    /// Returns the time of expiry.
    #[inline(always)]
    fn repend(&self, core: &'static Core, intid: u32) -> Option<u64> {
        let (alarm, now) = (hypervisor_deadline(), core.clock().ticks());
        if alarm > now + bounds::ticks(core, TIMER_GUARD) || !core.repend(intid) {
            return None;
        }
        // Until the next decision, or until a test for it unmasks.
        PriorityMask::CLOSED.apply();
        Some(alarm.max(now))
    }
}
