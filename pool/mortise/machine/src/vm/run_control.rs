//! Orders to a VM: start, restart, stop, hold, suspend.

use crate::{
    Core, Machine, registry,
    vm::{DISCARDED, ENDING, HELD, SUSPENDED, Vm},
};
use core::sync::atomic::Ordering;
use core_statistics::{FaultRegisters, State, Summary};
use hw_arch::{El2, ExceptionLevel, registers::hpfar_el2};
use mortise_console::Cursor;
use mortise_hypercall::{PowerState, Start};
use mortise_psci::{Loan, RunEnd, VcpuSet};
use mortise_state::{
    fault::{DECIDE, Fault, FaultReport},
    options,
};

/// Starts and ends of a run, by managers and by the VM itself.
impl Vm {
    /// Starts an instance that is ready (`SlotLifecycle::ready`), once it is
    /// [released](Self::release).
    pub fn begin(&'static self, machine: &'static Machine) {
        let description = self.description();
        let start = Start {
            entry: description.entry,
            argument: description.argument,
        };
        self.set_state(State::Starting);
        self.count_alive(machine);
        self.power.lock().begin_run(start);
    }

    /// Restarts a VM of the manifest, whether it runs or has ended.
    pub fn restart(&'static self, machine: &'static Machine) {
        self.end_from_outside(RunEnd::Restart, machine);
    }

    /// Ends the run of a VM of the manifest; it is complete when [`is_over`](Self::is_over).
    pub fn stop(&'static self, machine: &'static Machine) {
        self.end_from_outside(RunEnd::Off, machine);
    }

    /// Whether the run has ended and no restart follows.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.power.lock().final_end().is_some()
    }

    /// The decided end of the run, if any.
    #[must_use]
    pub fn end_decided(&self) -> Option<RunEnd> {
        self.power.lock().requested_end()
    }

    fn end_from_outside(&'static self, end: RunEnd, machine: &'static Machine) {
        let mut power = self.power.lock();
        let was_over = power.final_end().is_some();
        let Some(kicks) = power.force_end(end) else {
            return;
        };
        if was_over {
            self.count_alive(machine);
        }
        self.lost_cores.call(machine.board.clock.ticks());
        // Under the lock: after it the first vCPU can carry out the end, and the next run must find
        // neither the mark nor its memory withdrawn.
        self.orders.fetch_or(ENDING, Ordering::AcqRel);
        self.withdraw();
        drop(power);
        self.kick_cores(kicks, machine);
    }

    /// Withdraws the VM's memory, on any core, until it is restored: by a release, or before the
    /// next run.
    #[inline]
    pub fn withdraw(&self) {
        let transfer = Core::current().transfer();
        // SAFETY: the windows are those of the executing core.
        unsafe { self.stage2.withdraw_from_outside(transfer) };
        mortise_vcpu::invalidate_translations_of(self.vttbr());
    }

    /// Summary of the status page, for a manager.
    #[must_use]
    pub fn summary(&self) -> Summary<'static> {
        self.status.summary()
    }

    /// Counts the VM as one that has not ended.
    fn count_alive(&self, machine: &Machine) {
        if !self.alive.swap(true, Ordering::AcqRel) {
            machine.count_start();
        }
    }

    /// No longer counts the VM as one that has not ended. After the last one the machine is powered
    /// off.
    pub fn count_ended(&self, machine: &Machine) {
        if self.alive.swap(false, Ordering::AcqRel) {
            machine.count_end();
        }
    }

    /// Ends the run on behalf of vCPU `vcpu`, unless an end is decided already.
    pub fn end(&'static self, vcpu: usize, end: RunEnd, machine: &'static Machine) {
        let kicks = self.power.lock().request_end(vcpu, end);
        if let Some(kicks) = kicks {
            self.end_and_kick(kicks, machine);
        }
    }

    /// Ends the run because vCPU `vcpu` faulted; returns the vCPUs to [kick](Self::end_and_kick), or
    /// nothing if an end is decided already.
    pub fn fail(&'static self, vcpu: usize) -> Option<VcpuSet> {
        self.power.lock().end_after_fault(vcpu)
    }

    /// Marks the run as ending and kicks these vCPUs. Another core can observe the decision before
    /// the mark. The deciding vCPU still executes, so that the run cannot be restarted in
    /// between.
    ///
    /// The doorbell is the fast way. A guest with direct interrupts can mask it on its core
    /// (`ICC_AP1R0_EL1` at the highest priority), so its memory is withdrawn too, and its next
    /// access exits. Called on a core of this VM with its VMID in use.
    pub(crate) fn end_and_kick(&'static self, kicks: VcpuSet, machine: &'static Machine) {
        if registry::has_several_vcpus() {
            self.lost_cores.call(machine.board.clock.ticks());
        }
        self.mark_ending();
        self.kick_cores(kicks, machine);
    }

    /// Marks the run as ending and withdraws the VM's memory.
    pub fn mark_ending(&self) {
        self.orders.fetch_or(ENDING, Ordering::AcqRel);
        self.stage2.withdraw();
        mortise_vcpu::invalidate_translations();
    }

    /// Records in its exit that vCPU `vcpu` cannot continue; it ends the run before it
    /// stops.
    pub fn record_fault(&'static self, vcpu: usize, fault: Fault) {
        // Of several vCPUs that fault at once, the first is reported.
        self.fault.lock().get_or_insert_with(|| FaultReport {
            vcpu,
            fault,
            registers: FaultRegisters {
                esr: El2::read_esr(),
                far: El2::read_far(),
                hpfar: hpfar_el2::read(),
                elr: El2::read_elr(),
                spsr: El2::read_spsr(),
            },
            kicks: VcpuSet::NONE,
            part: DECIDE,
            cursor: Cursor::START,
            word: [0; 8],
            bytes: 0,
        });
        self.orders.fetch_or(ENDING, Ordering::AcqRel);
    }

    /// Sets the VM's state on the status page and in the trace.
    pub fn set_state(&self, state: State) {
        self.status.set_state(state);
        self.record_state(state);
    }

    /// Records that the VM runs, and at its first start the time since boot.
    pub fn note_running(&self, after: u64) {
        if !self.started.swap(true, Ordering::Relaxed) {
            self.status.set_boot_time(after);
        }
        self.set_state(State::Running);
    }
}

