//! Who runs on a core whose time is shared by policies, and until when.

use crate::cold_path;
use crate::entity::{HasSchedEntity, QueueMembership, Ready, RunKey};
use crate::server::AwaitingBudget;
use core::cell::Cell;
use core_list::SortedList;

mod background;

/// What [`ReservationScheduler::decide`] came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision<S> {
    /// Who runs; nobody, and the core is idle.
    pub run: Option<S>,
    /// When to ask again, though nobody woke or waited: the one time the caller's timer is for.
    pub until: Option<u64>,
}

/// What became of who ran when it was charged.
#[derive(Clone, Copy)]
pub enum Budget<S> {
    /// It may go on.
    Remaining,
    /// Its budget is used up.
    Depleted(S),
    /// Its deadline passed; whether its budget is used up too, [`ReservationScheduler::depleted`] says.
    DeadlineMissed,
}

/// The scheduler of a core that is shared by [`Policy`](crate::Policy).
///
/// The caller reports who [wakes](ReservationScheduler::wake) and [waits](ReservationScheduler::block), and asks who is to run
/// after that and whenever the time given with the last [decision](Decision) has come. Time is a
/// counter that does not go back; what ran between two questions is charged to who ran. Who asked a
/// little ahead of time, and asks behind that next, has what was charged ahead given back.
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
/// let shares = ReservationScheduler::new(5);
/// shares.wake(&linux, 0);
/// shares.wake(&control, 0);
/// let number = |vcpu: &Vcpu| vcpu.number;
/// assert_eq!(shares.decide(0).run.map(number), Some(1));
/// assert_eq!(shares.decide(0).until, Some(2));
/// assert_eq!(shares.decide(2).run.map(number), Some(2));
/// assert_eq!(shares.decide(3).until, Some(10), "the next budget of the more urgent one");
/// ```
pub struct ReservationScheduler<S> {
    /// All that could run, the running one included, in the order in which they would.
    ready: SortedList<Ready<S>>,
    /// Those without budget, the next to have one first. Who runs on in the background is among the
    /// ready ones meanwhile.
    awaiting_budget: SortedList<AwaitingBudget<S>>,
    /// Until when the current one has been charged.
    charged: Cell<u64>,
    /// The current one, if it is in the foreground and has a budget.
    budgeted: Cell<Option<S>>,
    /// Otherwise, whether the current one has its turn in the background.
    in_background: Cell<bool>,
    /// Whether somebody waits for the end of the turn.
    slice_contended: Cell<bool>,
    /// Whose turn it is in the background, and what is left of it.
    slice_owner: Cell<Option<S>>,
    slice_left: Cell<i64>,
    slice: i64,
}

impl<S> ReservationScheduler<S> {
    /// A core nobody uses. Those in the background have turns of `slice` ticks.
    pub const fn new(slice: u32) -> Self {
        Self {
            ready: SortedList::new(),
            awaiting_budget: SortedList::new(),
            charged: Cell::new(0),
            budgeted: Cell::new(None),
            in_background: Cell::new(false),
            slice_contended: Cell::new(false),
            slice_owner: Cell::new(None),
            slice_left: Cell::new(0),
            slice: slice as i64,
        }
    }
}

/// Whether somebody is this one.
#[inline(always)]
fn is<S: HasSchedEntity>(one: Option<S>, item: S) -> bool {
    one.is_some_and(|one| core::ptr::eq(one.entity(), item.entity()))
}

impl<S: HasSchedEntity> ReservationScheduler<S> {
    /// Somebody wants to run, on a core where time does not matter: all are
    /// [`Fixed`](crate::Policy::Fixed) there, one at most in the background. With
    /// [`block_fixed`](ReservationScheduler::block_fixed) and [`highest`](ReservationScheduler::highest) instead of the
    /// three below, which may take over whenever there is more to it.
    #[inline]
    pub fn wake_fixed(&self, item: S) {
        if !item.entity().is_ready() {
            self.enqueue(item);
        }
    }

    /// Somebody does not want to run any more, on such a core.
    #[inline]
    pub fn block_fixed(&self, item: S) {
        if item.entity().is_ready() {
            item.entity().set_membership(QueueMembership::NONE);
            self.ready.remove(Ready(item));
        }
    }

    /// Who runs on such a core.
    #[inline(always)]
    pub fn highest(&self) -> Option<S> {
        self.ready.first().map(|Ready(first)| first)
    }

    /// Somebody wants to run from `now` on; who wants to already does not want more.
    pub fn wake(&self, item: S, now: u64) {
        if item.entity().is_ready() {
            return;
        }
        if self.awaiting_budget.first().is_some() {
            self.charge(now);
        }
        self.wake_charged(item, now);
    }

    /// The same of who does not want to yet, from the time of the [charge](ReservationScheduler::charge) on.
    #[inline(always)]
    pub fn wake_charged(&self, item: S, now: u64) {
        if item.entity().is_awaiting_budget() {
            return;
        }
        // Whose budget came earlier is ready earlier.
        while let Some(item) = self.due_replenishment(now) {
            self.replenish(item, now);
        }
        let server = item.server();
        if !server.is_limited() {
            return self.enqueue(item);
        }
        server.wake(now);
        match server.is_depleted() {
            true => self.handle_depletion(item, now),
            false => self.enqueue(item),
        }
    }

