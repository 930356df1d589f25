//! Per-core vCPU scheduler state and the dispatcher interface.

mod admission;
mod guest_entry;
mod interrupt_entry;
mod interrupts;
mod periodic_work;
mod reserved;

use crate::{
    bounds::{self, BACKGROUND_SLICE},
    core_mode::CoreMode,
    vcpu_context::{Phase, VcpuContext},
};
use core::cell::Cell;
use core_sched::ReservationScheduler;
use core_statistics::ExitKind;
use core_timer::DeadlineTable;
use core_trace::Event;
pub(crate) use hw_arch::cpu::{
    FIQ, IRQ, is_interrupt_pending as is_pending, is_interrupt_pending_now as is_pending_now,
    pending_interrupts as pending,
};
use mortise_partition::{
    Core, Dispatch, Dispatcher, HandleExit, PerCore, PriorityMask, VirtualInterface, Vm, WakeReason,
};
use mortise_vcpu::{Cause, FrameCell, OptionalRegisters, is_wait, skip_word, timer_deadline};

/// Maximum number of shared cores.
const CORES: usize = 4;

/// Maximum number of VMs.
const VMS: usize = 16;

/// The schedulers of all cores.
pub struct CoreSchedulers([CoreScheduler; CORES]);

/// The registered dispatcher of an image of mode 2.
pub static DISPATCH: CoreSchedulers = CoreSchedulers([const { CoreScheduler::new() }; CORES]);

impl Dispatch for CoreSchedulers {
    fn core(&'static self, cpu: usize, vms: usize) -> Option<&'static dyn Dispatcher> {
        self.0
            .get(cpu)
            .filter(|_| vms <= VMS)
            .map(|scheduler| scheduler as _)
    }

    fn records(&'static self) -> PerCore {
        PerCore {
            start: self.0.as_ptr() as usize,
            stride: size_of::<CoreScheduler>(),
            count: CORES,
        }
    }
}

/// Scheduler state of one core.
#[repr(C, align(4096))] // contexts last, so that the fields used by each exit are within the offset of one load
pub(crate) struct CoreScheduler {
    /// The loaded vCPU: the one in the registers of the core.
    pub loaded: Cell<Option<&'static VcpuContext>>,
    /// The vCPU that the last decision selected.
    pub selected: Cell<Option<&'static VcpuContext>>,
    /// Whether a new decision is needed.
    pub reschedule: Cell<bool>,
    /// The scheduling mode.
    pub mode: Cell<CoreMode>,
    /// Until when admission and removal of vCPUs yield to a more urgent vCPU, and the highest
    /// priority among those that are admitted or removed.
    pub admission_deadline: Cell<u64>,
    pub admission_priority: Cell<u8>,
    /// Contexts that are assigned to a vCPU, one bit per VM.
    pub assigned: Cell<u32>,
    /// VMs with a vCPU to be admitted to this core; it is not ready before.
    pub admitting: Cell<u32>,
    /// Those of them with a policy that has been read.
    pub policy_read: Cell<u32>,
    /// VMs with a vCPU to be removed from this core, and those with a context to be released after
    /// that.
    pub removing: Cell<u32>,
    pub releasing: Cell<u32>,
    /// The optional register groups that this core implements.
    pub optional: Cell<OptionalRegisters>,
    /// The vCPU that owns the loaded floating-point registers.
    pub fp_owner: Cell<Option<&'static VcpuContext>>,
    /// Virtual timer deadlines of blocked vCPUs by VM index, and the next deadline of Mortise
    /// itself.
    pub timers: DeadlineTable<VMS>,
    /// Run queue and budgets.
    pub queue: ReservationScheduler<&'static VcpuContext>,
    /// One context per VM.
    pub contexts: [VcpuContext; VMS],
}

// SAFETY: only the owning core accesses its scheduler.
unsafe impl Sync for CoreScheduler {}

impl Dispatcher for CoreScheduler {
    fn begin(&'static self, core: &'static Core) -> ! {
        // SAFETY: no guest has run on this core.
        self.optional.set(unsafe { OptionalRegisters::detect() });
        self.queue.set_slice(bounds::ticks(core, BACKGROUND_SLICE));
        core.clock().arm_timer(u64::MAX);
        self.begin_background_timer(core);
        if let Some(regulator) = core.regulator() {
            regulator.begin(core);
        }
        self.return_to_guest(core, None)
    }

