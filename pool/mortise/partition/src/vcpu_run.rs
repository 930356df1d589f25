//! A core's life: into Mortise, into a guest, and to rest.
//!
//! ```text
//! boot ─► settle ─► wait ──start──► enter ─► guest ◄─► exit
//!                    ▲                                    │
//!                    └──── CPU_OFF, end of the run ───────┘
//! ```
//!
//! The core of a virtual machine's first vCPU leads it: it fills the memory,
//! waits until the other vCPUs rest, and ends the run as was decided: for good,
//! or by a new one. Who decides, who waits for whom and who must be called is
//! the state machine of [`mortise_psci::Power`]. A core at rest still takes
//! Mortise's own interrupts, so that the console goes on.

use crate::{
    boot::stop,
    hypercalls::CONSTANT_REPLIES,
    interrupts,
    machine::Core,
    physical_gic::{OWN_PRIORITY, TIMER_PRIORITY, is_interrupt_listed, reset_virtual_interface},
    registry,
    resumable::run_to_completion,
    suspend::{StoppedTimer, set_counter},
    trace,
    vm::{DISCARDED, ENDING, Vm},
};
use core_statistics::ExitKind;
use hw_arch::{El2, ExceptionLevel, cpu};
use hw_irqchip_gicv3::{Group, cpu_interface};
use mortise_hypercall::Start;
use mortise_psci::{LEADER, NextAction};
use mortise_vcpu::{Frame, InterruptMode, Traps};

/// What comes of a vCPU at rest.
#[derive(Debug, Clone, Copy)]
pub enum ParkedAction {
    /// It is to start here.
    Start(Start),
    /// An interrupt is pending, and it has more to do behind that.
    Interrupted,
    /// It has nothing to do until it is called.
    Idle,
}

impl Core {
    /// Takes this core from its first Rust instruction into its guest.
    pub(crate) fn run(&'static self) -> ! {
        self.install_shared_vectors();
        self.start_trace();
        self.settle();
        if let Some(dispatcher) = self.dispatcher() {
            self.hold_all();
            interrupts::wake_pending_vms(self);
            dispatcher.begin(self)
        }
        let Some((vm, vcpu)) = self.current_vcpu() else {
            self.record_run(None);
            if let Some(core_task) = self.core_task() {
                self.run_core_task(core_task);
            }
            loop {
                self.rest();
            }
        };
        // SAFETY: stage 2 is never dropped, and its VMID is this VM's alone.
        unsafe { vm.traps().apply(vm.vttbr(), vcpu) };
        // Nobody waits for it here.
        let _whole = self.silence(vm, vcpu, 0);
        let start = self.wait_for_start(vm, vcpu);
        run_to_completion(|part| self.prepare_start(vm, vcpu, start, part));
        // SAFETY: this core's frame is used here and by its exits only; its stack is its
        // own; `prepare` has reset EL1, and this function never returns.
        unsafe {
            let frame = &self.resident.frame;
            frame.get().start(start.argument, self.stack_top());
            self.check_entry();
            mortise_vcpu::enter(frame)
        }
    }

    /// Makes this core's vectors those that are right for who runs on it.
    fn install_shared_vectors(&self) {
        if self.dispatcher().is_some() {
            return mortise_vcpu::install_shared_vectors();
        }
        if let Some((vm, vcpu)) = self.current_vcpu() {
            self.enable_fast_paths(vm, vcpu);
        }
        // SAFETY: the only frame that is entered here is the resident's, if one is.
        unsafe { mortise_vcpu::install_fast_vectors() };
    }

    /// Has the exits counted of the virtual CPU that has this core to itself, and the vectors do what
    /// they can for it; with a trace nothing, as what they do is not recorded.
    fn enable_fast_paths(&self, vm: &'static Vm, vcpu: usize) {
        const { assert!(ExitKind::Interrupt as u32 == 0 && ExitKind::Hypercall as u32 == 1) };
        if let Some(exits) = vm.exits(vcpu) {
            self.resident.count_in(exits.words());
        }
        if let (Some(template), false) = (vm.timer_template_of(vcpu), trace::recorded()) {
            let timer = self.machine.board.virtual_timer;
            self.resident
                .enable_fast_paths(timer, template, &CONSTANT_REPLIES);
        }
    }

