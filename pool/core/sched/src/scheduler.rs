//! The interface of all schedulers.

use crate::{FixedPriorityScheduler, HasSchedEntity, Reason, ReservationScheduler, Schedulable};

/// The result of a scheduling decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision<S> {
    /// The entity to run; `None` if the core is idle.
    pub run: Option<S>,
    /// When the next decision is due without a wake-up or block: the compare value of the caller's
    /// timer.
    pub until: Option<u64>,
}

/// The scheduler of one core.
///
/// The caller reports each wake-up and block and asks for a decision afterwards, and at the time that
/// the last decision returned. `now` is a counter that does not decrease. Kernels call the inherent
/// methods of their scheduler, which split these operations into steps for their fast paths; the
/// trait states what every scheduler has in common, and tests run all of them by it.
///
/// ```
/// use core_sched::Scheduler;
///
/// /// The entity that runs when all others are blocked.
/// fn last<S: Scheduler>(scheduler: &S, others: &[S::Entity], now: u64) -> Option<S::Entity> {
///     others.iter().for_each(|&entity| scheduler.block(entity, now));
///     scheduler.decide(now).run
/// }
/// ```
pub trait Scheduler {
    /// A reference to a thread or vCPU.
    type Entity: Copy;

    /// Makes an entity ready at `now`; no effect on one that is ready.
    fn wake(&self, entity: Self::Entity, now: u64);

    /// Makes an entity not ready at `now`.
    fn block(&self, entity: Self::Entity, now: u64);

    /// The entity to run from `now` on.
    fn decide(&self, now: u64) -> Decision<Self::Entity>;
}

/// Needs an entity that is always ready, such as an idle thread.
impl<S: Schedulable> Scheduler for FixedPriorityScheduler<S> {
    type Entity = S;

    fn wake(&self, entity: S, _now: u64) {
        FixedPriorityScheduler::wake(self, entity);
    }

    fn block(&self, entity: S, _now: u64) {
        FixedPriorityScheduler::block(self, entity);
    }

    fn decide(&self, _now: u64) -> Decision<S> {
        let ready = self.current().is_some_and(|one| one.state().is_ready());
        self.next(match ready {
            true => Reason::Preemption,
            false => Reason::Blocking,
        });
        Decision {
            run: self.current(),
            until: None,
        }
    }
}

impl<S: HasSchedEntity> Scheduler for ReservationScheduler<S> {
    type Entity = S;

    fn wake(&self, entity: S, now: u64) {
        ReservationScheduler::wake(self, entity, now);
    }

    fn block(&self, entity: S, now: u64) {
        ReservationScheduler::block(self, entity, now);
    }

    fn decide(&self, now: u64) -> Decision<S> {
        ReservationScheduler::decide(self, now)
    }
}
