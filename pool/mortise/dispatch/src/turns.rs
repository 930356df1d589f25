//! Who has a core, and until when.

use crate::{
    seat::{Phase, Seat, Timer},
    timers::Timers,
};
use core::cell::Cell;
use core_sched::{Priority, Shares};
use core_statistics::ExitKind;
use core_trace::Event;
use hw_arch::{cpu, read_register};
use mortise_partition::{Core, Dispatch, Dispatcher, Mask, News, Taken, Vm};
use mortise_vcpu::{Cause, FrameCell, Rest, enter, is_wait, skip_instruction, timer_deadline};

/// Cores that can be shared.
const CORES: usize = 4;

/// Virtual machines that there can be.
const VMS: usize = 16;

/// Ticks of one turn in the background: 1 ms of a counter of 62.5 MHz. Who is there only until its
/// next budget has few turns before: long ones would all be the others'.
const SLICE: u32 = 62_500;

/// The turns of all cores.
pub struct Turns([Turn; CORES]);

/// What an image of mode 2 registers.
pub static DISPATCH: Turns = Turns([const { Turn::new() }; CORES]);

impl Dispatch for Turns {
    fn core(&'static self, cpu: usize, vms: usize) -> Option<&'static dyn Dispatcher> {
        self.0.get(cpu).filter(|_| vms <= VMS).map(|turn| turn as _)
    }
}

/// Who has one core, and who waits for it.
#[repr(C)] // the seats last, so that what every exit uses is within reach of one load
pub(crate) struct Turn {
    /// Who is in the registers.
    pub loaded: Cell<Option<&'static Seat>>,
    /// Who was decided on last.
    pub chosen: Cell<Option<&'static Seat>>,
    /// Whether the decision may be another one by now.
    pub ask: Cell<bool>,
    /// Whether time does not matter: all have fixed priorities, one at most is in the
    /// background.
    pub plain: Cell<bool>,
    /// Whether the core has registers that few cores have.
    pub rest: Cell<Rest>,
    /// When Mortise itself has something to do here.
    pub own_alarm: Cell<u64>,
    /// Whose floating-point registers are in the core.
    pub floating_point: Cell<Option<&'static Seat>>,
    /// Who waits for its timer, by its machine's number.
    pub timers: Timers<VMS>,
    /// Who wants the core.
    pub shares: Shares<&'static Seat>,
    /// Each virtual machine's seat.
    pub seats: [Seat; VMS],
}

// SAFETY: a core's turns are reached by that core only.
unsafe impl Sync for Turn {}

impl Dispatcher for Turn {
    fn begin(&'static self, core: &'static Core) -> ! {
        // SAFETY: no guest has run on this core.
        self.rest.set(unsafe { Rest::of_core() });
        core.clock().set_alarm(u64::MAX);
        self.leave(core)
    }

    fn exit(&'static self, core: &'static Core, cause: Cause) -> &'static FrameCell {
        core.record_exit(cause);
        if cause == Cause::Irq {
            self.count(ExitKind::Interrupt);
            self.interrupt(core);
        } else if cause == Cause::Synchronous && is_wait() {
            self.count(ExitKind::Wait);
            skip_instruction();
            if !core.is_listed() {
                self.wait(core);
            }
        } else {
            self.take_other(core, cause);
        }
        self.leave(core)
    }

    #[inline]
    fn wait(&self, core: &'static Core) {
        let Some(seat) = self.loaded.get() else {
            return;
        };
        if self.plain.get() {
            self.shares.give_up(seat);
        } else {
            self.shares.wait(seat, core.clock().ticks());
        }
        let deadline = timer_deadline();
        if let Some(deadline) = deadline {
            self.timers.start(seat.number.get(), deadline);
        }
        self.ask.set(true);
        seat.record(core, deadline.map_or(Event::Park, |_| Event::Sleep));
    }

    fn stop(&self, core: &'static Core) {
        if let Some(seat) = self.loaded.get() {
            seat.phase.set(Phase::Ended);
            seat.record(core, Event::End);
        }
    }

