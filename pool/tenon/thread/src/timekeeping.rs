//! What a core keeps its timers in: the tickless queue, or the wheel of a fixed tick.
//!
//! An image has one of them, by its options; the code of the other one, and its room, are not in it.

use crate::kernel::{EXPIRY_STEPS, Kernel};
use crate::options;
use crate::timer::Timer;
use core::cell::Cell;
use core::mem::ManuallyDrop;
use core_timer::{RadixHeap, Step, TimingWheel};
use hw_arch::El1;
use hw_clock::Clock;

type Queue = RadixHeap<&'static Timer>;

/// The timers of a core. All of it is zero at first.
pub(crate) struct TimerStore {
    backend: Backend,
    /// Counter ticks in a tick of the wheel.
    length: Cell<u64>,
}

/// The queue first: it is the larger one.
union Backend {
    queue: ManuallyDrop<Queue>,
    wheel: ManuallyDrop<TimingWheel<&'static Timer>>,
}

const _: () = assert!(size_of::<TimingWheel<&Timer>>() <= size_of::<Queue>());

impl TimerStore {
    /// To be [begun](Timekeeping::begin).
    pub(crate) const fn unset() -> Self {
        Self {
            backend: Backend {
                queue: ManuallyDrop::new(Queue::unset()),
            },
            length: Cell::new(0),
        }
    }

    #[inline(always)]
    pub(crate) fn queue(&self) -> &Queue {
        // SAFETY: the queue was put there, and an image without a tick uses nothing else.
        unsafe { &self.backend.queue }
    }

    #[inline(always)]
    pub(crate) fn wheel(&self) -> &TimingWheel<&'static Timer> {
        // SAFETY: a queue is all zero at first, as a wheel without timers is, which is no larger;
        // an image with a tick uses nothing else.
        unsafe { &self.backend.wheel }
    }

    /// Lets time begin; returns when the first interrupt is due.
    pub(crate) fn begin(&self, clock: Clock<El1>) -> u64 {
        if !options::tick() {
            self.queue().reset();
            return u64::MAX;
        }
        let hertz = u64::from(clock.frequency().hertz());
        let length = (hertz / options::tick_hz().max(1) as u64).max(1);
        let tick = clock.ticks() / length;
        self.length.set(length);
        self.wheel().begin(tick);
        (tick + 1) * length
    }

    /// Starts a timer of the wheel, rounded up to a whole tick: never early.
    #[inline(always)]
    pub(crate) fn start_at_tick(&self, timer: &'static Timer, ticks: u64) {
        self.wheel()
            .start(timer, ticks.div_ceil(self.length.get().max(1)));
    }
}

impl Kernel {
    /// Turns the wheel as far as time has come, and sets the hardware for the next tick: the timer
    /// interrupt's work in an image with a fixed tick.
    pub(crate) fn turn(&self, now: u64) {
        let wheel = self.timers.wheel();
        let length = self.timers.length.get().max(1);
        let tick = now / length;
        for _ in 0..EXPIRY_STEPS {
            match wheel.expire(tick) {
                Step::Expired(timer) => timer.expire_out_of_line(self, now),
                Step::Moved => {}
                Step::Idle => return self.clock().move_alarm((tick + 1).saturating_mul(length)),
            }
        }
        // There may be more: the alarm is still due and interrupts at once again.
    }
}
