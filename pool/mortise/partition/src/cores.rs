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
    gic::{
        OWN_PRIORITY, VmInterrupts, is_interrupt_listed, open_virtual_interface,
        reset_virtual_interface,
    },
    interrupts,
    machine::Core,
    memory,
    vm::{Interrupts, Vm},
};
use core::sync::atomic::Ordering;
use core_log::{error, info};
use core_manifest::FaultPolicy;
use core_statistics::State;
use hw_arch::{El2, ExceptionLevel, cpu};
use hw_irqchip_gicv3::{Group, cpu_interface};
use mortise_hypercall::Start;
use mortise_psci::{End, LEADER, Next};
use mortise_vcpu::Frame;

impl Core {
    /// Takes this core from its first Rust instruction into its guest.
    pub(crate) fn run(&'static self) -> ! {
        mortise_vcpu::install_vectors();
        self.settle();
        let Some((vm, vcpu)) = self.vcpu() else {
            loop {
                self.rest();
            }
        };
        // SAFETY: stage 2 is never dropped, and its VMID is this VM's alone.
        unsafe { vm.traps().apply(vm.stage2.root(), vm.index as u8 + 1, vcpu) };
        if vcpu == LEADER {
            self.fill(vm, State::Starting);
        }
        self.silence(vm, vcpu);
        let start = self.wait_for_start(vm, vcpu);
        self.prepare(vm, vcpu, start);
        // SAFETY: `prepare` has reset EL1; this core's stack is its own, and
        // this function never returns.
        unsafe { mortise_vcpu::enter(start.argument, self.stack_top()) }
    }

    /// Makes this core's half of the interrupt controller ready: the doorbell in
    /// Group 0 and most urgent, everything else in Group 1 and off.
    fn settle(&self) {
        let board = &self.machine.board;
        // SAFETY: system registers for the interrupt controller; nothing else at
        // EL2 depends on it. Enable stays zero: EL1 must not leave them.
        unsafe { hw_arch::registers::icc_sre_el2::write(0x7) };
        hw_arch::barrier::isb();
        let private = board.redistributor(self.cpu);
        private.initialise();
        private.set_group(board.doorbell, Group::Zero);
        private.set_priority(board.doorbell, 0);
        private.enable(board.doorbell);
        let split = self.vcpu().is_some_and(|(vm, _)| vm.is_shared());
        cpu_interface::initialise(if split {
            cpu_interface::End::Split
        } else {
            cpu_interface::End::Whole
        });
        cpu_interface::set_group_enabled(Group::Zero, true);
        reset_virtual_interface();
        if split {
            private.set_priority(board.maintenance, OWN_PRIORITY);
            private.enable(board.maintenance);
        }
        if self.machine.console_core() == Some(self.cpu) {
            crate::console::attach(self);
        }
    }

    /// Fills the virtual machine's memory and begins a run of it.
    fn fill(&self, vm: &'static Vm, state: State) {
        vm.set_state(state);
        let filled = self.with_map(|map| {
            if state == State::Restarting {
                memory::forget(vm, map)?;
            }
            memory::load(vm, map)
        });
        if let Some(Err(failure)) = filled {
            // The manifest was checked at boot; this is a table that cannot be
            // changed while in use, a mistake of ours.
            error!("{} cannot be loaded: {failure}", vm.name());
            vm.power.lock().give_up();
            return;
        }
        let description = &vm.description;
        vm.power.lock().renew(Start {
            entry: description.entry,
            argument: description.argument,
        });
    }

    /// Rests until vCPU `vcpu` is to start, ending runs if it leads.
    fn wait_for_start(&'static self, vm: &'static Vm, vcpu: usize) -> Start {
        loop {
            let next = vm.power.lock().next(vcpu);
            match next {
                Next::Start(start) => return start,
                Next::Lead(end) => self.lead(vm, end),
                Next::Wait => self.rest(),
            }
        }
    }

    /// Ends the run of a virtual machine whose vCPUs all rest; returns if another
    /// one begins.
    fn lead(&'static self, vm: &'static Vm, end: End) {
        vm.silence(self.machine);
        match end {
            End::Restart => {
                let count = vm.status.count_restart();
                info!("{} restarts ({count})", vm.name());
                vm.renew(self.machine);
                self.fill(vm, State::Restarting);
                return;
            }
            End::Off => {
                vm.set_state(State::Off);
                info!("{} is off", vm.name());
            }
            End::Stop => {
                vm.set_state(State::Stopped);
                if let FaultPolicy::Restart { limit } = vm.description.on_fault {
                    info!(
                        "{} stays stopped: {limit} restarts were its limit",
                        vm.name()
                    );
                }
            }
        }
        if self.machine.live.fetch_sub(1, Ordering::AcqRel) == 1 {
            info!("every virtual machine has ended");
            hw_arch::firmware::system_off::<hw_arch::firmware::Smc>();
        }
        loop {
            self.rest();
        }
    }

