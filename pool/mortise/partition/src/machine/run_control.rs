//! What others have a virtual machine do: begin, begin again, end.

use super::{
    fault::{DECIDE, Fault, FaultReport},
    options, registry,
    topology::{Core, Machine},
    vm::{DISCARDED, ENDING, HELD, SUSPENDED, Vm},
};
use core::sync::atomic::Ordering;
use core_statistics::FaultRegisters;
use core_statistics::{State, Summary};
use hw_arch::{El2, ExceptionLevel, registers::hpfar_el2};
use mortise_console::Cursor;
use mortise_hypercall::PowerState;
use mortise_hypercall::Start;
use mortise_psci::RunEnd;
use mortise_psci::{Loan, VcpuSet};

/// Orders of who has authority over it.
impl Vm {
    /// Has one that is [ready](Self::ready) run from its beginning, once it is
    /// [released](Self::release).
    pub fn begin(&'static self, machine: &'static Machine) {
        let description = self.description();
        let start = Start {
            entry: description.entry,
            argument: description.argument,
        };
        self.set_state(State::Starting);
        self.note_life(machine);
        self.power.lock().begin_run(start);
    }

    /// Has one of the manifest's run from its beginning, whether it runs or has ended.
    pub fn restart(&'static self, machine: &'static Machine) {
        self.end_from_outside(RunEnd::Restart, machine);
    }

    /// Ends the run of one of the manifest's for good; it has when it [is over](Self::is_over).
    pub fn stop(&'static self, machine: &'static Machine) {
        self.end_from_outside(RunEnd::Off, machine);
    }

    /// Whether its run has ended for good.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.power.lock().final_end().is_some()
    }

    /// How its run is to end or has ended, if that is decided.
    #[must_use]
    pub fn end_decided(&self) -> Option<RunEnd> {
        self.power.lock().requested_end()
    }

    fn end_from_outside(&'static self, end: RunEnd, machine: &'static Machine) {
        let mut power = self.power.lock();
        let was_over = power.final_end().is_some();
        let calls = power.force_end(end);
        if was_over && calls.is_some() {
            self.note_life(machine);
        }
        drop(power);
        if let Some(calls) = calls {
            self.lost_cores.call(machine.board.clock.ticks());
            self.orders.fetch_or(ENDING, Ordering::AcqRel);
            self.withdraw();
            self.call(calls, machine);
        }
    }

    /// Takes its memory from it, on any core, until it is given back: for good once its run is over.
    #[inline]
    pub fn withdraw(&self) {
        self.stage2
            .withdraw_from_outside(Core::current().transfer());
        mortise_vcpu::invalidate_translations_of(self.vttbr());
    }

    /// What a manager is told of it, from its status page.
    #[must_use]
    pub fn summary(&self) -> Summary<'static> {
        self.status.summary()
    }

    /// Takes down what it does, on its status page.
    pub fn note_state(&self, state: State) {
        self.set_state(state);
    }

    /// Counts it among those that have not ended.
    fn note_life(&self, machine: &Machine) {
        if !self.alive.swap(true, Ordering::AcqRel) {
            machine.begin_one();
        }
    }

    /// Counts it no more among those that have not ended; with the last one the machine goes off.
    pub(crate) fn note_end(&self, machine: &Machine) {
        if self.alive.swap(false, Ordering::AcqRel) {
            machine.end_one();
        }
    }

    /// Ends its run as vCPU `vcpu` wants, unless its end is decided already.
    pub(crate) fn end(&'static self, vcpu: usize, end: RunEnd, machine: &'static Machine) {
        let calls = self.power.lock().request_end(vcpu, end);
        if let Some(calls) = calls {
            self.call_in(calls, machine);
        }
    }

    /// Ends its run because vCPU `vcpu` faulted; whom that is to be [told](Self::call_in), nothing if its
    /// end is decided already.
    pub(crate) fn fail(&'static self, vcpu: usize) -> Option<VcpuSet> {
        self.power.lock().record_fault(vcpu)
    }

    /// The flag is set before anybody can notice otherwise. Whoever decided still
    /// executes, so that nobody renews the run in between.
    ///
    /// The doorbell is the quick way. A guest that owns its interrupts can make
    /// its core deaf to it (`ICC_AP1R0_EL1` at the highest priority), so its
    /// memory is withdrawn too: the next access of any kind comes here. Called on
    /// a core of this virtual machine, whose VMID is the one in use.
    pub(crate) fn call_in(&'static self, calls: VcpuSet, machine: &'static Machine) {
        if registry::vcpus_are_several() {
            self.lost_cores.call(machine.board.clock.ticks());
        }
        self.end_in_memory();
        self.call(calls, machine);
    }

    /// The first half of that.
    pub(crate) fn end_in_memory(&self) {
        self.orders.fetch_or(ENDING, Ordering::AcqRel);
        self.stage2.withdraw();
        mortise_vcpu::invalidate_translations();
    }

    /// Notes that vCPU `vcpu`, whose exit this is, cannot go on: it ends the run before it rests.
    pub(crate) fn stop_for(&'static self, vcpu: usize, fault: Fault) {
        // Of several vCPUs that fault at once, the first one is the reason.
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
            calls: VcpuSet::NONE,
            part: DECIDE,
            cursor: Cursor::START,
            word: [0; 8],
            bytes: 0,
        });
        self.orders.fetch_or(ENDING, Ordering::AcqRel);
    }

    /// Takes down what it does.
    pub(crate) fn set_state(&self, state: State) {
        self.status.set_state(state);
        self.record_state(state);
    }

    /// Takes down that it runs, and after how long if this is its first start.
    pub(crate) fn note_running(&self, after: u64) {
        if !self.started.swap(true, Ordering::Relaxed) {
            self.status.set_boot_time(after);
        }
        self.set_state(State::Running);
    }
}