    fn wake(&'static self, core: &'static Core, vm: &'static Vm, news: News) {
        let Some(seat) = self.seats.get(vm.index()) else {
            return;
        };
        if seat.vm().is_none() && !self.seat(core, seat, vm) {
            return;
        }
        match news {
            News::Listed => {}
            News::Written => seat.set_behind(),
            News::Interrupt(intid) => seat.note(intid),
        }
        if !seat.state.is_ready() && !vm.is_kept_off() {
            self.timers.cancel(vm.index());
            self.want(core, seat);
            self.ask.set(true);
        }
    }

    fn hold(&'static self, core: &'static Core, vm: &'static Vm, forget: bool) {
        let Some(seat) = self.seats.get(vm.index()) else {
            return;
        };
        self.timers.cancel(vm.index());
        self.shares.wait(seat, core.clock().ticks());
        self.ask.set(true);
        seat.record(core, Event::Park);
        if forget && seat.vm().is_some() {
            self.forget(core, seat);
        }
    }

    fn reconsider(&self, core: &'static Core) {
        self.own_alarm.set(core.own_alarm());
        self.ask.set(true);
    }

    fn floating_point(&self) {
        if let Some(seat) = self.loaded.get() {
            self.take_floating_point(seat);
        }
    }
}

/// Whether an interrupt is pending: `ISR_EL1`, read at EL2, tells what is so physically (Arm
/// ARM, D19.2.61).
#[inline]
pub(crate) fn is_pending() -> bool {
    read_register!("isr_el1") != 0
}

/// Whether somebody is this one.
#[inline]
pub(crate) fn is(somebody: Option<&'static Seat>, seat: &'static Seat) -> bool {
    somebody.map_or(core::ptr::null(), core::ptr::from_ref) == core::ptr::from_ref(seat)
}

impl Turn {
    const fn new() -> Self {
        Self {
            loaded: Cell::new(None),
            chosen: Cell::new(None),
            ask: Cell::new(true),
            plain: Cell::new(true),
            rest: Cell::new(Rest::NONE),
            own_alarm: Cell::new(u64::MAX),
            floating_point: Cell::new(None),
            timers: Timers::new(),
            shares: Shares::new(SLICE),
            seats: [const { Seat::new() }; VMS],
        }
    }

    /// Ends an exit: who is to go on is put into the registers, if need be, or waited for.
    /// Between its parts the core looks at its interrupts.
    #[inline(always)]
    fn leave(&'static self, core: &'static Core) -> ! {
        let mut switched = false;
        loop {
            if self.ask.get() {
                if !self.plain.get() && !self.has_accounted(core) {
                    continue;
                }
                self.decide(core);
            }
            if is_pending() && self.serve(core) {
                continue;
            }
            let Some(seat) = self.chosen.get() else {
                core.record_run(None);
                match core.has_chores() {
                    true => core.chore(),
                    false => self.idle(core),
                }
                continue;
            };
            // Nobody who is not seated wants the core.
            let Some(vm) = seat.vm() else {
                continue;
            };
            if !self.holds(seat) {
                if let Some(other) = self.loaded.get() {
                    other.store(core, self.rest.get());
                    if is_pending() {
                        self.loaded.set(None);
                        core.vacate();
                        continue;
                    }
                }
                seat.load(core, vm, self.rest.get());
                self.loaded.set(Some(seat));
                switched = true;
                if seat.is_behind() {
                    continue;
                }
            }
            if seat.is_behind() {
                seat.catch_up(core);
                continue;
            }
            if seat.goes_on(vm) {
                // Who was waited for does not wait for the chores; who stays on the core may.
                let urgent = seat.state.priority() != Priority::LOWEST;
                if core.has_chores() && !(switched && urgent) {
                    core.chore();
                    continue;
                }
                core.record_return();
                // SAFETY: it is in the registers, was made ready for its first entry or came
                // here by an exit, and nothing of an exit stays on the stack.
                unsafe { enter(&seat.frame) }
            }
            self.serve_at_rest(core, seat);
        }
    }

