//! The way of most exits into here: an interrupt, told by the vector.

use crate::{arrivals::alarm, seat::Seat, terms::Terms, turns::Turn};
use core_statistics::ExitKind;
use mortise_partition::{Core, PriorityMask};
use mortise_vcpu::{Cause, FrameCell};

/// Takes an interrupt of the guest whose registers went to that frame. The vectors call it, so that
/// nobody has to be asked for who shares this core out.
#[unsafe(no_mangle)]
extern "C" fn mortise_interrupted(frame: &'static FrameCell) -> ! {
    // SAFETY: the frames that are entered on a shared core stand in seats.
    let seat = unsafe { Seat::of(frame) };
    let core = Core::current();
    seat.home().interrupted(core, seat)
}

impl Turn {
    /// The same for who is in the registers.
    #[inline(always)]
    fn interrupted(&'static self, core: &'static Core, seat: &'static Seat) -> ! {
        core.record_exit(Cause::Irq);
        core.check_exit(Cause::Irq);
        seat.count(ExitKind::Interrupt);
        let intid = core.acknowledge();
        match core.is_hypervisor_timer(intid) {
            true => self.end_with_alarm(core, seat, core.clock().ticks()),
            false => self.end_with_other(core, seat, intid),
        }
    }

    /// Ends it for the hypervisor timer's.
    #[inline(always)]
    fn end_with_alarm(&'static self, core: &'static Core, seat: &'static Seat, now: u64) -> ! {
        match self.terms.get() {
            Terms::Promised => self.end_by_policy(core, seat, now),
            Terms::Plain => self.end_plainly(core, seat, now),
            Terms::Unknown => self.end_in_doubt(core, now),
        }
    }

    /// Ends it for any other one.
    #[inline(never)]
    fn end_with_other(&'static self, core: &'static Core, seat: &'static Seat, intid: u32) -> ! {
        match self.repend(core, intid) {
            Some(alarm) => self.end_with_alarm(core, seat, alarm),
            None => self.end_passing_on(core, intid),
        }
    }

    /// Puts a guest's interrupt that was acknowledged back where the core's timer is near, which is taken
    /// for come then: the switch that it may lead to has nothing before it. When that is.
    #[inline(always)]
    fn repend(&self, core: &'static Core, intid: u32) -> Option<u64> {
        let (alarm, now) = (alarm(), core.clock().ticks());
        if alarm > now + self.near.get() || !core.repend(intid) {
            return None;
        }
        // Until it is decided who has the core, or a look is to see it.
        PriorityMask::CLOSED.apply();
        Some(alarm.max(now))
    }
}
