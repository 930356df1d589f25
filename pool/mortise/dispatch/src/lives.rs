//! Who comes to a core, who leaves it for good, and what is done for who does not run.

use crate::{
    seat::{Phase, Seat},
    terms::{self, Terms},
    turns::{Turn, is, is_pending},
};
use core_sched::Priority;
use mortise_partition::{Core, ParkedAction, Step, Vm};
use mortise_vcpu::FloatingPointTrap;

/// Ticks of a counter of 62.5 MHz for which clearing up waits for somebody urgent at most: 20 us.
const PUT_OFF: u64 = 1_250;

impl Turn {
    /// Goes on with what there is to do for one in the registers whose guest does not go on.
    #[cold]
    #[inline(never)]
    pub(crate) fn serve_at_rest(&'static self, core: &'static Core, seat: &'static Seat) {
        let Some((vm, vcpu)) = seat.occupant() else {
            return;
        };
        if vm.is_descheduled() {
            // An exit came before the doorbell that tells of it, which follows.
            self.shares.wait(seat, core.clock().ticks());
            self.ask.set(true);
            return;
        }
        let phase = seat.phase();
        if phase != Phase::Rest && !self.reaches_floating_point(seat) {
            // They are reset with the others.
            return self.take_floating_point(seat);
        }
        seat.set_phase(match phase {
            Phase::Ended(mut part) => loop {
                if is_pending() {
                    break Phase::Ended(part);
                }
                // SAFETY: its guest left its registers there, on this core, and does not go on.
                let x = unsafe { &seat.frame.get().x };
                match core.stop_vcpu(vm, vcpu, x, part) {
                    Some(next) => part = next,
                    None => break Phase::Rest,
                }
            },
            Phase::Begins(start, mut part) if vm.may_run() => loop {
                if is_pending() {
                    break Phase::Begins(start, part);
                }
                if let Some(next) = core.prepare_start(vm, vcpu, start, part) {
                    part = next;
                    continue;
                }
                // SAFETY: the guest does not run, and the stack is this core's own, of which nothing
                // is needed when a guest goes on.
                unsafe { seat.frame.get().start(start.argument, core.stack_end()) };
                if is_pending() {
                    // Its registers are the same when it comes to them again.
                    break Phase::Begins(start, part);
                }
                Self::expect_floating_point(seat);
                break Phase::Guest;
            },
            Phase::Guest | Phase::Begins(..) => {
                seat.forget();
                Phase::ENDED
            }
            Phase::Rest => match core.service_parked_vcpu(vm, vcpu) {
                ParkedAction::Start(start) => Phase::Begins(start, Step::FIRST),
                // Whoever the interrupt is for may be more urgent.
                ParkedAction::Interrupted => return,
                ParkedAction::Idle if is_pending() => return,
                ParkedAction::Idle => return self.go_to_rest(core, seat, vm),
            },
        });
    }

    /// Has one at rest, who has nothing to do, want the core no more.
    fn go_to_rest(&'static self, core: &'static Core, seat: &'static Seat, vm: &'static Vm) {
        self.shares.wait(seat, core.clock().ticks());
        self.ask.set(true);
        // Who lives there next may have other cores and another schedule.
        if vm.is_vacant() {
            self.have_leave(core, vm, true);
        }
    }

    /// Puts somebody's floating-point registers into the core, for it to use.
    pub(crate) fn take_floating_point(&self, seat: &'static Seat) {
        match is(self.floating_point.get(), seat) {
            true => seat.use_floating_point(),
            false => self.exchange_floating_point(seat),
        }
    }

    /// The same of one that has them in its seat. Whose were in the core has its own put there with
    /// the rest from now on if it uses them, too: a trap at each of its turns would cost more.
    #[inline(always)]
    pub(crate) fn exchange_floating_point(&self, seat: &'static Seat) {
        seat.use_floating_point();
        // The registers trap until that has taken effect (Arm ARM, D19.1.2).
        hw_arch::barrier::isb();
        // SAFETY: the other one's are there, if anybody's, and they do not trap; both stand on
        // this core, which is the only one to come here.
        unsafe {
            if let Some(other) = self.floating_point.replace(Some(seat)) {
                if other.trap() == Some(FloatingPointTrap::OFF) {
                    other.set_trap(None);
                }
                other.floating_point.save();
            }
            seat.floating_point.load();
        }
    }

    /// Whether its floating-point registers are in the core, and do not trap.
    fn reaches_floating_point(&self, seat: &'static Seat) -> bool {
        is(self.floating_point.get(), seat) && seat.trap() == Some(FloatingPointTrap::OFF)
    }

    /// Has the first use of floating point trap: who has it in the core may never use it.
    fn expect_floating_point(seat: &'static Seat) {
        FloatingPointTrap::ON.apply();
        seat.set_trap(Some(FloatingPointTrap::ON));
    }

    /// Has the next decisions [admit](Self::admit) the virtual CPU that a machine has on this core;
    /// whether it has one.
    #[cold]
    #[inline(never)]
    pub(crate) fn expect(&self, core: &'static Core, vm: &Vm) -> bool {
        let has = vm.vcpu_on(core.cpu).is_some();
        if has {
            let bit = 1 << vm.index();
            self.new.set(self.new.get() | bit);
            self.ready.set(self.ready.get() & !bit);
            self.doubt_terms(core, vm.schedule().priority);
        }
        has
    }

