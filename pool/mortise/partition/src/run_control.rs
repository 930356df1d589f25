//! What others have a virtual machine do: begin, begin again, end.

use crate::{
    machine::Machine,
    vm::{ENDING, Vm},
};
use core::sync::atomic::Ordering;
use core_statistics::{State, Summary};
use mortise_hypercall::Start;
use mortise_psci::RunEnd;

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

    /// Calls the cores of all its vCPUs: there is something for them to do.
    pub fn kick_all(&'static self, machine: &'static Machine) {
        machine.kick_vcpus(self, self.all_vcpus());
    }

    /// Takes its memory from it, on any core, until it is given back: for good once its run is over.
    #[inline]
    pub fn withdraw(&self) {
        self.stage2.withdraw_from_outside();
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
}