/// VMs that are held.
impl Vm {
    /// Takes all its vCPUs off their cores, whatever they do, until it is
    /// [released](Self::release). They are when it [is held](Self::is_held).
    pub fn hold(&'static self, machine: &'static Machine) {
        self.keep_off(HELD, machine);
    }

    /// Does the same, and has the cores forget what its vCPUs did: they are off.
    pub fn discard(&'static self, machine: &'static Machine) {
        self.keep_off(HELD | DISCARDED, machine);
    }

    fn keep_off(&'static self, order: u8, machine: &'static Machine) {
        // In this order: who obeys an earlier order may still say that it is away.
        self.orders.fetch_or(order, Ordering::AcqRel);
        self.away.store(0, Ordering::Release);
        if !self.is_shared() {
            // It can make its cores deaf to the doorbell (see `call_in`).
            self.withdraw();
        }
        machine.kick_vcpus(self, self.all_vcpus());
    }

    /// Whether none of its vCPUs is on its core any more, nor will be.
    #[must_use]
    pub fn is_held(&self) -> bool {
        let all = self.all_vcpus().bits();
        self.orders() & HELD != 0 && self.away.load(Ordering::Acquire) & all == all
    }

    /// Lets its vCPUs go on. One whose run ends stays without its memory until the next one
    /// begins: a core that has not come back yet would go on in it.
    pub fn release(&'static self, machine: &'static Machine) {
        if !self.is_shared() && !self.is_ending() {
            self.stage2.restore_from_outside(Core::current().transfer());
            if self.is_ending() {
                self.withdraw();
            }
        }
        self.orders.fetch_and(!(HELD | DISCARDED), Ordering::AcqRel);
        machine.kick_vcpus(self, self.all_vcpus());
    }

    /// Whether it is to be held.
    #[must_use]
    pub fn hold_requested(&self) -> bool {
        options::orders_are_given() && self.orders() & HELD != 0
    }
}

/// VMs that are suspended. One order is given at a time.
impl Vm {
    /// Makes its time virtual, before it first runs, on cores of its own.
    pub fn use_virtual_time(&self) {
        self.suspension.unnoticed.store(true, Ordering::Relaxed);
    }

    /// Stops all its vCPUs until it is [resumed](Self::resume); `except` is one that stops by itself,
    /// as it is in Mortise now.
    pub fn suspend(&'static self, machine: &'static Machine, except: Option<usize>) {
        // In this order: who obeys an earlier one may still say that it has stopped.
        self.orders.fetch_or(SUSPENDED, Ordering::AcqRel);
        self.suspension.begin();
        let except = except.map_or(0, |vcpu| 1 << vcpu);
        self.call(
            VcpuSet::from_bits(self.all_vcpus().bits() & !except),
            machine,
        );
    }

    /// Lets its vCPUs go on.
    pub fn resume(&'static self, machine: &'static Machine) {
        let now = machine.board.clock.ticks();
        self.suspension.end(self.vcpus(), now);
        self.orders.fetch_and(!SUSPENDED, Ordering::AcqRel);
        self.call(self.all_vcpus(), machine);
    }
}

/// Cores that a VM lends.
impl Vm {
    /// Has the core of a vCPU that is off lent, or called if it is already.
    ///
    /// # Errors
    ///
    /// What the vCPU is instead.
    pub fn lend(&'static self, machine: &'static Machine, vcpu: usize) -> Result<(), PowerState> {
        let calls = self.power.lock().lend_core(vcpu)?;
        self.call(calls, machine);
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