    /// Sleeps until something happens, and takes what comes to Mortise.
    fn rest(&self) {
        cpu::wait_for_interrupt();
        interrupts::serve_pending(self);
    }

    /// Takes this core's interrupts back to what a core that is turned on finds:
    /// nothing of what ran before interrupts what comes, or wakes a core at rest.
    fn silence(&self, vm: &'static Vm, vcpu: usize) {
        match &vm.interrupts {
            Interrupts::Direct(_) => {
                cpu_interface::set_group_enabled(Group::One, false);
                let board = &self.machine.board;
                board.redistributor(self.cpu).reset(1 << board.doorbell);
                hw_arch::registers::icc_ap1r0_el1::write(0);
                hw_arch::registers::icc_bpr1_el1::write(0);
            }
            Interrupts::Shared(gic) => {
                gic.lock().reset_vcpu(
                    vcpu,
                    &mut VmInterrupts {
                        machine: self.machine,
                        vm,
                    },
                );
            }
        }
        reset_virtual_interface();
        hw_arch::barrier::isb();
    }

    /// Makes this core's EL1 and its interrupts ready for a start.
    fn prepare(&self, vm: &'static Vm, vcpu: usize, start: Start) {
        // SAFETY: no guest is in the middle of anything here: this vCPU starts.
        unsafe { mortise_vcpu::reset(start.entry) };
        if vm.is_shared() {
            open_virtual_interface();
            interrupts::refresh(self, vm, vcpu);
        }
        // SAFETY: system register access for EL1, which nothing else depends on.
        unsafe { hw_arch::registers::icc_sre_el1::write(7) };
        hw_arch::barrier::isb();
        if vcpu == LEADER {
            vm.note_running(self.machine.now().saturating_sub(self.machine.started()));
            info!("{} running", vm.name());
        }
    }

    /// Lets a guest that waits rest until something comes for it. The core does
    /// not wake for what is pending in a list register already.
    pub(crate) fn idle(&self, vm: &'static Vm, vcpu: usize) {
        interrupts::refresh(self, vm, vcpu);
        if !vm.is_shared() {
            // Whatever priority the guest claims to be active, the doorbell wakes.
            let active = hw_arch::registers::icc_ap1r0_el1::read();
            hw_arch::registers::icc_ap1r0_el1::write(0);
            hw_arch::barrier::isb();
            cpu::wait_for_interrupt();
            hw_arch::registers::icc_ap1r0_el1::write(active);
        } else if !is_interrupt_listed() {
            cpu::wait_for_interrupt();
        }
    }

    /// Ends an exit: returns when the guest is to go on, at its next instruction
    /// or, if its run ends, at a new start.
    pub(crate) fn leave(&'static self, vm: &'static Vm, vcpu: usize, frame: &mut Frame) {
        if vm.is_ending() {
            self.start_anew(vm, vcpu, frame);
        }
    }

    /// Rests until this vCPU is started, then lets the guest go on there.
    pub(crate) fn start_anew(&'static self, vm: &'static Vm, vcpu: usize, frame: &mut Frame) {
        // SAFETY: this vCPU has ended what it did.
        unsafe { mortise_vcpu::reset(0) };
        self.silence(vm, vcpu);
        // Nothing of it is left to be disturbed: now others may count on its rest.
        let calls = vm.power.lock().stopped(vcpu);
        vm.call(calls, self.machine);
        let start = self.wait_for_start(vm, vcpu);
        self.prepare(vm, vcpu, start);
        *frame = Frame::ZERO;
        frame.x[0] = start.argument;
    }
}

/// Faults of Mortise's own end the machine: nothing it says can be trusted any
/// more. Called by the vectors.
pub fn own_fault(cause: u64) -> ! {
    panic!(
        "exception {cause} at EL2: esr={:#x} far={:#x} elr={:#x}",
        El2::read_esr(),
        El2::read_far(),
        El2::read_elr()
    )
}
