//! The reservation scheduler: budgets, deadlines and background time slices on a shared core.

use crate::entity::{HasSchedEntity, QueueMembership, Ready, RunKey};
use crate::server::AwaitingBudget;
use crate::{Decision, cold_path};
use core::cell::Cell;
use core_list::SortedList;

mod background;

/// The state of the running entity's budget after a charge.
#[derive(Clone, Copy)]
pub enum ChargeOutcome<S> {
    /// Budget remains, or there is none.
    Remaining,
    /// The budget is depleted.
    Depleted(S),
    /// The deadline passed. [`ReservationScheduler::depleted`] tells whether the budget is depleted
    /// too.
    DeadlineMissed,
}

/// The scheduler of a shared core, by [`Policy`](crate::Policy).
///
/// The caller reports each [wake-up](ReservationScheduler::wake) and
/// [block](ReservationScheduler::block), and asks for a decision afterwards and whenever the time
/// of the last [decision](Decision) has come. Time is a counter that does not decrease. Execution
/// between two decisions is charged to the running entity. A charge slightly ahead of time is
/// corrected by the next one.
///
/// ```
/// use core_sched::{SchedEntity, HasSchedEntity, HasServer, OnDepletion, Policy, Priority, Reservation, Server, ReservationScheduler};
///
/// struct Vcpu<'a> {
///     number: u8,
///     entity: SchedEntity<&'a Vcpu<'a>>,
/// }
///
/// impl<'a> HasServer for &'a Vcpu<'a> {
///     fn server(&self) -> &Server<Self> {
///         &self.entity.server
///     }
/// }
///
/// impl<'a> HasSchedEntity for &'a Vcpu<'a> {
///     fn entity(&self) -> &SchedEntity<Self> {
///         &self.entity
///     }
/// }
///
/// let vcpu = |number, priority, policy| {
///     let vcpu = Vcpu { number, entity: SchedEntity::new() };
///     vcpu.entity.begin(Priority::new(priority), policy, 0);
///     vcpu
/// };
/// let two_of_ten = Reservation::new(2, 10, OnDepletion::Wait).unwrap();
/// let (control, linux) = (vcpu(1, 40, Policy::Reserved(two_of_ten)), vcpu(2, 0, Policy::Fixed));
/// let scheduler = ReservationScheduler::new();
/// scheduler.set_slice(5);
/// scheduler.wake(&linux, 0);
/// scheduler.wake(&control, 0);
/// let number = |vcpu: &Vcpu| vcpu.number;
/// assert_eq!(scheduler.decide(0).run.map(number), Some(1));
/// assert_eq!(scheduler.decide(0).until, Some(2));
/// assert_eq!(scheduler.decide(2).run.map(number), Some(2));
/// assert_eq!(scheduler.decide(3).until, Some(10), "the next budget of the more urgent one");
/// ```
pub struct ReservationScheduler<S> {
    /// All ready entities, including the running one, in run order.
    ready: SortedList<Ready<S>>,
    /// The entities with a depleted budget, in the order of replenishment. Those that continue in
    /// the background are in the ready list too.
    awaiting_budget: SortedList<AwaitingBudget<S>>,
    /// The time up to which the running entity has been charged.
    charged: Cell<u64>,
    /// The running entity, if it is in the foreground and has a budget.
    budgeted: Cell<Option<S>>,
    /// Otherwise, whether the running entity uses its time slice in the background.
    in_background: Cell<bool>,
    /// Whether another entity is ready in the background.
    slice_contended: Cell<bool>,
    /// The owner of the background time slice, and the rest of that slice.
    slice_owner: Cell<Option<S>>,
    slice_left: Cell<i64>,
    slice: Cell<i64>,
}

impl<S> ReservationScheduler<S> {
    /// A core without entities. [`set_slice`](ReservationScheduler::set_slice) must precede the first decision.
    pub const fn new() -> Self {
        Self {
            ready: SortedList::new(),
            awaiting_budget: SortedList::new(),
            charged: Cell::new(0),
            budgeted: Cell::new(None),
            in_background: Cell::new(false),
            slice_contended: Cell::new(false),
            slice_owner: Cell::new(None),
            slice_left: Cell::new(0),
            slice: Cell::new(0),
        }
    }

    /// Sets the length of a background time slice in ticks.
    pub fn set_slice(&self, slice: u64) {
        self.slice.set(slice as i64);
    }
}

/// Whether `one` is this entity.
#[inline(always)]
fn is<S: HasSchedEntity>(one: Option<S>, item: S) -> bool {
    one.is_some_and(|one| core::ptr::eq(one.entity(), item.entity()))
}

impl<S> Default for ReservationScheduler<S> {
    fn default() -> Self {
        Self::new()
    }
}

