//! Detection of lost cores.

use crate::{Machine, registry, vm::Vm};
use core::sync::atomic::Ordering;
use core_manifest::WaitPolicy;
use core_statistics::State;
use mortise_console::Argument;
use mortise_psci::VcpuSet;
use mortise_state::{
    lost_cores::{LOST_AFTER, Poll},
    options,
};

impl Vm {
    /// Whether the VM can mask the doorbell on its cores and sleep there.
    fn can_lose_cores(&self) -> bool {
        registry::has_several_vcpus()
            && !self.is_shared()
            && self.description().wait == WaitPolicy::Pass
    }

    /// Looks for cores that should have stopped; each one that is found lost is reported once.
    /// Returns whether to wait for further cores.
    pub fn awaits_cores(&'static self, machine: &'static Machine) -> bool {
        if !self.can_lose_cores() {
            return false;
        }
        let clock = &machine.board.clock;
        // The time is read first, so that a core that stops after that is not awaited.
        let now = clock.ticks();
        let patience = clock.frequency().ticks(LOST_AFTER);
        let power = self.power.lock();
        let found = match self
            .lost_cores
            .poll(power.not_stopped().bits(), now, patience)
        {
            Poll::Done => return false,
            Poll::Wait => return true,
            Poll::Lost(found) => found,
        };
        // Under the lock: a core that stops meanwhile changes the state after this.
        self.set_state(State::Lost);
        drop(power);
        for vcpu in VcpuSet::from_bits(found).iter() {
            let cpu = Argument::Decimal(self.cpu(vcpu) as u64);
            let text = " lost CPU {}: vCPU {} sleeps and lets nothing wake it";
            machine.report(self.name(), text, &[cpu, Argument::Decimal(vcpu as u64)]);
        }
        false
    }

    /// Whether a core of the VM is lost and has not woken.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        self.lost_cores.is_any()
    }

    /// Records that a vCPU stopped; returns the vCPUs to kick.
    pub fn record_stop(&'static self, machine: &'static Machine, vcpu: usize) -> VcpuSet {
        let mut power = self.power.lock();
        let was_lost = registry::has_several_vcpus() && self.lost_cores.returned(vcpu);
        let kicks = power.mark_stopped(vcpu);
        drop(power);
        if was_lost {
            let cpu = Argument::Decimal(self.cpu(vcpu) as u64);
            machine.report(self.name(), " has CPU {} back: it woke", &[cpu]);
        }
        kicks
    }

    /// Abandons a VM of the manifest that is to be destroyed and has a lost core: its run ends when
    /// that core wakes. Returns false if no core is lost.
    pub fn abandon(&self) -> bool {
        let power = self.power.lock();
        let lost = power.not_stopped().bits() != 0 && self.lost_cores.is_any();
        if lost {
            self.lost_cores.abandoned.store(true, Ordering::Release);
            self.set_state(State::Lost);
        }
        lost
    }

    /// Whether the VM was [abandoned](Self::abandon).
    #[must_use]
    pub fn is_abandoned(&self) -> bool {
        options::has_vm_extensions() && self.lost_cores.abandoned.load(Ordering::Acquire)
    }
}