    /// Makes this core's half of the interrupt controller ready: the doorbell in
    /// Group 0 and most urgent, everything else in Group 1 and off.
    fn settle(&'static self) {
        let board = &self.machine.board;
        if let Some(chip) = registry::irqchip() {
            if let Err(why) = chip.init_core(&board.gic(), self.cpu) {
                stop(format_args!("CPU {}: {why}", self.cpu));
            }
            return;
        }
        // SAFETY: system registers for the interrupt controller; nothing else at
        // EL2 depends on it. Enable stays zero: EL1 must not leave them.
        unsafe { hw_arch::registers::icc_sre_el2::write(0x7) };
        hw_arch::barrier::isb();
        let private = board.redistributor(self.cpu);
        private.initialise();
        private.set_group(board.doorbell, Group::Zero);
        private.set_priority(board.doorbell, 0);
        private.enable(board.doorbell);
        let split = self.is_split();
        cpu_interface::initialise(if split {
            cpu_interface::EndMode::DropPriority
        } else {
            cpu_interface::EndMode::Deactivate
        });
        cpu_interface::set_group_enabled(Group::Zero, true);
        reset_virtual_interface();
        if split {
            private.set_priority(board.maintenance, OWN_PRIORITY);
            private.enable(board.maintenance);
        }
        self.timer_activation
            .set(private.active_bit(board.virtual_timer));
        if self.dispatcher().is_some() {
            // Whoever is there has its timer in the hardware, and Mortise its own.
            private.set_priority(board.virtual_timer, TIMER_PRIORITY);
            private.enable(board.virtual_timer);
        }
        if self.dispatcher().is_some() || self.core_task().is_some() {
            private.set_priority(board.hypervisor_timer, OWN_PRIORITY);
            private.enable(board.hypervisor_timer);
        }
        if self.machine.console_core() == Some(self.cpu) {
            crate::console::attach(self);
        }
    }

    /// Sets the traps of a core that several share, which are the same for all of them.
    fn hold_all(&self) {
        let traps = Traps {
            interrupts: InterruptMode::Shared,
            trap_wait: true,
            trap_pmu_and_debug: true,
            trap_physical_timer: true,
        };
        // Nobody's guest runs before its own stage 2 is in place; until then any will do.
        if let Some(vm) = self.machine.vms().next() {
            // SAFETY: stage 2 is never dropped, and its VMID is this VM's alone.
            unsafe { traps.apply(vm.vttbr(), 0) };
        }
    }

    /// Rests until vCPU `vcpu` is to start, ending and beginning runs if it leads.
    fn wait_for_start(&'static self, vm: &'static Vm, vcpu: usize) -> Start {
        loop {
            if vm.hold_requested() {
                self.rest_off_core(vm, vcpu);
                continue;
            }
            match self.service_parked_vcpu(vm, vcpu) {
                ParkedAction::Start(start) => {
                    if vm.has_to_wait() {
                        self.wait_while_held(vm, vcpu);
                    }
                    set_counter(vm);
                    return start;
                }
                ParkedAction::Interrupted => interrupts::serve_pending(self),
                ParkedAction::Idle if self.is_borrowed(vm, vcpu) => {}
                ParkedAction::Idle if vm.awaits_cores(self.machine) => {
                    cpu::relax();
                    interrupts::serve_pending(self);
                }
                ParkedAction::Idle => self.rest_off_core(vm, vcpu),
            }
        }
    }

    /// Does what a vCPU at rest has to, ending runs and beginning them if it leads, until an
    /// interrupt is pending; says what is to come of it.
    pub fn service_parked_vcpu(&'static self, vm: &'static Vm, vcpu: usize) -> ParkedAction {
        loop {
            if vcpu == LEADER && !vm.restart.advance(self, vm) || self.preemption_pending() {
                return ParkedAction::Interrupted;
            }
            let next = vm.power.lock().next_action(vcpu);
            match next {
                NextAction::Start(start) => return ParkedAction::Start(start),
                NextAction::EndRun(end) => vm.restart.end(end),
                NextAction::Wait => {
                    if vcpu == LEADER {
                        self.machine.idle_work(self, vm);
                    }
                    return ParkedAction::Idle;
                }
            }
        }
    }

    /// Rests, as a vCPU that is off its core if it is to be.
    pub(crate) fn rest_off_core(&'static self, vm: &'static Vm, vcpu: usize) {
        if vm.is_descheduled() {
            vm.mark_off_core(vcpu, self.clock().ticks());
        }
        self.rest();
    }

