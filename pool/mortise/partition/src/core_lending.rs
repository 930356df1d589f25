//! Cores that a virtual machine lends.
//!
//! One that turned a vCPU off has no use for its core, and may have a extension run something else
//! of its own there ([`VmExtension::borrows`](crate::VmExtension::borrows)), until it turns the vCPU on
//! again or its run ends. Who has the core is said by [`mortise_psci::Power`]; nothing here is
//! linked where no extension asks for it.

use crate::{
    interrupts,
    machine::{Core, Machine},
    physical_gic::OWN_PRIORITY,
    registry,
    resumable::run_to_completion,
    vm::{DISCARDED, Vm},
};
use mortise_hypercall::PowerState;
use mortise_psci::Loan;

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

impl Core {
    /// Has companions do what this core was lent for; false if it was not.
    pub(crate) fn is_borrowed(&'static self, vm: &'static Vm, vcpu: usize) -> bool {
        let mut vm_extensions = registry::vm_extensions().iter();
        vm_extensions.any(|extension| extension.run_on_lent_core(self, vm, vcpu))
    }

    /// Lets the hypervisor timer wake this core.
    pub fn enable_hypervisor_timer(&self) {
        let board = &self.machine.board;
        let private = board.redistributor(self.cpu);
        private.set_priority(board.hypervisor_timer, OWN_PRIORITY);
        private.enable(board.hypervisor_timer);
    }

    /// Takes what is pending on this core, which is lent and whose timer is stopped.
    pub fn serve_pending(&'static self) {
        interrupts::serve_pending(self);
    }

    /// Sleeps on a core that is lent until something is pending, and takes it. One whose virtual
    /// machine is held says that it is away.
    pub fn wait_on_lent_core(&'static self, vm: &'static Vm, vcpu: usize) {
        self.rest_off_core(vm, vcpu);
    }

    /// Ends a loan: EL1 and the interrupts of this core are as after CPU_OFF, and its virtual
    /// machine may count on that. `x` are the general registers of what ran there last.
    pub fn return_core(&'static self, vm: &'static Vm, vcpu: usize, x: &[u64; 31]) {
        run_to_completion(|part| self.stop_vcpu(vm, vcpu, x, part));
    }
}
