//! Who has a core, and until when.

use crate::{
    bounds,
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
const BACKGROUND_SLICE: u32 = 62_500;

/// The turns of all cores.
pub struct CoreSchedulers([CoreScheduler; CORES]);

/// What an image of mode 2 registers.
pub static DISPATCH: CoreSchedulers = CoreSchedulers([const { CoreScheduler::new() }; CORES]);

impl Dispatch for CoreSchedulers {
    fn core(&'static self, cpu: usize, vms: usize) -> Option<&'static dyn Dispatcher> {
        self.0.get(cpu).filter(|_| vms <= VMS).map(|turn| turn as _)
    }

    fn records(&'static self) -> PerCore {
        PerCore {
            start: self.0.as_ptr() as usize,
            stride: size_of::<CoreScheduler>(),
            count: CORES,
        }
    }
}

/// Who has one core, and who waits for it.
#[repr(C, align(4096))] // the seats last, so that what every exit uses is within reach of one load
pub(crate) struct CoreScheduler {
    /// Who is in the registers.
    pub loaded: Cell<Option<&'static VcpuContext>>,
    /// Who was decided on last.
    pub selected: Cell<Option<&'static VcpuContext>>,
    /// Whether the decision may be another one by now.
    pub reschedule: Cell<bool>,
    /// By what the core is shared.
    pub mode: Cell<CoreMode>,
    /// Until when to find that out may wait for somebody more urgent than all of them, and how urgent they are.
    pub admission_deadline: Cell<u64>,
    pub admission_priority: Cell<u8>,
    /// The seats that somebody has, one bit each.
    pub assigned: Cell<u32>,
    /// Machines whose virtual CPU here is yet to be admitted to the core, before which it does not
    /// want it.
    pub admitting: Cell<u32>,
    /// Those of them whose terms are known.
    pub policy_read: Cell<u32>,
    /// Machines whose virtual CPU here is to leave the core, and those that are to be forgotten then.
    pub removing: Cell<u32>,
    pub releasing: Cell<u32>,
    /// Ticks within which the core's timer is [near](bounds::TIMER_GUARD).
    pub timer_guard: Cell<u64>,
    /// Whether the core has registers that few cores have.
    pub optional: Cell<OptionalRegisters>,
    /// Whose floating-point registers are in the core.
    pub fp_owner: Cell<Option<&'static VcpuContext>>,
    /// Who waits for its timer, by its machine's number, and when Mortise itself has something to
    /// do here.
    pub timers: DeadlineTable<VMS>,
    /// Who wants the core.
    pub queue: ReservationScheduler<&'static VcpuContext>,
    /// Each virtual machine's seat.
    pub contexts: [VcpuContext; VMS],
}

// SAFETY: a core's turns are reached by that core only.
unsafe impl Sync for CoreScheduler {}

impl Dispatcher for CoreScheduler {
    fn begin(&'static self, core: &'static Core) -> ! {
        // SAFETY: no guest has run on this core.
        self.optional.set(unsafe { OptionalRegisters::detect() });
        self.timer_guard
            .set(core.clock().frequency().ticks(bounds::TIMER_GUARD));
        core.clock().set_alarm(u64::MAX);
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
            skip_instruction();
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
                // By what was promised it takes long, and goes behind that.
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
        // Who did not have the core changes nothing by leaving.
        if is(self.selected.get(), context) {
            self.reschedule.set(true);
        }
        core.mark_off_core(vm);
    }

    fn reconsider(&self, core: &'static Core) {
        self.timers.set_own_deadline(core.hypervisor_deadline());
        self.reschedule.set(true);
    }

    fn floating_point(&self) {
        if let Some(context) = self.loaded.get() {
            self.load_fp(context);
        }
    }

    fn identity(&self, encoding: u16) -> u64 {
        mortise_vcpu::id_register(encoding)
    }
}

/// Whether somebody is this one.
#[inline]
pub(crate) fn is(other: Option<&'static VcpuContext>, context: &'static VcpuContext) -> bool {
    other.map_or(core::ptr::null(), core::ptr::from_ref) == core::ptr::from_ref(context)
}

/// Lets every interrupt come, as nobody has the core.
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
            timer_guard: Cell::new(0),
            optional: Cell::new(OptionalRegisters::NONE),
            fp_owner: Cell::new(None),
            timers: DeadlineTable::new(),
            queue: ReservationScheduler::new(BACKGROUND_SLICE),
            contexts: [const { VcpuContext::new() }; VMS],
        }
    }

    /// Whether time does not matter on this core.
    #[inline(always)]
    pub(crate) fn is_fixed_priority(&self) -> bool {
        self.mode.get() == CoreMode::FixedPriority
    }

    /// Takes any other exit.
    #[cold]
    #[inline(never)]
    fn handle_exit(
        &'static self,
        cause: Cause,
        core: &'static Core,
    ) -> Option<&'static VcpuContext> {
        if matches!(cause, Cause::Irq | Cause::Fiq) {
            // The doorbell, or what came to a 32-bit guest, is found pending on the way out, and taken there.
            self.count(ExitKind::Interrupt);
        } else if let Some(context) = self.loaded.get() {
            // SAFETY: its guest, on this core, has just left its registers there.
            core.handle_exit(unsafe { context.frame.get() }, cause);
        }
        if is_pending() {
            // It is decided behind what waits.
            return None;
        }
        self.decide_if_needed(core)
    }

    /// Whether this is the one in the registers.
    #[inline]
    pub(crate) fn is_loaded(&self, context: &'static VcpuContext) -> bool {
        is(self.loaded.get(), context)
    }

    /// Counts an exit of the one in the registers.
    #[inline]
    fn count(&self, kind: ExitKind) {
        if let Some(context) = self.loaded.get() {
            context.count(kind);
        }
    }

    /// Has the one in the registers wait; who is to have the core after that.
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

    /// Has the one in the registers want the core no more until its timer's deadline, or until
    /// something else comes for it.
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

    /// Has one who waits wake at its timer's deadline.
    #[inline(always)]
    pub(crate) fn arm_timer(&self, core: &'static Core, context: &'static VcpuContext) {
        let deadline = timer_deadline();
        if let Some(deadline) = deadline {
            self.timers.arm(context.vm_index.get(), deadline);
        }
        context.record(core, deadline.map_or(Event::Park, |_| Event::Sleep));
    }

    /// Has a virtual CPU want the core.
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

    /// Who is to have the core, decided anew if that may have changed.
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

    /// Decides who has the core, what is held back meanwhile, and sets the timer for what may change
    /// that; the end of time never comes. `fixed` is whether time does not matter.
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

    /// Has one who was decided on have the core, or nobody, until that time.
    #[inline(always)]
    pub(crate) fn select(
        &'static self,
        core: &'static Core,
        chosen: Option<&'static VcpuContext>,
        alarm: u64,
    ) -> Option<&'static VcpuContext> {
        core.clock().move_alarm(alarm);
        self.selected.set(chosen);
        match chosen {
            Some(context) => context.mask.get().apply_during_switch(),
            None => unmask_all_priorities(),
        }
        chosen
    }
}