    /// Takes any other exit.
    #[inline(never)]
    fn take_other(&'static self, core: &'static Core, cause: Cause) {
        if let Some(seat) = self.loaded.get() {
            // SAFETY: its guest, on this core, has just left its registers there.
            core.handle(unsafe { seat.frame.get() }, cause);
        }
    }

    /// Waits for an interrupt. Who is held leaves the registers first: what is listed for it would
    /// end the wait at once, time and again.
    #[inline(always)]
    fn idle(&'static self, core: &'static Core) {
        match self.loaded.get() {
            Some(seat) if !seat.vm().is_some_and(|vm| seat.goes_on(vm)) => {
                self.loaded.set(None);
                seat.store(core, self.rest.get());
                core.vacate();
            }
            _ => cpu::wait_for_interrupt(),
        }
    }

    /// Whether this is the one in the registers.
    #[inline]
    pub(crate) fn holds(&self, seat: &'static Seat) -> bool {
        is(self.loaded.get(), seat)
    }

    /// Counts an exit of the one in the registers.
    #[inline]
    fn count(&self, kind: ExitKind) {
        if let Some(seat) = self.loaded.get() {
            seat.count(kind);
        }
    }

    /// Takes an interrupt that is pending; false if it is a system error, which its guest takes
    /// when it goes on.
    #[cold]
    #[inline(never)]
    pub(crate) fn serve(&'static self, core: &'static Core) -> bool {
        const FIQ: u64 = 1 << 6;
        const IRQ: u64 = 1 << 7;
        let pending = read_register!("isr_el1");
        if pending & FIQ != 0 {
            core.take_doorbell();
        } else if pending & IRQ != 0 {
            self.interrupt(core);
        }
        pending & (FIQ | IRQ) != 0
    }

    #[inline(always)]
    fn interrupt(&'static self, core: &'static Core) {
        match core.take_interrupt() {
            Taken::Alarm => self.wake_due(core),
            Taken::Listed => self.wake_loaded(core),
            Taken::Other => {}
        }
    }

    /// Has the one in the registers want the core, whose timer came while it waited.
    #[inline(always)]
    fn wake_loaded(&'static self, core: &'static Core) {
        if let Some(seat) = self.loaded.get()
            && !seat.state.is_ready()
            && let Some(vm) = seat.vm()
        {
            self.wake(core, vm, News::Listed);
        }
    }

    /// Has whose deadline came want the core, when the hypervisor timer came.
    #[inline(always)]
    fn wake_due(&'static self, core: &'static Core) {
        let now = core.clock().ticks();
        if now >= self.own_alarm.get() {
            core.sound();
        }
        self.timers.expire(now, |number| {
            let seat = &self.seats[number];
            if self.holds(seat) {
                // The core was idle: its own interrupt need not come any more.
                self.inject_timer(core, seat);
            } else {
                seat.timer.set(Timer::Due);
            }
            self.want(core, seat);
        });
        self.ask.set(true);
        if !self.plain.get() {
            // Silent until the decision, before which the core looks at its interrupts.
            core.clock().move_alarm(u64::MAX);
        }
    }

    #[inline(never)]
    fn inject_timer(&self, core: &'static Core, seat: &'static Seat) {
        if let Some(vm) = seat.vm() {
            core.inject_timer(vm, seat.vcpu.get());
        }
    }

    /// Has a virtual CPU want the core.
    #[inline(always)]
    fn want(&self, core: &'static Core, seat: &'static Seat) {
        if self.plain.get() {
            self.shares.want(seat);
        } else {
            self.want_by_policy(core, seat);
        }
        seat.record(core, Event::Ready);
    }

    /// Decides who has the core, and sets the timer for what may change that.
    #[inline]
    fn decide(&self, core: &'static Core) {
        self.ask.set(false);
        let mut alarm = self.timers.earliest().min(self.own_alarm.get());
        if self.plain.get() {
            self.chosen.set(self.shares.most_urgent());
        } else {
            alarm = alarm.min(self.decide_by_policy());
        }
        let chosen = self.chosen.get();
        chosen.map_or(Mask::OPEN, |seat| seat.mask.get()).apply();
        // The end of time never comes.
        core.clock().move_alarm(alarm);
    }
}