impl<S: HasSchedEntity> ReservationScheduler<S> {
    /// Makes an entity ready on a core in fixed-priority mode: all entities are
    /// [`Fixed`](crate::Policy::Fixed), and at most one is in the background. In that mode
    /// `wake_fixed`, [`block_fixed`](ReservationScheduler::block_fixed) and
    /// [`highest`](ReservationScheduler::highest) replace the three operations below, which can
    /// take over at any time when the mode changes.
    #[inline]
    pub fn wake_fixed(&self, item: S) {
        if !item.entity().is_ready() {
            self.enqueue(item);
        }
    }

    /// Blocks an entity on a core in fixed-priority mode.
    #[inline]
    pub fn block_fixed(&self, item: S) {
        if item.entity().is_ready() {
            item.entity().set_membership(QueueMembership::NONE);
            self.ready.remove(Ready(item));
        }
    }

    /// The entity to run on a core in fixed-priority mode.
    #[inline(always)]
    pub fn highest(&self) -> Option<S> {
        self.ready.first().map(|Ready(first)| first)
    }

    /// Makes an entity ready at `now`; no effect on one that is ready.
    pub fn wake(&self, item: S, now: u64) {
        if item.entity().is_ready() {
            return;
        }
        if self.awaiting_budget.first().is_some() {
            self.charge(now);
        }
        self.wake_charged(item, now);
    }

    /// Makes an entity ready that is not, after a [charge](ReservationScheduler::charge) up to
    /// `now`.
    #[inline(always)]
    pub fn wake_charged(&self, item: S, now: u64) {
        if item.entity().is_awaiting_budget() {
            return;
        }
        // An entity that was replenished earlier is ready earlier.
        while let Some(item) = self.due_replenishment(now) {
            self.replenish(item, now);
        }
        let server = item.server();
        if !server.is_limited() {
            return self.enqueue(item);
        }
        server.wake(item, now);
        match server.is_depleted() {
            true => self.handle_depletion(item, now),
            false => self.enqueue(item),
        }
    }

    /// Blocks an entity at `now`: an idle vCPU, or one that is paused or removed. Its periods
    /// continue.
    #[inline(always)]
    pub fn block(&self, item: S, now: u64) {
        self.charge(now);
        if item.entity().is_awaiting_budget() {
            self.awaiting_budget.remove(AwaitingBudget(item));
        }
        if item.entity().is_ready() {
            self.ready.remove(Ready(item));
        }
        item.entity().set_membership(QueueMembership::NONE);
        if item.entity().restore_priority() {
            item.background_changed(false);
        }
        if is(self.current(), item) {
            self.stop_charging();
        }
    }

    /// The entity to run from `now` on, and the time until which only
    /// [`wake`](ReservationScheduler::wake) and [`block`](ReservationScheduler::block) can change
    /// that. A caller that tests for interrupts between the steps does them itself.
    pub fn decide(&self, now: u64) -> Decision<S> {
        self.charge(now);
        let depleted = self.depleted();
        if let Some(item) = depleted {
            self.dequeue_depleted(item);
        }
        while let Some(item) = self.due_replenishment(now) {
            self.replenish(item, now);
        }
        if let Some(item) = depleted {
            self.handle_depletion(item, now);
        }
        let (run, until) = self.pick_next(now);
        let until = Some(until).filter(|&until| until != u64::MAX);
        Decision { run, until }
    }

    /// Step 1 of [`decide`](ReservationScheduler::decide): charges the running entity up to `now`.
    #[inline(always)]
    pub fn charge(&self, now: u64) -> ChargeOutcome<S> {
        let ran = now.wrapping_sub(self.charged.replace(now));
        if let Some(budgeted) = self.budgeted.get() {
            return Self::charge_budget(budgeted, ran, now);
        }
        cold_path();
        if !self.in_background.get() {
            return ChargeOutcome::Remaining;
        }
        self.slice_left.set(self.slice_left.get() - ran as i64);
        // In the background too an entity can have a budget.
        match self
            .slice_owner
            .get()
            .filter(|&owner| Self::has_budget(owner))
        {
            Some(owner) => Self::charge_budget(owner, ran, now),
            None => ChargeOutcome::Remaining,
        }
    }

    #[inline(always)]
    fn charge_budget(item: S, ran: u64, now: u64) -> ChargeOutcome<S> {
        let server = item.server();
        if server.is_period_over(now) {
            cold_path();
            server.charge(item, ran, now);
            if server.is_period_over(now) {
                return ChargeOutcome::DeadlineMissed;
            }
        } else {
            server.charge_in_period(ran);
        }
        match server.is_depleted() {
            true => ChargeOutcome::Depleted(item),
            false => ChargeOutcome::Remaining,
        }
    }

    /// The running entity, if its budget was depleted by the last charge.
    #[inline(always)]
    pub fn depleted(&self) -> Option<S> {
        let current = self.current()?;
        (Self::has_budget(current) && current.server().is_depleted()).then_some(current)
    }

