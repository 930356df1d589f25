//! Placement of threads on cores: the most urgent unpinned threads run on the available cores.
//!
//! A thread that becomes ready goes to the core where it displaces the least: to an idle core, else
//! to the core that runs the least urgent thread, if that is less urgent than it. When a core
//! changes what it runs, it publishes its state, migrates ready threads that would run elsewhere,
//! and requests threads that are ready elsewhere and would run here. The comparisons, and the proof
//! that no core idles beside a waiting thread, are in `core_placement`.

use super::core::{Core, request};
use crate::kernel::Kernel;
use crate::kernel::assertions;
use crate::thread::{Migratable, Thread};
use ::core::sync::atomic::Ordering;
use core_placement::{CLOSED, CoreStatus, Placement};
use core_sched::Schedulable;
use tenon_machine::options;

/// How a thread came to be placed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// It became ready on this core.
    Local,
    /// Another core migrated it here.
    Migrated,
}

impl Kernel {
    fn placement(&self) -> Placement<impl Fn(usize) -> Option<&'static CoreStatus>> {
        let cores = self.cores();
        Placement::new(move |core| cores.get(core).map(|core: &Core| &core.status))
    }

    /// Makes a thread of this home core ready: here, or on the core where it displaces the least.
    #[inline(always)]
    pub(crate) fn make_ready(&self, thread: &'static Thread) {
        assertions::check_ready(thread);
        if options::cores() == 1 {
            self.server_ready(thread);
            self.scheduler.wake(thread);
            self.update_slice_timer();
            self.update_budget_timer();
        } else {
            self.place(thread, Origin::Local);
        }
    }

    /// Places a thread of this home core that becomes ready.
    pub(super) fn place(&self, thread: &'static Thread, origin: Origin) {
        let urgency = thread.urgency();
        let threshold = self.scheduler.preemption_threshold().number().into();
        let wins = urgency > threshold && !self.current().state().is_locked();
        if thread.is_migratable() {
            // A thread that was migrated here and would run stays: this was the core chosen for it.
            let settled = wins && (origin == Origin::Migrated || threshold == 0);
            let limit = if wins { threshold } else { urgency };
            if !settled
                && let Some(other) = self.placement().core_below(self.index(), urgency, limit)
            {
                return self.migrate(thread, other);
            }
            self.insert_migratable(thread);
        }
        self.scheduler.wake(thread);
        self.update_slice_timer();
        if wins {
            self.placement().announce(self.index(), urgency);
        } else {
            self.balance();
        }
    }

    /// Publishes what runs and waits here, migrates ready threads that would run on another core,
    /// and requests a thread that would run here. Bounded by the number of cores. While a switch is
    /// pending this does nothing, as the switch calls it again.
    pub fn balance(&self) {
        let Some(core) = self.core() else {
            return;
        };
        let current = self.current();
        let locked = current.state().is_locked();
        if self.scheduler.needs_reschedule() && !locked {
            return;
        }
        let (placement, runs) = (
            self.placement(),
            if locked { CLOSED } else { current.urgency() },
        );
        for _ in self.cores() {
            let waiting = core.migratable.highest();
            let waits = waiting.map_or(0, |Migratable(thread)| thread.urgency());
            placement.publish(self.index(), runs, waits);
            let Some(Migratable(thread)) = waiting else {
                break;
            };
            let Some(other) = placement.core_for(self.index(), waits) else {
                break;
            };
            core.migratable.remove(Migratable(thread));
            self.scheduler.block(thread);
            self.migrate(thread, other);
        }
        let other = placement.core_to_pull_from(self.index(), runs);
        if let Some(other) = other.and_then(|other| self.cores().get(other))
            && !other.pull_requested.swap(true, Ordering::AcqRel)
        {
            self.kick(other);
        }
    }

    /// Migrates a thread that is ready but in no queue to another core.
    fn migrate(&self, thread: &'static Thread, other: usize) {
        let Some(core) = self.core() else {
            return;
        };
        let outgoing = core.outgoing.get();
        if outgoing.is_some_and(|outgoing| ::core::ptr::eq(outgoing, thread)) {
            // Its context is not saved yet: `finish_switch` migrates it.
            core.destination.set(Some(other));
        } else {
            self.transfer(thread, other);
        }
    }

    /// Changes the home core of a thread and posts it there.
    fn transfer(&self, thread: &'static Thread, other: usize) {
        thread.smp().set_home(other);
        self.post(thread, request::ARRIVE);
    }

    /// Prepares a switch from `previous` to `next`.
    pub(crate) fn prepare_switch(&self, previous: &'static Thread, next: &'static Thread) {
        // A new thread can be interrupted before it has called `finish_switch` itself.
        self.finish_switch();
        if let Some(core) = self.core() {
            core.outgoing.set(Some(previous));
            core.migratable.remove(Migratable(next));
            if previous.is_migratable() && previous.state().is_ready() {
                self.insert_migratable(previous);
            }
        }
        self.balance();
    }

    /// Completes a switch, in the context of the next thread: the context of the previous one is
    /// saved, so it can migrate or release its storage.
    pub(crate) fn finish_switch(&self) {
        let Some(core) = self.core() else {
            return;
        };
        let Some(thread) = core.outgoing.take() else {
            return;
        };
        match core.destination.take() {
            // After the transfer the thread belongs to the other core, where it may end at any
            // moment.
            Some(other) => self.transfer(thread, other),
            None => thread.switched_out(),
        }
    }

    /// Completes the first switch to a new thread, which calls this before its body.
    #[inline(always)]
    pub fn finish_first_switch() {
        if options::cores() > 1 {
            Self::with_irqs_masked(Self::finish_switch);
        }
    }

    fn insert_migratable(&self, thread: &'static Thread) {
        if let Some(core) = self.core() {
            let migratable = Migratable(thread);
            migratable.state().set_priority(thread.state().priority());
            core.migratable.insert_first(migratable);
        }
    }

    /// Changes the priority by which a thread of this home core is scheduled.
    pub(crate) fn set_priority(&self, thread: &'static Thread, priority: core_sched::Priority) {
        self.server_ready(thread);
        self.scheduler.set_priority(thread, priority);
        self.update_slice_timer();
        if options::cores() > 1
            && let Some(core) = self.core()
        {
            let migratable = Migratable(thread);
            if migratable.state().is_ready() {
                core.migratable.remove(migratable);
                self.insert_migratable(thread);
            }
            self.balance();
        }
    }
}
