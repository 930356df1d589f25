//! Admission and removal of vCPUs on a core, and the stop and start sequences of parked ones.

use crate::{
    bounds::{self, ADMISSION_DELAY},
    core_mode::{self, CoreMode},
    core_scheduler::{CoreScheduler, guest_entry::take_error, is, is_pending},
    vcpu_context::{Phase, VcpuContext},
};
use core_sched::Priority;
use mortise_partition::{Core, ParkedAction, Step, VcpuLifecycle, Vm};
use mortise_vcpu::FloatingPointTrap;

impl CoreScheduler {
    /// Continues the stop or start sequence of the loaded vCPU while its guest may not run.
    #[cold]
    #[inline(never)]
    pub(crate) fn run_off_vcpu(&'static self, core: &'static Core, context: &'static VcpuContext) {
        let Some((vm, vcpu)) = context.vcpu() else {
            return;
        };
        if vm.is_descheduled() {
            // The exit preceded the doorbell that requests the hold; the doorbell follows.
            self.queue.block(context, core.clock().ticks());
            self.reschedule.set(true);
            return;
        }
        let phase = context.phase();
        if phase != Phase::Off && !self.has_fp_loaded(context) {
            // Floating-point registers are reset with the others.
            return self.load_fp(context);
        }
        context.set_phase(match phase {
            Phase::Stopping(mut part) => loop {
                if is_pending() {
                    break Phase::Stopping(part);
                }
                // SAFETY: the guest stored its registers in the frame on this core, and is not
                // entered before the sequence ends.
                let x = unsafe { &context.frame.get().x };
                match core.stop_vcpu((vm, vcpu), x, part) {
                    Some(next) => part = next,
                    None => {
                        Self::enable_background_timer();
                        break Phase::Off;
                    }
                }
            },
            Phase::Starting(start, mut part) if vm.may_run() => loop {
                if is_pending() {
                    break Phase::Starting(start, part);
                }
                if let Some(next) = core.prepare_start((vm, vcpu), start, part) {
                    part = next;
                    continue;
                }
                // SAFETY: the guest does not run, and the stack is this core's own, of which
                // nothing is needed after a guest entry.
                unsafe { context.frame.get().start(start.argument, core.stack_end()) };
                if is_pending() {
                    // The repeated step writes the same registers.
                    break Phase::Starting(start, part);
                }
                Self::trap_first_fp_use(context);
                Self::enable_background_timer();
                break Phase::Running;
            },
            Phase::Running | Phase::Starting(..) => {
                context.clear_pending();
                Phase::STOPPING
            }
            Phase::Off => match core.service_parked_vcpu(vm, vcpu) {
                ParkedAction::Start(start) => Phase::Starting(start, Step::FIRST),
                // The pending interrupt may be for a more urgent vCPU.
                ParkedAction::Interrupted => return,
                ParkedAction::Idle if is_pending() => return,
                ParkedAction::Idle => return self.block_off_vcpu(core, context, vm),
            },
        });
    }

    /// Blocks a parked vCPU without work.
    fn block_off_vcpu(
        &'static self,
        core: &'static Core,
        context: &'static VcpuContext,
        vm: &'static Vm,
    ) {
        self.queue.block(context, core.clock().ticks());
        self.reschedule.set(true);
        // The next VM in this slot may have other cores and another schedule.
        if vm.is_vacant() {
            self.request_removal(core, vm, true);
        }
    }

    /// Loads a vCPU's floating-point registers for its use.
    pub(crate) fn load_fp(&self, context: &'static VcpuContext) {
        match is(self.fp_owner.get(), context) {
            true => context.enable_fp(),
            false => self.switch_fp(context),
        }
    }