    /// Somebody does not want to run any more from `now` on, or may not: an idle vCPU, one that is
    /// paused or taken away. Its share goes on.
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

    /// Who runs from `now` on, and until when nothing but [`wake`](ReservationScheduler::wake) and
    /// [`wait`](ReservationScheduler::block) can change that.
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

    /// The first part of [`decide`](ReservationScheduler::decide): charges who ran until `now`.
    #[inline(always)]
    pub fn charge(&self, now: u64) -> Budget<S> {
        let ran = now.wrapping_sub(self.charged.replace(now));
        if let Some(budgeted) = self.budgeted.get() {
            return Self::charge_budget(budgeted, ran, now);
        }
        cold_path();
        if !self.in_background.get() {
            return Budget::Remaining;
        }
        self.slice_left.set(self.slice_left.get() - ran as i64);
        // In the background it may be of a budget, too.
        match self
            .slice_owner
            .get()
            .filter(|&owner| Self::has_budget(owner))
        {
            Some(owner) => Self::charge_budget(owner, ran, now),
            None => Budget::Remaining,
        }
    }

    #[inline(always)]
    fn charge_budget(item: S, ran: u64, now: u64) -> Budget<S> {
        let server = item.server();
        if server.is_period_over(now) {
            cold_path();
            server.charge(ran, now);
            if server.is_period_over(now) {
                return Budget::DeadlineMissed;
            }
        } else {
            server.charge_in_period(ran);
        }
        match server.is_depleted() {
            true => Budget::Depleted(item),
            false => Budget::Remaining,
        }
    }

    /// Who ran, if its budget is used up, at the time of the charge.
    #[inline(always)]
    pub fn depleted(&self) -> Option<S> {
        let current = self.current()?;
        (Self::has_budget(current) && current.server().is_depleted()).then_some(current)
    }

    /// Who runs by a budget or has its turn.
    #[inline(always)]
    fn current(&self) -> Option<S> {
        let background = || self.slice_owner.get().filter(|_| self.in_background.get());
        self.budgeted.get().or_else(background)
    }

    /// Whether somebody runs by a budget, used up or not.
    #[inline(always)]
    fn has_budget(item: S) -> bool {
        item.server().is_limited() && !item.entity().is_awaiting_budget()
    }

    /// The second part: who has used up its budget does not run, so that whoever gets one need not be
    /// put before it. It is to be [exhausted](ReservationScheduler::handle_depletion) behind the third part, before anybody is
    /// chosen.
    #[inline(always)]
    pub fn dequeue_depleted(&self, item: S) {
        self.ready.remove(Ready(item));
    }

    /// The third part, for a caller that looks at its interrupts in between: the first whose budget's
    /// time has come at `now`, to be [given](ReservationScheduler::replenish). Each part is from the time of the
    /// [charge](ReservationScheduler::charge) on.
    #[inline(always)]
    pub fn due_replenishment(&self, now: u64) -> Option<S> {
        let AwaitingBudget(first) = self.awaiting_budget.first()?;
        first.server().is_period_over(now).then_some(first)
    }

    /// Gives that budget.
    #[inline(always)]
    pub fn replenish(&self, item: S, now: u64) {
        self.awaiting_budget.pop_first(AwaitingBudget(item));
        if item.entity().is_ready() {
            self.ready.remove(Ready(item));
            item.background_changed(false);
        }
        item.server().replenish(now);
        item.entity().restore_priority();
        self.enqueue(item);
    }

    /// The fourth part: has somebody without budget, who is not linked anywhere, wait until there is a
    /// new one.
    #[inline(always)]
    pub fn handle_depletion(&self, item: S, now: u64) {
        match item.server().is_period_over(now) {
            true => self.postpone_deadline(item, now),
            false => self.deplete(item),
        }
    }

    /// The same within the period.
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

    /// The last part: who runs, and until when; the end of time never comes.
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
                first.server().start_running(now)
            }
            false => {
                self.stop_charging();
                u64::MAX
            }
        };
        (Some(first), budget.min(self.next_replenishment(key)))
    }

    /// Nobody is charged from the time of the last charge on: nobody runs, or who was chosen is held
    /// back by the caller, and wants to run still.
    pub fn stop_charging(&self) {
        self.in_background.set(false);
        self.budgeted.set(None);
    }

    /// Puts who has a budget, and is not among the ready ones, there.
    #[inline(always)]
    fn enqueue(&self, item: S) {
        item.entity().set_membership(QueueMembership::READY);
        self.ready.insert(Ready(item), Ready::precedes);
    }

    /// A deadline that passed before the budget was used up does not hold others back: it moves
    /// by a period, and further if that is over too.
    #[cold]
    #[inline(never)]
    fn postpone_deadline(&self, item: S, now: u64) {
        item.server().postpone(now);
        self.enqueue(item);
    }

    /// When the first one has its budget that is as urgent at least: somebody less urgent may have it
    /// when it is looked at again.
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
