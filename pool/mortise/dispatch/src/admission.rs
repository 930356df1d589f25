//! Who comes to a core, who leaves it for good, and what is done for who does not run.

use crate::{
    core_mode::{self, CoreMode},
    core_scheduler::{CoreScheduler, is, is_pending},
    vcpu_context::{Phase, VcpuContext},
};
use core_sched::Priority;
use mortise_partition::{Core, ParkedAction, Step, Vm};
use mortise_vcpu::FloatingPointTrap;

/// Ticks of a counter of 62.5 MHz for which clearing up waits for somebody urgent at most: 20 us.
const ADMISSION_DELAY: u64 = 1_250;

impl CoreScheduler {
    /// Goes on with what there is to do for one in the registers whose guest does not go on.
    #[cold]
    #[inline(never)]
    pub(crate) fn run_off_vcpu(&'static self, core: &'static Core, context: &'static VcpuContext) {
        let Some((vm, vcpu)) = context.vcpu() else {
            return;
        };
        if vm.is_descheduled() {
            // An exit came before the doorbell that tells of it, which follows.
            self.queue.block(context, core.clock().ticks());
            self.reschedule.set(true);
            return;
        }
        let phase = context.phase();
        if phase != Phase::Off && !self.has_fp_loaded(context) {
            // They are reset with the others.
            return self.load_fp(context);
        }
        context.set_phase(match phase {
            Phase::Stopping(mut part) => loop {
                if is_pending() {
                    break Phase::Stopping(part);
                }
                // SAFETY: its guest left its registers there, on this core, and does not go on.
                let x = unsafe { &context.frame.get().x };
                match core.stop_vcpu(vm, vcpu, x, part) {
                    Some(next) => part = next,
                    None => break Phase::Off,
                }
            },
            Phase::Starting(start, mut part) if vm.may_run() => loop {
                if is_pending() {
                    break Phase::Starting(start, part);
                }
                if let Some(next) = core.prepare_start(vm, vcpu, start, part) {
                    part = next;
                    continue;
                }
                // SAFETY: the guest does not run, and the stack is this core's own, of which nothing
                // is needed when a guest goes on.
                unsafe { context.frame.get().start(start.argument, core.stack_end()) };
                if is_pending() {
                    // Its registers are the same when it comes to them again.
                    break Phase::Starting(start, part);
                }
                Self::trap_first_fp_use(context);
                break Phase::Running;
            },
            Phase::Running | Phase::Starting(..) => {
                context.clear_pending();
                Phase::STOPPING
            }
            Phase::Off => match core.service_parked_vcpu(vm, vcpu) {
                ParkedAction::Start(start) => Phase::Starting(start, Step::FIRST),
                // Whoever the interrupt is for may be more urgent.
                ParkedAction::Interrupted => return,
                ParkedAction::Idle if is_pending() => return,
                ParkedAction::Idle => return self.block_off_vcpu(core, context, vm),
            },
        });
    }

    /// Has one at rest, who has nothing to do, want the core no more.
    fn block_off_vcpu(
        &'static self,
        core: &'static Core,
        context: &'static VcpuContext,
        vm: &'static Vm,
    ) {
        self.queue.block(context, core.clock().ticks());
        self.reschedule.set(true);
        // Who lives there next may have other cores and another schedule.
        if vm.is_vacant() {
            self.request_removal(core, vm, true);
        }
    }

    /// Puts somebody's floating-point registers into the core, for it to use.
    pub(crate) fn load_fp(&self, context: &'static VcpuContext) {
        match is(self.fp_owner.get(), context) {
            true => context.enable_fp(),
            false => self.switch_fp(context),
        }
    }

    /// The same of one that has them in its seat. Whose were in the core has its own put there with
    /// the rest from now on if it uses them, too: a trap at each of its turns would cost more.
    #[inline(always)]
    pub(crate) fn switch_fp(&self, context: &'static VcpuContext) {
        context.enable_fp();
        // The registers trap until that has taken effect (Arm ARM, D19.1.2).
        hw_arch::barrier::isb();
        // SAFETY: the other one's are there, if anybody's, and they do not trap; both stand on
        // this core, which is the only one to come here.
        unsafe {
            if let Some(other) = self.fp_owner.replace(Some(context)) {
                if other.fp_trap() == Some(FloatingPointTrap::OFF) {
                    other.set_fp_trap(None);
                }
                other.floating_point.save();
            }
            context.floating_point.load();
        }
    }

    /// Whether its floating-point registers are in the core, and do not trap.
    fn has_fp_loaded(&self, context: &'static VcpuContext) -> bool {
        is(self.fp_owner.get(), context) && context.fp_trap() == Some(FloatingPointTrap::OFF)
    }

    /// Has the first use of floating point trap: who has it in the core may never use it.
    fn trap_first_fp_use(context: &'static VcpuContext) {
        FloatingPointTrap::ON.apply();
        context.set_fp_trap(Some(FloatingPointTrap::ON));
    }

    /// Has the next decisions [admit](Self::admit_step) the virtual CPU that a machine has on this core;
    /// whether it has one.
    #[cold]
    #[inline(never)]
    pub(crate) fn request_admission(&self, core: &'static Core, vm: &Vm) -> bool {
        let has = vm.vcpu_on(core.cpu).is_some();
        if has {
            let bit = 1 << vm.index();
            self.admitting.set(self.admitting.get() | bit);
            self.policy_read.set(self.policy_read.get() & !bit);
            self.invalidate_mode(core, vm.schedule().priority);
        }
        has
    }