/// Holds of a VM.
impl Vm {
    /// Takes all vCPUs off their cores until the VM is [released](Self::release). Complete when
    /// [`is_held`](Self::is_held).
    pub fn hold(&'static self, machine: &'static Machine) {
        self.request_hold(HELD, machine);
    }

    /// Does the same, and the cores discard the vCPUs' contexts.
    pub fn discard(&'static self, machine: &'static Machine) {
        self.request_hold(HELD | DISCARDED, machine);
    }

    fn request_hold(&'static self, order: u8, machine: &'static Machine) {
        // In this order: a vCPU that obeys an earlier order may still record that it is off.
        self.orders.fetch_or(order, Ordering::AcqRel);
        self.off_core.store(0, Ordering::Release);
        if !self.is_shared() {
            // The guest can mask the doorbell on its cores (see `end_and_kick`).
            self.withdraw();
        }
        machine.kick_vcpus(self, self.all_vcpus());
    }

    /// Whether all vCPUs are off their cores and stay off.
    #[must_use]
    pub fn is_held(&self) -> bool {
        let all = self.all_vcpus().bits();
        self.orders() & HELD != 0 && self.off_core.load(Ordering::Acquire) & all == all
    }

    /// Lets the vCPUs continue. If the run is ending, the memory stays withdrawn until the next
    /// run: a core that has not returned to EL2 yet would continue in it.
    pub fn release(&'static self, machine: &'static Machine) {
        if !self.is_shared() && !self.is_ending() {
            // SAFETY: the windows are those of the executing core.
            unsafe { self.stage2.restore_from_outside(Core::current().transfer()) };
            if self.is_ending() {
                self.withdraw();
            }
        }
        self.orders.fetch_and(!(HELD | DISCARDED), Ordering::AcqRel);
        machine.kick_vcpus(self, self.all_vcpus());
    }

    /// Whether a hold is requested.
    #[must_use]
    pub fn hold_requested(&self) -> bool {
        options::has_vm_extensions() && self.orders() & HELD != 0
    }
}

/// Suspensions of a VM. One order is given at a time.
impl Vm {
    /// Gives the VM virtual time. Called before it first runs, on pinned cores.
    pub fn use_virtual_time(&self) {
        self.suspension.virtual_time.store(true, Ordering::Relaxed);
    }

    /// Suspends all vCPUs until the VM is [resumed](Self::resume), except `except`, which is in
    /// Mortise now and stops by itself.
    pub fn suspend(&'static self, machine: &'static Machine, except: Option<usize>) {
        // In this order: a vCPU that obeys an earlier order may still record that it has stopped.
        self.orders.fetch_or(SUSPENDED, Ordering::AcqRel);
        self.suspension.begin();
        let except = except.map_or(0, |vcpu| 1 << vcpu);
        self.kick_cores(
            VcpuSet::from_bits(self.all_vcpus().bits() & !except),
            machine,
        );
    }

    /// Lets the vCPUs continue.
    pub fn resume(&'static self, machine: &'static Machine) {
        let now = machine.board.clock.ticks();
        self.suspension.end(self.vcpus(), now);
        self.orders.fetch_and(!SUSPENDED, Ordering::AcqRel);
        self.kick_cores(self.all_vcpus(), machine);
    }
}

/// Cores that a VM lends. A VM that turned a vCPU off can have a VM extension run other code on its
/// core ([`VmExtension::run_on_lent_core`](crate::interface::VmExtension::run_on_lent_core)), until it turns
/// the vCPU on again or its run ends. [`mortise_psci::Power`] holds the state.
impl Vm {
    /// Lends the core of a vCPU that is off, or kicks the core if it is lent already.
    ///
    /// # Errors
    ///
    /// The vCPU's power state if it is not off.
    pub fn lend(&'static self, machine: &'static Machine, vcpu: usize) -> Result<(), PowerState> {
        let kicks = self.power.lock().lend_core(vcpu)?;
        self.kick_cores(kicks, machine);
        Ok(())
    }

    /// Whether the core of a vCPU is lent.
    #[must_use]
    pub fn loan(&self, vcpu: usize) -> Loan {
        match self.power.lock().loan(vcpu) {
            Loan::Lent if self.orders() & DISCARDED != 0 => Loan::Recalled,
            loan => loan,
        }
    }
}
