//! Who runs where: the most urgent free threads on as many cores as there are.
//!
//! A thread that becomes ready goes where it displaces the least: to an idle core, else to the one
//! that runs the least urgent, if that is less urgent than it. A core that changes what it runs lets
//! the others know, sends on who waits here and would run elsewhere, and asks for who waits
//! elsewhere and would run here. What is compared, and why no core idles beside a waiting thread,
//! is in `core_placement`.

use super::{Core, Migratable};
use crate::assertions;
use crate::kernel::Kernel;
use crate::options;
use crate::thread::Thread;
use core::sync::atomic::Ordering;
use core_placement::{CLOSED, Placement, Standing, Urgency};
use core_sched::Schedulable;

/// How a thread came to be placed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// It became ready on this core.
    Here,
    /// Another core chose this one for it.
    Sent,
}

impl Thread {
    fn urgency(&'static self) -> Urgency {
        self.state().priority().number().into()
    }

    fn is_free(&self) -> bool {
        !self.smp().pinned.get()
    }
}

impl Kernel {
    fn placement(&self) -> Placement<impl Fn(usize) -> Option<&'static Standing>> {
        let cores = self.cores();
        Placement::new(move |core| cores.get(core).map(|core: &Core| &core.standing))
    }

    /// Makes ready a thread that is at home on this core: here, or wherever it displaces the least.
    #[inline(always)]
    pub(crate) fn make_ready(&self, thread: &'static Thread) {
        assertions::becomes_ready(thread);
        if options::cores() == 1 {
            self.server_ready(thread);
            self.scheduler.wake(thread);
            self.update_slice_timer();
            self.update_budget_timer();
        } else {
            self.place(thread, Origin::Here);
        }
    }

    /// Finds the core for a thread that is at home here and about to be ready.
    pub(super) fn place(&self, thread: &'static Thread, origin: Origin) {
        let urgency = thread.urgency();
        let bar = self.scheduler.preemption_threshold().number().into();
        let wins = urgency > bar && !self.current().state().is_locked();
        if thread.is_free() {
            // Who was sent here and would run runs: it was sent because this was the place.
            let settled = wins && (origin == Origin::Sent || bar == 0);
            let limit = if wins { bar } else { urgency };
            if !settled && let Some(other) = self.placement().instead(self.index(), urgency, limit)
            {
                return self.send(thread, other);
            }
            self.insert_migratable(thread);
        }
        self.scheduler.wake(thread);
        self.update_slice_timer();
        if wins {
            self.placement().expect(self.index(), urgency);
        } else {
            self.balance();
        }
    }

    /// Lets the others know what runs and waits here, sends on who would run elsewhere, asks for who
    /// would run here. Bounded by the number of cores. Not while a switch is due, which ends in
    /// this.
    pub(crate) fn balance(&self) {
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
            let Some(other) = placement.elsewhere(self.index(), waits) else {
                break;
            };
            core.migratable.remove(Migratable(thread));
            self.scheduler.block(thread);
            self.send(thread, other);
        }
        let other = placement.to_ask(self.index(), runs);
        if let Some(other) = other.and_then(|other| self.cores().get(other))
            && !other.pull_requested.swap(true, Ordering::AcqRel)
        {
            self.call(other);
        }
    }

    /// Makes a thread that is ready but in no queue one of another core.
    fn send(&self, thread: &'static Thread, other: usize) {
        let Some(core) = self.core() else {
            return;
        };
        let leaves = core.outgoing.get();
        if leaves.is_some_and(|leaves| core::ptr::eq(leaves, thread)) {
            // Its context is still in the registers.
            core.destination.set(Some(other));
        } else {
            self.hand_over(thread, other);
        }
    }

    fn hand_over(&self, thread: &'static Thread, other: usize) {
        // Release: the other core sees what this one did with it.
        thread.smp().home.store(other, Ordering::Release);
        self.post(thread, super::request::ARRIVE);
    }

    /// Before a switch: `previous` runs until here, `next` from here on.
    pub(crate) fn leave(&self, previous: &'static Thread, next: &'static Thread) {
        // A thread that has just begun may be interrupted before it completes the switch to it.
        self.finish_switch();
        if let Some(core) = self.core() {
            core.outgoing.set(Some(previous));
            core.migratable.remove(Migratable(next));
            if previous.is_free() && previous.state().is_ready() {
                self.insert_migratable(previous);
            }
        }
        self.balance();
    }

    /// After a switch, in whose context ever: the one before has its context saved, and may go.
    pub(crate) fn finish_switch(&self) {
        let Some(core) = self.core() else {
            return;
        };
        let Some(thread) = core.outgoing.take() else {
            return;
        };
        match core.destination.take() {
            // Once it is handed over it is the other core's, where it may end at any moment.
            Some(other) => self.hand_over(thread, other),
            None => thread.left(),
        }
    }

    /// What a thread does first when it begins: it completes the switch to it.
    #[inline(always)]
    pub(crate) fn begin() {
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

    /// Schedules a thread that is at home here by another priority.
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