    /// Rests, off its core, for as long as a vCPU [has to wait](Vm::has_to_wait): it has to at first.
    fn wait_while_held(&'static self, vm: &'static Vm, vcpu: usize) {
        loop {
            vm.mark_off_core(vcpu, self.clock().ticks());
            self.rest();
            if !vm.has_to_wait() {
                return;
            }
        }
    }

    /// Sleeps until something happens, and takes what comes to Mortise.
    pub(crate) fn rest(&'static self) {
        self.record_run(None);
        cpu::wait_for_interrupt();
        interrupts::serve_pending(self);
    }

    /// Does a step of what the doorbell, which is pending, is about: at the last it is taken.
    #[inline(never)]
    pub fn handle_doorbell(&'static self) {
        if !interrupts::wake_one_pending_vm(self) {
            interrupts::doorbell(self);
        }
    }

    /// Whether something is pending that goes before what Mortise does: on a core that is
    /// shared, where a guest more urgent than this one may wait for it.
    #[inline]
    #[must_use]
    pub fn preemption_pending(&self) -> bool {
        self.dispatcher().is_some() && cpu::is_interrupt_pending()
    }

    /// Lets a guest that waits rest until something comes for it. The core does
    /// not wake for what is pending in a list register already.
    pub(crate) fn idle(&'static self, vm: &'static Vm, vcpu: usize) {
        if let Some(dispatcher) = self.dispatcher() {
            if !is_interrupt_listed(self) {
                dispatcher.wait(self);
            }
            return;
        }
        if let Some(chip) = registry::irqchip() {
            return self.sleep_by(chip);
        }
        interrupts::refresh(self, vm, vcpu);
        if !vm.is_shared() {
            return unclaimed(vm, cpu::wait_for_interrupt);
        }
        // The vectors may have listed the timer's, and noted it nowhere.
        self.listed.set(self.listed.get().with_lr(0, true));
        if !is_interrupt_listed(self) {
            cpu::wait_for_interrupt();
        }
    }

    /// Ends an exit: returns when the guest is to go on, at its next instruction
    /// or, if its run ends, at a new start.
    pub(crate) fn leave(&'static self, vm: &'static Vm, vcpu: usize, frame: &mut Frame) {
        if !vm.may_run() {
            self.apply_orders(vm, vcpu, frame);
        }
    }

    /// Rests as long as the VM is held or suspended; begins anew if its run ended, or was discarded.
    /// What came for the guest meanwhile is listed behind that, once.
    #[cold]
    pub(crate) fn apply_orders(&'static self, vm: &'static Vm, vcpu: usize, frame: &mut Frame) {
        if vm.has_to_wait() {
            let timer = StoppedTimer::stop();
            unclaimed(vm, || self.wait_while_held(vm, vcpu));
            timer.go_on(vm);
        }
        // Not by whether it is free: an order to wait that came just now has its doorbell behind it.
        if vm.orders() & (DISCARDED | ENDING) != 0 {
            self.start_anew(vm, vcpu, frame);
        } else {
            interrupts::refresh(self, vm, vcpu);
        }
    }

    /// Rests until this vCPU is started, then lets the guest go on there.
    pub(crate) fn start_anew(&'static self, vm: &'static Vm, vcpu: usize, frame: &mut Frame) {
        self.check_stop(vm, vcpu);
        run_to_completion(|part| self.stop_vcpu(vm, vcpu, &frame.x, part));
        let start = self.wait_for_start(vm, vcpu);
        run_to_completion(|part| self.prepare_start(vm, vcpu, start, part));
        // SAFETY: this core's stack is its own, and an exit leaves nothing on it.
        unsafe { frame.start(start.argument, self.stack_top()) };
    }
}

/// Has a core do something during which the doorbell comes, whatever priority its guest, which may own
/// its interrupts, claims to be active.
fn unclaimed(vm: &Vm, wait: impl FnOnce()) {
    if vm.is_shared() || registry::irqchip().is_some() {
        return wait();
    }
    let active = hw_arch::registers::icc_ap1r0_el1::read();
    hw_arch::registers::icc_ap1r0_el1::write(0);
    hw_arch::barrier::isb();
    wait();
    hw_arch::registers::icc_ap1r0_el1::write(active);
}

/// Faults of Mortise's own end the machine: nothing it says can be trusted any
/// more. Called by the vectors.
pub fn hypervisor_fault(cause: u64) -> ! {
    panic!(
        "exception {cause} at EL2: esr={:#x} far={:#x} elr={:#x}",
        El2::read_esr(),
        El2::read_far(),
        El2::read_elr()
    )
}
