//! Uniqueness of VM names.

use crate::{
    Phase,
    executor::{Executor, StepResult, VmOperation},
};
use mortise_instance::State;

impl Executor<'_> {
    /// Rejects a VM from a file that has the name of another VM or of a template, as it could
    /// receive what is meant for that one. Returns early, before names are compared, if `stop`
    /// returns true.
    pub(crate) fn check(
        &self,
        operation: &VmOperation,
        other: usize,
        stop: fn() -> bool,
    ) -> StepResult {
        let own = usize::from(operation.handle.slot);
        let registry = self.registry.lock();
        let made = |slot| registry.record(slot)?.descriptor.as_ref();
        let Some(name) = made(own)
            .map(|made| &made.name)
            .filter(|_| !operation.has_payload())
        else {
            return StepResult::Complete;
        };
        if stop() {
            return StepResult::Continue(Phase::CheckName(other));
        }
        let Some(record) = registry.record(other) else {
            return match self.setup.template_named(name) {
                Some(_) => StepResult::Continue(Phase::Reject(0)),
                None => StepResult::Complete,
            };
        };
        let taken = other != own
            && record.state != State::Empty
            && match &record.descriptor {
                Some(made) => made.name == *name,
                None => {
                    let vm = self.machine.vm(other);
                    vm.is_some_and(|vm| vm.name().as_bytes() == name.as_bytes())
                }
            };
        match taken {
            true => StepResult::Continue(Phase::Reject(0)),
            false => StepResult::Continue(Phase::CheckName(other + 1)),
        }
    }
}
