//! Who has a core, and until when.

use crate::{
    margins,
    seat::{Phase, Seat},
    terms::Terms,
    timers::Timers,
};
use core::cell::Cell;
use core_sched::Shares;
use core_statistics::ExitKind;
use core_trace::Event;
pub(crate) use hw_arch::cpu::{
    FIQ, IRQ, is_interrupt_pending as is_pending, is_interrupt_pending_now as is_pending_now,
    pending_interrupts as pending,
};
use mortise_partition::{Core, Dispatch, Dispatcher, PerCore, PriorityMask, Vm, WakeReason};
use mortise_vcpu::{
    Cause, FrameCell, OptionalRegisters, is_wait, skip_instruction, timer_deadline,
};

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

    fn records(&'static self) -> PerCore {
        PerCore {
            start: self.0.as_ptr() as usize,
            stride: size_of::<Turn>(),
            count: CORES,
        }
    }
}

/// Who has one core, and who waits for it.
#[repr(C, align(4096))] // the seats last, so that what every exit uses is within reach of one load
pub(crate) struct Turn {
    /// Who is in the registers.
    pub loaded: Cell<Option<&'static Seat>>,
    /// Who was decided on last.
    pub chosen: Cell<Option<&'static Seat>>,
    /// Whether the decision may be another one by now.
    pub ask: Cell<bool>,
    /// By what the core is shared.
    pub terms: Cell<Terms>,
    /// Until when to find that out may wait for somebody more urgent than all of them, and how urgent they are.
    pub put_off: Cell<u64>,
    pub moving: Cell<u8>,
    /// The seats that somebody has, one bit each.
    pub seated: Cell<u32>,
    /// Machines whose virtual CPU here is yet to be admitted to the core, before which it does not
    /// want it.
    pub new: Cell<u32>,
    /// Those of them whose terms are known.
    pub ready: Cell<u32>,
    /// Machines whose virtual CPU here is to leave the core, and those that are to be forgotten then.
    pub leaving: Cell<u32>,
    pub gone: Cell<u32>,
    /// Ticks within which the core's timer is [near](margins::NEAR).
    pub near: Cell<u64>,
    /// Whether the core has registers that few cores have.
    pub rest: Cell<OptionalRegisters>,
    /// Whose floating-point registers are in the core.
    pub floating_point: Cell<Option<&'static Seat>>,
    /// Who waits for its timer, by its machine's number, and when Mortise itself has something to
    /// do here.
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
        self.rest.set(unsafe { OptionalRegisters::detect() });
        self.near.set(core.clock().frequency().ticks(margins::NEAR));
        core.clock().set_alarm(u64::MAX);
        if let Some(regulator) = core.regulator() {
            regulator.begin(core);
        }
        self.leave(core, None)
    }

    fn exit(&'static self, cause: Cause, core: &'static Core) -> &'static FrameCell {
        core.record_exit(cause);
        core.check_exit(cause);
        let chosen = if cause == Cause::Synchronous && is_wait() {
            self.count(ExitKind::Wait);
            skip_instruction();
            match core.has_pending_list_register() {
                true => self.chosen.get(),
                false => self.give_way(core),
            }
        } else {
            self.take_other(cause, core)
        };
        self.leave(core, chosen)
    }

    fn wait(&self, core: &'static Core) {
        self.give_up(core, self.is_plain());
        self.ask.set(true);
    }

    fn stop(&self, core: &'static Core) {
        if let Some(seat) = self.loaded.get() {
            seat.set_phase(Phase::ENDED);
            seat.record(core, Event::End);
        }
    }

    fn wake(&'static self, core: &'static Core, vm: &'static Vm, news: WakeReason) {
        let Some(seat) = self.seats.get(vm.index()) else {
            return;
        };
        if seat.vm().is_none() && !self.expect(core, vm) {
            return;
        }
        match news {
            WakeReason::Listed => {}
            WakeReason::StateChanged => seat.set_behind(),
            WakeReason::Interrupt(intid) => seat.note(intid),
        }
        if !seat.claim.is_ready() && !vm.is_descheduled() && !self.is_new(vm) {
            self.timers.cancel(vm.index());
            let plain = self.is_plain();
            if !plain && is_pending() {
                // By what was promised it takes long, and goes behind that.
                return self.have_want(core, vm);
            }
            self.want(core, seat, plain);
            self.ask.set(true);
        }
    }

    fn hold(&'static self, core: &'static Core, vm: &'static Vm, forget: bool) {
        let Some(seat) = self.seats.get(vm.index()) else {
            return;
        };
        self.timers.cancel(vm.index());
        seat.record(core, Event::Park);
        if forget || !self.is_plain() {
            return self.have_leave(core, vm, forget);
        }
        self.shares.give_up(seat);
        // Who did not have the core changes nothing by leaving.
        if is(self.chosen.get(), seat) {
            self.ask.set(true);
        }
        core.mark_off_core(vm);
    }

    fn reconsider(&self, core: &'static Core) {
        self.timers.set_alarm(core.hypervisor_deadline());
        self.ask.set(true);
    }

    fn floating_point(&self) {
        if let Some(seat) = self.loaded.get() {
            self.take_floating_point(seat);
        }
    }

    fn identity(&self, encoding: u16) -> u64 {
        mortise_vcpu::id_register(encoding)
    }
}

