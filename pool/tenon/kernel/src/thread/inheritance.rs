//! Priority inheritance along chains of mutex owners.

use super::Thread;
use super::above_idle;
use crate::kernel::Kernel;
use crate::wait::pi_used;
use core_sched::Priority;

impl Thread {
    /// Changes its base priority; the caller holds `PI_CHAIN_LOCK`.
    pub fn set_base_priority(&'static self, kernel: &Kernel, priority: Priority) {
        self.priority.set(above_idle(priority));
        self.propagate_priority(kernel);
    }

    /// Recomputes its effective priority, the most urgent of its base priority and what its mutexes
    /// donate, and propagates a change to the owner of the mutex for which it waits, and so on. The
    /// chain ends, also if threads wait in a circle, as soon as a priority does not change.
    pub fn propagate_priority(&'static self, kernel: &Kernel) {
        let mut thread = self;
        loop {
            let donated = thread
                .held
                .iter()
                .map(|mutex| mutex.donated_priority(kernel));
            let priority = donated.fold(thread.base_priority(), Priority::max);
            if priority == thread.effective_priority() {
                return;
            }
            thread.set_effective_priority(kernel, priority);
            kernel.record_inheritance(thread);
            let owner = thread.blocked_on.get();
            let Some(owner) = owner.and_then(|mutex| mutex.owner(kernel)) else {
                return;
            };
            thread = owner;
        }
    }

    /// Passes on the mutexes that it owns and others wait for, as it exits.
    pub(super) fn release_held_mutexes(&'static self, kernel: &Kernel) {
        while pi_used()
            && let Some(mutex) = self.held.first()
        {
            mutex.owner_exits(kernel, self);
        }
    }
}