    fn exit(&'static self, cause: Cause, core: &'static Core) -> &'static FrameCell {
        core.record_exit(cause);
        core.check_exit(cause);
        let chosen = if cause == Cause::Synchronous && is_wait() {
            self.count(ExitKind::Wait);
            skip_word();
            match core.has_pending_list_register() {
                true => self.selected.get(),
                false => self.block_and_decide(core),
            }
        } else {
            self.handle_exit(cause, core)
        };
        self.return_to_guest(core, chosen)
    }

    fn wait(&self, core: &'static Core) {
        self.block_loaded(core, self.is_fixed_priority());
        self.reschedule.set(true);
    }

    fn stop(&self, core: &'static Core) {
        if let Some(context) = self.loaded.get() {
            context.set_phase(Phase::STOPPING);
            context.record(core, Event::End);
        }
    }

    fn wake(&'static self, core: &'static Core, vm: &'static Vm, reason: WakeReason) {
        let Some(context) = self.contexts.get(vm.index()) else {
            return;
        };
        if context.vm().is_none() && !self.request_admission(core, vm) {
            return;
        }
        match reason {
            WakeReason::Listed => {}
            WakeReason::StateChanged => context.mark_lrs_stale(),
            WakeReason::Interrupt(intid) => context.pend_spi(intid),
        }
        if !context.entity.is_ready() && !vm.is_descheduled() && !self.is_admitting(vm) {
            self.timers.cancel(vm.index());
            let fixed = self.is_fixed_priority();
            if !fixed && is_pending() {
                // A wake-up that updates budgets is long, and is deferred behind pending
                // interrupts.
                return self.defer_wake(core, vm);
            }
            self.make_ready(core, context, fixed);
            self.reschedule.set(true);
        }
    }

    fn hold(&'static self, core: &'static Core, vm: &'static Vm, forget: bool) {
        let Some(context) = self.contexts.get(vm.index()) else {
            return;
        };
        self.timers.cancel(vm.index());
        context.record(core, Event::Park);
        if forget || !self.is_fixed_priority() {
            return self.request_removal(core, vm, forget);
        }
        self.queue.block_fixed(context);
        // Blocking a vCPU that is not selected changes no decision.
        if is(self.selected.get(), context) {
            self.reschedule.set(true);
        }
        core.mark_off_core(vm);
    }

    fn set_work_due(&self, core: &'static Core, due: u64) {
        self.arm_periodic_work(core, due);
        self.reschedule.set(true);
    }

    fn private_interrupt(&self, core: &'static Core) {
        self.expire_background_timer(core);
    }

    fn floating_point(&self) {
        if let Some(context) = self.loaded.get() {
            self.load_fp(context);
        }
    }
}

/// Whether `other` is this context.
#[inline]
pub(crate) fn is(other: Option<&'static VcpuContext>, context: &'static VcpuContext) -> bool {
    other.map_or(core::ptr::null(), core::ptr::from_ref) == core::ptr::from_ref(context)
}

/// Unmasks all priorities, because no vCPU is selected.
#[cold]
#[inline(never)]
fn unmask_all_priorities() {
    PriorityMask::OPEN.apply();
}

impl CoreScheduler {
    const fn new() -> Self {
        Self {
            loaded: Cell::new(None),
            selected: Cell::new(None),
            reschedule: Cell::new(true),
            mode: Cell::new(CoreMode::FixedPriority),
            admission_deadline: Cell::new(0),
            admission_priority: Cell::new(0),
            assigned: Cell::new(0),
            admitting: Cell::new(0),
            policy_read: Cell::new(0),
            removing: Cell::new(0),
            releasing: Cell::new(0),
            optional: Cell::new(OptionalRegisters::NONE),
            fp_owner: Cell::new(None),
            timers: DeadlineTable::new(),
            queue: ReservationScheduler::new(),
            contexts: [const { VcpuContext::new() }; VMS],
        }
    }

    /// Whether the core schedules by fixed priorities only.
    #[inline(always)]
    pub(crate) fn is_fixed_priority(&self) -> bool {
        self.mode.get() == CoreMode::FixedPriority
    }

