//! The way of most exits into here: an interrupt, told by the vector.

use crate::{arrivals::alarm, seat::Seat, terms::Terms, turns::Turn};
use core_statistics::ExitKind;
use mortise_partition::{Core, Mask};
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

/// Ticks of a counter of 62.5 MHz from an interrupt's being taken to the first instruction of a switch's
/// guest, at least: 192 ns. What is to come within that has come by then.
const NEAR: u64 = 12;

/// Puts an interrupt that was acknowledged back where the core's timer is near, which is taken for its
/// own then: the switch that it may lead to has nothing before it, and whatever came comes again. When
/// that is.
#[inline(always)]
fn put_back(core: &'static Core, intid: u32) -> Option<u64> {
    let (alarm, now) = (alarm(), core.clock().ticks());
    if alarm > now + NEAR || !core.put_back(intid) {
        return None;
    }
    // Until it is decided who has the core.
    Mask::CLOSED.apply();
    Some(alarm.max(now))
}

impl Turn {
    /// The same for who is in the registers.
    #[inline(always)]
    fn interrupted(&'static self, core: &'static Core, seat: &'static Seat) -> ! {
        core.record_exit(Cause::Irq);
        core.witness_exit(Cause::Irq);
        seat.count(ExitKind::Interrupt);
        let intid = core.acknowledge();
        let now = match core.is_alarm(intid) {
            true => core.clock().ticks(),
            false => match put_back(core, intid) {
                Some(alarm) => alarm,
                None => self.end_passing_on(core, intid),
            },
        };
        match self.terms.get() {
            Terms::Promised => self.end_by_policy(core, seat, now),
            Terms::Plain => self.end_plainly(core, seat, now),
            Terms::Unknown => self.end_in_doubt(core, now),
        }
    }
}
