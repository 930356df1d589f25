//! Names of VMs, which tell them apart.

use crate::{
    Phase,
    carry::{Job, Site, Step},
};
use mortise_instance::State;

impl Site<'_> {
    /// Refuses one of a file that has the name of somebody who is there, or of a template: it might take
    /// over what is meant for that one. Not yet if `stop` says so before names are compared.
    pub(crate) fn check(&self, job: &Job, other: usize, stop: fn() -> bool) -> Step {
        let own = usize::from(job.handle.slot);
        let registry = self.registry.lock();
        let made = |slot| registry.record(slot)?.descriptor.as_ref();
        let Some(name) = made(own)
            .map(|made| &made.name)
            .filter(|_| !job.has_payload())
        else {
            return Step::Over;
        };
        if stop() {
            return Step::More(Phase::Check(other));
        }
        let Some(record) = registry.record(other) else {
            return match self.setup.template_named(name) {
                Some(_) => Step::More(Phase::Refused(0)),
                None => Step::Over,
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
            true => Step::More(Phase::Refused(0)),
            false => Step::More(Phase::Check(other + 1)),
        }
    }
}