    /// Handles an exit other than a WFI without a pending interrupt.
    #[cold]
    #[inline(never)]
    fn handle_exit(
        &'static self,
        cause: Cause,
        core: &'static Core,
    ) -> Option<&'static VcpuContext> {
        if matches!(cause, Cause::Irq | Cause::Fiq) {
            // A doorbell, or an interrupt of a 32-bit guest, is still pending, and handled on the
            // way to guest entry.
            self.count(ExitKind::Interrupt);
        } else if let Some(context) = self.loaded.get() {
            // SAFETY: the guest of this vCPU ran on this core, and the vector has stored its
            // registers in the frame.
            core.handle_exit(unsafe { context.frame.get() }, cause);
        }
        if is_pending() {
            // The decision follows the pending interrupts.
            return None;
        }
        self.decide_if_needed(core)
    }

    /// Whether this vCPU's registers are loaded.
    #[inline]
    pub(crate) fn is_loaded(&self, context: &'static VcpuContext) -> bool {
        is(self.loaded.get(), context)
    }

    /// Counts an exit of the loaded vCPU.
    #[inline]
    fn count(&self, kind: ExitKind) {
        if let Some(context) = self.loaded.get() {
            context.count(kind);
        }
    }

    /// Blocks the loaded vCPU; returns the next one to run.
    #[inline(always)]
    fn block_and_decide(&'static self, core: &'static Core) -> Option<&'static VcpuContext> {
        match self.is_fixed_priority() {
            true => {
                self.block_loaded(core, true);
                self.decide(core, true)
            }
            false => self.block_and_reschedule(core),
        }
    }

    /// Blocks the loaded vCPU until its timer's deadline or another wake-up.
    #[inline(always)]
    pub(crate) fn block_loaded(&self, core: &'static Core, fixed: bool) {
        let Some(context) = self.loaded.get() else {
            return;
        };
        match fixed {
            true => self.queue.block_fixed(context),
            false => self.queue.block(context, core.clock().ticks()),
        }
        self.arm_timer(core, context);
    }

    /// Arms the wake-up of a blocked vCPU at its timer's deadline.
    #[inline(always)]
    pub(crate) fn arm_timer(&self, core: &'static Core, context: &'static VcpuContext) {
        let deadline = timer_deadline();
        if let Some(deadline) = deadline {
            self.timers.arm(context.vm_index.get(), deadline);
        }
        context.record(core, deadline.map_or(Event::Park, |_| Event::Sleep));
    }

    /// Makes a vCPU ready.
    #[inline(always)]
    pub(crate) fn make_ready(
        &self,
        core: &'static Core,
        context: &'static VcpuContext,
        fixed: bool,
    ) {
        match fixed {
            true => self.queue.wake_fixed(context),
            false => self.make_ready_reserved(core, context),
        }
        context.record(core, Event::Ready);
    }

    /// The vCPU to run; decides anew if needed.
    #[inline(always)]
    pub(crate) fn decide_if_needed(
        &'static self,
        core: &'static Core,
    ) -> Option<&'static VcpuContext> {
        match self.reschedule.replace(false) {
            true => self.decide(core, self.is_fixed_priority()),
            false => self.selected.get(),
        }
    }

    /// Selects the vCPU to run and its priority mask, and sets the hypervisor timer for the next
    /// decision. `fixed` tells whether the core is in fixed-priority mode.
    #[inline(always)]
    pub(crate) fn decide(
        &'static self,
        core: &'static Core,
        fixed: bool,
    ) -> Option<&'static VcpuContext> {
        let alarm = self.timers.earliest();
        match fixed {
            true => self.select(core, self.queue.highest(), alarm),
            false => self.decide_reserved(core, alarm),
        }
    }

    /// Selects a vCPU, or idle, until `alarm`.
    #[inline(always)]
    pub(crate) fn select(
        &'static self,
        core: &'static Core,
        chosen: Option<&'static VcpuContext>,
        alarm: u64,
    ) -> Option<&'static VcpuContext> {
        core.clock().rearm_timer(alarm);
        self.selected.set(chosen);
        match chosen {
            Some(context) => context.mask.get().apply_during_switch(),
            None => unmask_all_priorities(),
        }
        chosen
    }
}
