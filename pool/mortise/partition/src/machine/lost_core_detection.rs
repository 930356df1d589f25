//! Detection of lost cores.

use super::{
    lost_cores::{Look, PATIENCE},
    options, registry,
    topology::Machine,
    vm::Vm,
};
use core::sync::atomic::Ordering;
use core_manifest::WaitPolicy;
use core_statistics::State;
use mortise_console::Argument;
use mortise_psci::VcpuSet;

impl Vm {
    /// Whether it can make its cores deaf to the doorbell and sleep there.
    fn can_be_lost(&self) -> bool {
        registry::vcpus_are_several()
            && !self.is_shared()
            && self.description().wait == WaitPolicy::Pass
    }

    /// Looks for cores of it that were to come to rest and have not, which is said once of each that is
    /// lost; whether some are to be waited for still.
    pub fn awaits_cores(&'static self, machine: &'static Machine) -> bool {
        if !self.can_be_lost() {
            return false;
        }
        let clock = &machine.board.clock;
        // The time first: who came to rest since is not looked for.
        let now = clock.ticks();
        let patience = clock.frequency().ticks(PATIENCE);
        let power = self.power.lock();
        let found = match self
            .lost_cores
            .look(power.not_stopped().bits(), now, patience)
        {
            Look::Over => return false,
            Look::Wait => return true,
            Look::Lost(found) => found,
        };
        // With the lock held: who comes to rest meanwhile changes the state behind this.
        self.set_state(State::Lost);
        drop(power);
        for vcpu in VcpuSet::from_bits(found).iter() {
            let cpu = Argument::Decimal(self.cpu(vcpu) as u64);
            let text = " lost CPU {}: vCPU {} sleeps and lets nothing wake it";
            machine.report(self.name(), text, &[cpu, Argument::Decimal(vcpu as u64)]);
        }
        false
    }

    /// Whether a core of it is lost, until it wakes.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        self.lost_cores.is_any()
    }

    /// Notes that a vCPU comes to rest; whom that concerns.
    pub(crate) fn rests(&'static self, machine: &'static Machine, vcpu: usize) -> VcpuSet {
        let mut power = self.power.lock();
        let was_lost = registry::vcpus_are_several() && self.lost_cores.back(vcpu);
        let calls = power.mark_stopped(vcpu);
        drop(power);
        if was_lost {
            let cpu = Argument::Decimal(self.cpu(vcpu) as u64);
            machine.report(self.name(), " has CPU {} back: it woke", &[cpu]);
        }
        calls
    }

    /// Gives up one of the manifest's that is to be no more and has lost a core: what is left of it is
    /// its end, when that wakes. False if nobody is lost.
    pub fn abandon(&self) -> bool {
        let power = self.power.lock();
        let lost = power.not_stopped().bits() != 0 && self.lost_cores.is_any();
        if lost {
            self.lost_cores.abandoned.store(true, Ordering::Release);
            self.set_state(State::Lost);
        }
        lost
    }

    /// Whether it was [given up](Self::abandon).
    #[must_use]
    pub fn is_abandoned(&self) -> bool {
        options::orders_are_given() && self.lost_cores.abandoned.load(Ordering::Acquire)
    }
}