    /// Loads them from its context. The previous owner, if it uses them too, has its own restored
    /// with each switch from now on: a trap per time slice would cost more.
    #[inline(always)]
    pub(crate) fn switch_fp(&self, context: &'static VcpuContext) {
        context.enable_fp();
        // Accesses trap until the change has taken effect (Arm ARM, D19.1.2).
        hw_arch::barrier::isb();
        // SAFETY: the core holds the registers of `fp_owner`, if any, and accesses to them do not
        // trap; both contexts belong to this core, and no other core accesses them.
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

    /// Whether its floating-point registers are loaded, and accesses do not trap.
    fn has_fp_loaded(&self, context: &'static VcpuContext) -> bool {
        is(self.fp_owner.get(), context) && context.fp_trap() == Some(FloatingPointTrap::OFF)
    }

    /// Traps the first use of floating point: the vCPU may never use it.
    fn trap_first_fp_use(context: &'static VcpuContext) {
        FloatingPointTrap::ON.apply();
        context.set_fp_trap(Some(FloatingPointTrap::ON));
    }

    /// Requests that the next decisions [admit](Self::admit_step) the VM's vCPU on this core; false
    /// if it has none here.
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

    /// Requests that the next decisions wake an admitted vCPU, after a test for pending interrupts.
    #[cold]
    #[inline(never)]
    pub(crate) fn defer_wake(&self, core: &'static Core, vm: &Vm) {
        let bit = 1 << vm.index();
        self.admitting.set(self.admitting.get() | bit);
        self.policy_read.set(self.policy_read.get() | bit);
        self.invalidate_mode(core, vm.schedule().priority);
    }

    /// Whether the vCPU is yet to be admitted.
    #[inline]
    pub(crate) fn is_admitting(&self, vm: &Vm) -> bool {
        self.admitting.get() >> vm.index() & 1 != 0
    }

    /// Takes one step of an admission: assigns a context, reads the policy, or makes the vCPU
    /// ready. A test for pending interrupts precedes it. Returns whether there was one.
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

    /// Reads the policy of a vCPU with an assigned context.
    fn read_policy(core: &'static Core, context: &'static VcpuContext, vm: &'static Vm) {
        let (priority, policy) = core_mode::policy_of(core, vm);
        context.set_policy(priority, policy, core.clock().ticks());
    }

    /// Requests that the next decision remove the VM's vCPU from the core, after a test for pending
    /// interrupts, and with `forget` release its context.
    pub(crate) fn request_removal(&self, core: &'static Core, vm: &Vm, forget: bool) {
        let bit = 1 << vm.index();
        self.removing.set(self.removing.get() | bit);
        if forget {
            self.releasing.set(self.releasing.get() | bit);
        }
        self.invalidate_mode(core, vm.schedule().priority);
    }

    /// Takes one step of a removal; returns whether there was one. The last step notifies the VM.
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
                // The hold was revoked meanwhile.
                return true;
            }
            self.queue.block(context, core.clock().ticks());
            if self.releasing.get() & !others != 0 {
                return true;
            }
        } else if self.is_loaded(context) {
            // The registers belong to no vCPU afterwards.
            take_error(core, context);
            context.save(core);
            self.unload(core);
            return true;
        } else if context.vm().is_some() {
            self.release(core, context);
            return true;
        } else {
            // Interrupts that arrived meanwhile are dropped too.
            context.clear_pending();
            self.releasing.set(self.releasing.get() & others);
            self.admitting.set(self.admitting.get() & others);
        }
        if let Some(vm) = core.machine().vm(index) {
            core.mark_off_core(vm);
        }
        true
    }

    /// The first VM of a set, and the context of its vCPU.
    #[inline]
    fn first_context(&'static self, machines: u32) -> Option<(usize, &'static VcpuContext)> {
        let first = bits(machines).next()?;
        self.contexts.get(first).map(|context| (first, context))
    }

    /// Releases a context that is not loaded.
    fn release(&'static self, core: &'static Core, context: &'static VcpuContext) {
        if is(self.fp_owner.get(), context) {
            self.fp_owner.set(None);
        }
        // Drops wake-ups since the removal.
        self.queue.block(context, core.clock().ticks());
        context.release();
        self.assigned
            .set(self.assigned.get() & !(1 << context.vm_index.get()));
        self.invalidate_mode(core, 0);
    }

    /// Requests that the next decision recompute the mode, because a vCPU of this priority is
    /// admitted or removed.
    fn invalidate_mode(&self, core: &'static Core, priority: u8) {
        if self.mode.replace(CoreMode::Stale) != CoreMode::Stale {
            self.admission_deadline
                .set(core.clock().ticks() + bounds::ticks(core, ADMISSION_DELAY));
            self.admission_priority.set(0);
        }
        self.admission_priority
            .set(self.admission_priority.get().max(priority));
        self.reschedule.set(true);
    }

    /// Recomputes the mode.
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

/// The set bits of a word.
fn bits(set: u32) -> impl Iterator<Item = usize> {
    let rest = |set: &u32| Some(set & set.wrapping_sub(1));
    core::iter::successors(Some(set), rest)
        .take_while(|&set| set != 0)
        .map(|set| set.trailing_zeros() as usize)
}