/// Whether somebody is this one.
#[inline]
pub(crate) fn is(somebody: Option<&'static Seat>, seat: &'static Seat) -> bool {
    somebody.map_or(core::ptr::null(), core::ptr::from_ref) == core::ptr::from_ref(seat)
}

/// Lets every interrupt come, as nobody has the core.
#[cold]
#[inline(never)]
fn hold_nothing_back() {
    PriorityMask::OPEN.apply();
}

impl Turn {
    const fn new() -> Self {
        Self {
            loaded: Cell::new(None),
            chosen: Cell::new(None),
            ask: Cell::new(true),
            terms: Cell::new(Terms::Plain),
            put_off: Cell::new(0),
            moving: Cell::new(0),
            seated: Cell::new(0),
            new: Cell::new(0),
            ready: Cell::new(0),
            leaving: Cell::new(0),
            gone: Cell::new(0),
            near: Cell::new(0),
            rest: Cell::new(OptionalRegisters::NONE),
            floating_point: Cell::new(None),
            timers: Timers::new(),
            shares: Shares::new(SLICE),
            seats: [const { Seat::new() }; VMS],
        }
    }

    /// Whether time does not matter on this core.
    #[inline(always)]
    pub(crate) fn is_plain(&self) -> bool {
        self.terms.get() == Terms::Plain
    }

    /// Takes any other exit.
    #[cold]
    #[inline(never)]
    fn take_other(&'static self, cause: Cause, core: &'static Core) -> Option<&'static Seat> {
        if matches!(cause, Cause::Irq | Cause::Fiq) {
            // The doorbell, or what came to a 32-bit guest, is found pending on the way out, and taken there.
            self.count(ExitKind::Interrupt);
        } else if let Some(seat) = self.loaded.get() {
            // SAFETY: its guest, on this core, has just left its registers there.
            core.handle_exit(unsafe { seat.frame.get() }, cause);
        }
        if is_pending() {
            // It is decided behind what waits.
            return None;
        }
        self.decide_if_asked(core)
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

    /// Has the one in the registers wait; who is to have the core after that.
    #[inline(always)]
    fn give_way(&'static self, core: &'static Core) -> Option<&'static Seat> {
        match self.is_plain() {
            true => {
                self.give_up(core, true);
                self.decide(core, true)
            }
            false => self.give_way_by_policy(core),
        }
    }

    /// Has the one in the registers want the core no more until its timer's deadline, or until
    /// something else comes for it.
    #[inline(always)]
    pub(crate) fn give_up(&self, core: &'static Core, plain: bool) {
        let Some(seat) = self.loaded.get() else {
            return;
        };
        match plain {
            true => self.shares.give_up(seat),
            false => self.shares.wait(seat, core.clock().ticks()),
        }
        self.start_timer(core, seat);
    }

    /// Has one who waits wake at its timer's deadline.
    #[inline(always)]
    pub(crate) fn start_timer(&self, core: &'static Core, seat: &'static Seat) {
        let deadline = timer_deadline();
        if let Some(deadline) = deadline {
            self.timers.start(seat.number.get(), deadline);
        }
        seat.record(core, deadline.map_or(Event::Park, |_| Event::Sleep));
    }

    /// Has a virtual CPU want the core.
    #[inline(always)]
    pub(crate) fn want(&self, core: &'static Core, seat: &'static Seat, plain: bool) {
        match plain {
            true => self.shares.want(seat),
            false => self.want_by_policy(core, seat),
        }
        seat.record(core, Event::Ready);
    }

    /// Who is to have the core, decided anew if that may have changed.
    #[inline(always)]
    pub(crate) fn decide_if_asked(&'static self, core: &'static Core) -> Option<&'static Seat> {
        match self.ask.replace(false) {
            true => self.decide(core, self.is_plain()),
            false => self.chosen.get(),
        }
    }

    /// Decides who has the core, what is held back meanwhile, and sets the timer for what may change
    /// that; the end of time never comes. `plain` is whether time does not matter.
    #[inline(always)]
    pub(crate) fn decide(&'static self, core: &'static Core, plain: bool) -> Option<&'static Seat> {
        let alarm = self.timers.earliest();
        match plain {
            true => self.appoint(core, self.shares.most_urgent(), alarm),
            false => self.decide_by_policy(core, alarm),
        }
    }

    /// Has one who was decided on have the core, or nobody, until that time.
    #[inline(always)]
    pub(crate) fn appoint(
        &'static self,
        core: &'static Core,
        chosen: Option<&'static Seat>,
        alarm: u64,
    ) -> Option<&'static Seat> {
        core.clock().move_alarm(alarm);
        self.chosen.set(chosen);
        match chosen {
            Some(seat) => seat.mask.get().apply_during_switch(),
            None => hold_nothing_back(),
        }
        chosen
    }
}