    /// Has the next decisions let one want the core that has a seat, behind a look at what is pending.
    #[cold]
    #[inline(never)]
    pub(crate) fn defer_wake(&self, core: &'static Core, vm: &Vm) {
        let bit = 1 << vm.index();
        self.admitting.set(self.admitting.get() | bit);
        self.policy_read.set(self.policy_read.get() | bit);
        self.invalidate_mode(core, vm.schedule().priority);
    }

    /// Whether it is yet to be admitted.
    #[inline]
    pub(crate) fn is_admitting(&self, vm: &Vm) -> bool {
        self.admitting.get() >> vm.index() & 1 != 0
    }

    /// Does a step of admitting one to the core, behind a look at what is pending: it gets a seat,
    /// its terms are read, and it wants the core by them. Whether there was one.
    #[inline(never)]
    pub(crate) fn admit_step(&'static self, core: &'static Core) -> bool {
        let Some((index, context)) = self.first_context(self.admitting.get()) else {
            return false;
        };
        let bit = 1 << index;
        if let Some(vm) = context.vm() {
            if self.policy_read.get() & bit == 0 {
                self.policy_read.set(self.policy_read.get() | bit);
                Self::read_policy(core, context, vm);
                return true;
            }
            self.admitting.set(self.admitting.get() & !bit);
            if !vm.is_descheduled() {
                self.make_ready(core, context, false);
            }
        } else if let Some(vm) = core.machine().vm(index)
            && let Some(vcpu) = vm.vcpu_on(core.cpu)
        {
            context.assign(self, vm, vcpu);
            self.assigned.set(self.assigned.get() | bit);
            core.name_in_trace(vm, vcpu);
        } else {
            self.admitting.set(self.admitting.get() & !bit);
        }
        true
    }

    /// Has one that has a seat be dispatched by its terms.
    fn read_policy(core: &'static Core, context: &'static VcpuContext, vm: &'static Vm) {
        let (priority, policy) = core_mode::policy_of(core, vm);
        context.set_policy(priority, policy, core.clock().ticks());
    }

    /// Has a machine's virtual CPU leave the core with the next decision, behind a look at what is
    /// pending, and be forgotten then.
    pub(crate) fn request_removal(&self, core: &'static Core, vm: &Vm, forget: bool) {
        let bit = 1 << vm.index();
        self.removing.set(self.removing.get() | bit);
        if forget {
            self.releasing.set(self.releasing.get() | bit);
        }
        self.invalidate_mode(core, vm.schedule().priority);
    }

    /// Does a step of having one leave; whether there was one. Its machine learns of it at the last.
    #[inline(never)]
    pub(crate) fn remove_step(&'static self, core: &'static Core) -> bool {
        let Some((index, context)) = self.first_context(self.removing.get() | self.releasing.get())
        else {
            return false;
        };
        let others = !(1 << index);
        if self.removing.get() & !others != 0 {
            self.removing.set(self.removing.get() & others);
            if !core.is_descheduled(index) {
                // It has been let go on since.
                return true;
            }
            self.queue.block(context, core.clock().ticks());
            if self.releasing.get() & !others != 0 {
                return true;
            }
        } else if self.is_loaded(context) {
            // What there is of it goes to its seat, which is nobody's from here on.
            context.save(core);
            self.unload(core);
            return true;
        } else if context.vm().is_some() {
            self.release(core, context);
            return true;
        } else {
            // What came for it in the meantime is forgotten, too.
            context.clear_pending();
            self.releasing.set(self.releasing.get() & others);
            self.admitting.set(self.admitting.get() & others);
        }
        if let Some(vm) = core.machine().vm(index) {
            core.mark_off_core(vm);
        }
        true
    }

    /// The first of these machines, and the seat of its virtual CPU.
    #[inline]
    fn first_context(&'static self, machines: u32) -> Option<(usize, &'static VcpuContext)> {
        let first = bits(machines).next()?;
        self.contexts.get(first).map(|context| (first, context))
    }

    /// Forgets all that a seat holds that is not in the registers, and whose it is.
    fn release(&'static self, core: &'static Core, context: &'static VcpuContext) {
        if is(self.fp_owner.get(), context) {
            self.fp_owner.set(None);
        }
        // Whatever came for it since.
        self.queue.block(context, core.clock().ticks());
        context.release();
        self.assigned
            .set(self.assigned.get() & !(1 << context.vm_index.get()));
        self.invalidate_mode(core, 0);
    }

    /// Has the next decision find out anew whether time matters on this core, as somebody of this
    /// priority comes or goes.
    fn invalidate_mode(&self, core: &'static Core, priority: u8) {
        if self.mode.replace(CoreMode::Stale) != CoreMode::Stale {
            self.admission_deadline
                .set(core.clock().ticks() + ADMISSION_DELAY);
            self.admission_priority.set(0);
        }
        self.admission_priority
            .set(self.admission_priority.get().max(priority));
        self.reschedule.set(true);
    }

    /// Finds out anew whether time matters on this core.
    #[cold]
    #[inline(never)]
    pub(crate) fn compute_mode(&self, core: &'static Core) {
        let (mut fixed, mut background) = (true, 0);
        let assigned = bits(self.assigned.get()).filter_map(|index| self.contexts.get(index));
        for vm in assigned.filter_map(VcpuContext::vm) {
            let schedule = vm.schedule();
            fixed &= schedule.reservation().is_none();
            background += u32::from(schedule.priority == Priority::LOWEST.number());
        }
        let regulated = background > 0 && core.regulator().is_some();
        self.mode.set(match fixed && background < 2 && !regulated {
            true => CoreMode::FixedPriority,
            false => CoreMode::Reserved,
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