    /// Has the next decisions let one want the core that has a seat, behind a look at what is pending.
    #[cold]
    #[inline(never)]
    pub(crate) fn have_want(&self, core: &'static Core, vm: &Vm) {
        let bit = 1 << vm.index();
        self.new.set(self.new.get() | bit);
        self.ready.set(self.ready.get() | bit);
        self.doubt_terms(core, vm.schedule().priority);
    }

    /// Whether it is yet to be admitted.
    #[inline]
    pub(crate) fn is_new(&self, vm: &Vm) -> bool {
        self.new.get() >> vm.index() & 1 != 0
    }

    /// Does a step of admitting one to the core, behind a look at what is pending: it gets a seat,
    /// its terms are read, and it wants the core by them. Whether there was one.
    #[inline(never)]
    pub(crate) fn admit(&'static self, core: &'static Core) -> bool {
        let Some((number, seat)) = self.first_of(self.new.get()) else {
            return false;
        };
        let bit = 1 << number;
        if let Some(vm) = seat.vm() {
            if self.ready.get() & bit == 0 {
                self.ready.set(self.ready.get() | bit);
                Self::read_terms(core, seat, vm);
                return true;
            }
            self.new.set(self.new.get() & !bit);
            if !vm.is_descheduled() {
                self.want(core, seat, false);
            }
        } else if let Some(vm) = core.machine().vm(number)
            && let Some(vcpu) = vm.vcpu_on(core.cpu)
        {
            seat.give(self, vm, vcpu);
            self.seated.set(self.seated.get() | bit);
            core.name_in_trace(vm, vcpu);
        } else {
            self.new.set(self.new.get() & !bit);
        }
        true
    }

    /// Has one that has a seat be dispatched by its terms.
    fn read_terms(core: &'static Core, seat: &'static Seat, vm: &'static Vm) {
        let (priority, policy) = terms::of(core, vm);
        seat.begin(priority, policy, core.clock().ticks());
    }

    /// Has a machine's virtual CPU leave the core with the next decision, behind a look at what is
    /// pending, and be forgotten then.
    pub(crate) fn have_leave(&self, core: &'static Core, vm: &Vm, forget: bool) {
        let bit = 1 << vm.index();
        self.leaving.set(self.leaving.get() | bit);
        if forget {
            self.gone.set(self.gone.get() | bit);
        }
        self.doubt_terms(core, vm.schedule().priority);
    }

    /// Does a step of having one leave; whether there was one. Its machine learns of it at the last.
    #[inline(never)]
    pub(crate) fn let_go(&'static self, core: &'static Core) -> bool {
        let Some((number, seat)) = self.first_of(self.leaving.get() | self.gone.get()) else {
            return false;
        };
        let others = !(1 << number);
        if self.leaving.get() & !others != 0 {
            self.leaving.set(self.leaving.get() & others);
            if !core.is_descheduled(number) {
                // It has been let go on since.
                return true;
            }
            self.shares.wait(seat, core.clock().ticks());
            if self.gone.get() & !others != 0 {
                return true;
            }
        } else if self.holds(seat) {
            // What there is of it goes to its seat, which is nobody's from here on.
            seat.store(core);
            self.vacate(core);
            return true;
        } else if seat.vm().is_some() {
            self.forget(core, seat);
            return true;
        } else {
            // What came for it in the meantime is forgotten, too.
            seat.forget();
            self.gone.set(self.gone.get() & others);
            self.new.set(self.new.get() & others);
        }
        if let Some(vm) = core.machine().vm(number) {
            core.mark_off_core(vm);
        }
        true
    }

    /// The first of these machines, and the seat of its virtual CPU.
    #[inline]
    fn first_of(&'static self, machines: u32) -> Option<(usize, &'static Seat)> {
        let first = bits(machines).next()?;
        self.seats.get(first).map(|seat| (first, seat))
    }

    /// Forgets all that a seat holds that is not in the registers, and whose it is.
    fn forget(&'static self, core: &'static Core, seat: &'static Seat) {
        if is(self.floating_point.get(), seat) {
            self.floating_point.set(None);
        }
        // Whatever came for it since.
        self.shares.wait(seat, core.clock().ticks());
        seat.take();
        self.seated
            .set(self.seated.get() & !(1 << seat.number.get()));
        self.doubt_terms(core, 0);
    }

    /// Has the next decision find out anew whether time matters on this core, as somebody of this
    /// priority comes or goes.
    fn doubt_terms(&self, core: &'static Core, priority: u8) {
        if self.terms.replace(Terms::Unknown) != Terms::Unknown {
            self.put_off.set(core.clock().ticks() + PUT_OFF);
            self.moving.set(0);
        }
        self.moving.set(self.moving.get().max(priority));
        self.ask.set(true);
    }

    /// Finds out anew whether time matters on this core.
    #[cold]
    #[inline(never)]
    pub(crate) fn look_at_terms(&self, core: &'static Core) {
        let (mut plain, mut background) = (true, 0);
        let seated = bits(self.seated.get()).filter_map(|number| self.seats.get(number));
        for vm in seated.filter_map(Seat::vm) {
            let schedule = vm.schedule();
            plain &= schedule.reservation().is_none();
            background += u32::from(schedule.priority == Priority::LOWEST.number());
        }
        let regulated = background > 0 && core.regulator().is_some();
        self.terms.set(match plain && background < 2 && !regulated {
            true => Terms::Plain,
            false => Terms::Promised,
        });
    }
}

/// The bits that are set.
fn bits(set: u32) -> impl Iterator<Item = usize> {
    let rest = |set: &u32| Some(set & set.wrapping_sub(1));
    core::iter::successors(Some(set), rest)
        .take_while(|&set| set != 0)
        .map(|set| set.trailing_zeros() as usize)
}