    /// The running entity that is charged to a budget or a time slice.
    #[inline(always)]
    fn current(&self) -> Option<S> {
        let background = || self.slice_owner.get().filter(|_| self.in_background.get());
        self.budgeted.get().or_else(background)
    }

    /// Whether the entity runs on a budget, depleted or not.
    #[inline(always)]
    fn has_budget(item: S) -> bool {
        item.server().is_limited() && !item.entity().is_awaiting_budget()
    }

    /// Step 2: removes an entity with a depleted budget from the ready list, so that no replenished
    /// entity is inserted before it. [`handle_depletion`](ReservationScheduler::handle_depletion)
    /// must follow before step 5, and before a replenishment of this entity in step 3.
    #[inline(always)]
    pub fn dequeue_depleted(&self, item: S) {
        self.ready.remove(Ready(item));
    }

    /// Step 3: the first entity with a replenishment due at `now`. A caller can test for pending
    /// interrupts between two of them. All steps use the time of the
    /// [charge](ReservationScheduler::charge).
    #[inline(always)]
    pub fn due_replenishment(&self, now: u64) -> Option<S> {
        let AwaitingBudget(first) = self.awaiting_budget.first()?;
        first.server().is_period_over(now).then_some(first)
    }

    /// Replenishes the budget of the entity that
    /// [`due_replenishment`](ReservationScheduler::due_replenishment) returned.
    #[inline(always)]
    pub fn replenish(&self, item: S, now: u64) {
        self.awaiting_budget.pop_first(AwaitingBudget(item));
        if item.entity().is_ready() {
            self.ready.remove(Ready(item));
            item.background_changed(false);
        }
        item.server().replenish(item, now);
        item.entity().restore_priority();
        self.enqueue(item);
    }

    /// Step 4: inserts an entity with a depleted budget, which is in no list, into the list of
    /// depleted budgets. If its period is over, its deadline is postponed instead.
    #[inline(always)]
    pub fn handle_depletion(&self, item: S, now: u64) {
        match item.server().is_period_over(now) {
            true => self.postpone_deadline(item, now),
            false => self.deplete(item),
        }
    }

    /// Step 4 within the period.
    #[inline(always)]
    pub fn deplete(&self, item: S) {
        self.awaiting_budget
            .insert(AwaitingBudget(item), |one, other| {
                one.0.server().period_end() < other.0.server().period_end()
            });
        if !item.server().has_background() {
            return item.entity().set_membership(QueueMembership::DEPLETED);
        }
        item.entity().demote();
        item.background_changed(true);
        item.entity().set_membership(QueueMembership::BOTH);
        self.ready.push(Ready(item));
    }

    /// Step 5: the entity to run and the time of the next decision, `u64::MAX` if none is due.
    #[inline(always)]
    pub fn pick_next(&self, now: u64) -> (Option<S>, u64) {
        let Some(first) = self.highest() else {
            self.stop_charging();
            return (None, self.next_replenishment(RunKey::BACKGROUND));
        };
        let key = first.entity().key();
        if key == RunKey::BACKGROUND {
            return self.pick_background(first, now);
        }
        let budget = match first.server().is_limited() {
            true => {
                self.budgeted.set(Some(first));
                first.server().start_running(first, now)
            }
            false => {
                self.stop_charging();
                u64::MAX
            }
        };
        (Some(first), budget.min(self.next_replenishment(key)))
    }

    /// Charges no entity from the last charge on: the core is idle, or the caller holds back the
    /// selected entity, which stays ready.
    pub fn stop_charging(&self) {
        self.in_background.set(false);
        self.budgeted.set(None);
    }

    /// Inserts an entity with a budget, or without need for one, into the ready list.
    #[inline(always)]
    fn enqueue(&self, item: S) {
        item.entity().set_membership(QueueMembership::READY);
        self.ready.insert(Ready(item), Ready::precedes);
    }

    /// A deadline that passed before the budget was depleted does not hold back others: it is
    /// postponed by a period, or to a period from now.
    #[cold]
    #[inline(never)]
    fn postpone_deadline(&self, item: S, now: u64) {
        item.server().postpone(item, now);
        self.enqueue(item);
    }

    /// The next replenishment of an entity of at least this priority. It can be too early: the
    /// entity's priority may be lower by the time of the decision.
    #[inline(always)]
    fn next_replenishment(&self, key: RunKey) -> u64 {
        let mut next = self.awaiting_budget.first();
        while let Some(AwaitingBudget(item)) = next {
            if item.entity().base_key().is_as_urgent_as(key) {
                return item.server().period_end();
            }
            cold_path();
            next = self.awaiting_budget.after(AwaitingBudget(item));
        }
        u64::MAX
    }
}
