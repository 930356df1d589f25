//! Who runs on a core whose time is shared by policies, and until when.

use crate::policy::Spent;
use crate::{Entity, Priority, RunQueue, Schedulable};
use core::cell::Cell;
use core_list::{Linked, List};

/// What [`Shares::decide`] came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision<S> {
    /// Who runs; nobody, and the core is idle.
    pub run: Option<S>,
    /// When to ask again, though nobody woke or waited: the one time the caller's timer is for.
    pub until: Option<u64>,
}

/// The scheduler of a core that is shared by [`Policy`](crate::Policy).
///
/// The caller reports who [wakes](Shares::wake) and [waits](Shares::wait), and asks who is to run
/// after that and whenever the time given with the last [decision](Decision) has come. Time is a
/// counter that never goes back; what ran between two questions is charged to who ran.
///
/// ```
/// use core_list::{Link, Linked};
/// use core_sched::{Entity, Exhausted, Policy, Priority, Reservation, Schedulable, Server, Shares, State};
///
/// struct Vcpu<'a> {
///     link: Link<&'a Vcpu<'a>>,
///     state: State,
///     server: Server<&'a Vcpu<'a>>,
/// }
///
/// impl<'a> Linked for &'a Vcpu<'a> {
///     fn link(&self) -> &Link<Self> {
///         &self.link
///     }
/// }
///
/// impl<'a> Schedulable for &'a Vcpu<'a> {
///     fn state(&self) -> &State {
///         &self.state
///     }
/// }
///
/// impl<'a> Entity for &'a Vcpu<'a> {
///     fn server(&self) -> &Server<Self> {
///         &self.server
///     }
/// }
///
/// let vcpu = |priority, policy| {
///     let vcpu = Vcpu {
///         link: Link::new(),
///         state: State::new(Priority::LOWEST),
///         server: Server::new(),
///     };
///     vcpu.server.begin(&vcpu.state, Priority::new(priority), policy, 0);
///     vcpu
/// };
/// let two_of_ten = Reservation::new(2, 10, Exhausted::Wait).unwrap();
/// let (control, linux) = (vcpu(40, Policy::Reserved(two_of_ten)), vcpu(0, Policy::Fixed));
/// let shares = Shares::new(5);
/// shares.wake(&linux, 0);
/// shares.wake(&control, 0);
/// assert!(shares.decide(0).run.is_some_and(|vcpu| vcpu.is(&&control)));
/// assert_eq!(shares.decide(0).until, Some(2));
/// assert!(shares.decide(2).run.is_some_and(|vcpu| vcpu.is(&&linux)));
/// assert_eq!(shares.decide(3).until, Some(10), "the next budget of the more urgent one");
/// ```
pub struct Shares<S> {
    /// All that could run, the running one included.
    queue: RunQueue<S>,
    /// Those without budget, the next to have one first. Who runs on in the background is in the
    /// queue's lowest level meanwhile.
    spent: List<Spent<S>>,
    current: Cell<Option<S>>,
    /// Until when the current one has been charged.
    charged: Cell<u64>,
    /// The same one, if that is of its budget.
    metered: Cell<Option<S>>,
    /// Whose turn it is in the background, and what is left of it.
    turn: Cell<Option<S>>,
    turn_left: Cell<i64>,
    /// Whether somebody waits for the end of the turn.
    turn_ends: Cell<bool>,
    slice: i64,
}

impl<S> Shares<S> {
    /// A core nobody uses. Those in the background have turns of `slice` ticks.
    pub const fn new(slice: u32) -> Self {
        Self {
            queue: RunQueue::new(),
            spent: List::new(),
            current: Cell::new(None),
            charged: Cell::new(0),
            metered: Cell::new(None),
            turn: Cell::new(None),
            turn_left: Cell::new(0),
            turn_ends: Cell::new(false),
            slice: slice as i64,
        }
    }
}

impl<S: Entity + Schedulable> Shares<S> {
    /// Who runs, as decided last.
    pub fn current(&self) -> Option<S> {
        self.current.get()
    }

    /// Somebody wants to run, on a core where time does not matter: all are
    /// [`Fixed`](crate::Policy::Fixed) there, one at most in the background. With
    /// [`give_up`](Shares::give_up) and [`most_urgent`](Shares::most_urgent) instead of the
    /// three below, which may take over whenever there is more to it.
    #[inline]
    pub fn want(&self, item: S) {
        self.queue.insert(item);
    }

    /// Somebody does not want to run any more, on such a core.
    #[inline]
    pub fn give_up(&self, item: S) {
        self.queue.remove(item);
    }

    /// Who runs on such a core.
    #[inline]
    pub fn most_urgent(&self) -> Option<S> {
        self.queue.highest()
    }

    /// Somebody wants to run from `now` on; who wants to already does not want more.
    pub fn wake(&self, item: S, now: u64) {
        if item.state().is_ready() {
            return;
        }
        if !self.spent.is_empty() {
            self.charge(now);
        }
        self.wake_charged(item, now);
    }

    /// The same of who does not want to yet, from the time of the [charge](Shares::charge) on.
    #[inline(always)]
    pub fn wake_charged(&self, item: S, now: u64) {
        if Spent(item).is_linked() {
            return;
        }
        // Whose budget came earlier is ready earlier.
        while let Some(item) = self.due(now) {
            self.give(item, now);
        }
        if !item.server().is_limited() {
            return self.queue.put_in(item, List::push);
        }
        item.server().wake(now);
        match item.server().is_exhausted() {
            true => self.exhaust(item, now),
            false => self.enqueue(item),
        }
    }

    /// Somebody does not want to run any more from `now` on, or may not: an idle vCPU, one that is
    /// paused or taken away. Its share goes on.
    #[inline(always)]
    pub fn wait(&self, item: S, now: u64) {
        self.charge(now);
        self.take_out(item);
        if item.server().is_limited() && Spent(item).is_linked() {
            self.spent.remove(Spent(item));
            item.state().set_priority(item.server().priority());
        }
        if self.current.get().is_some_and(|current| current.is(&item)) {
            self.hold_back();
        }
    }

    /// Who runs from `now` on, and until when nothing but [`wake`](Shares::wake) and
    /// [`wait`](Shares::wait) can change that.
    pub fn decide(&self, now: u64) -> Decision<S> {
        self.charge(now);
        while let Some(item) = self.due(now) {
            self.give(item, now);
        }
        if let Some(item) = self.used_up() {
            self.end(item, now);
        }
        let (run, until) = self.choose(now);
        let until = Some(until).filter(|&until| until != u64::MAX);
        Decision { run, until }
    }

    /// The second part of [`decide`](Shares::decide), for a caller that looks at its interrupts in
    /// between: the first whose budget's time has come at `now`, to be [given](Shares::give). Each part
    /// is from the time of the [charge](Shares::charge) on.
    #[inline(always)]
    pub fn due(&self, now: u64) -> Option<S> {
        let Spent(first) = self.spent.first()?;
        first.server().is_over(now).then_some(first)
    }

    /// Gives that budget.
    #[inline(always)]
    pub fn give(&self, item: S, now: u64) {
        self.spent.pop_first(Spent(item));
        self.take_out(item);
        item.server().replenish(now);
        item.state().set_priority(item.server().priority());
        self.enqueue(item);
    }

    /// The third part: who ran, if its budget is used up, to be [ended](Shares::end).
    #[inline(always)]
    pub fn used_up(&self) -> Option<S> {
        let metered = self.metered.get()?;
        metered.server().is_used_up().then_some(metered)
    }

    /// Ends that budget.
    #[inline(always)]
    pub fn end(&self, item: S, now: u64) {
        self.metered.set(None);
        self.queue.take_out(item);
        self.exhaust(item, now);
    }

    /// The last part: who runs, and until when; the end of time never comes.
    #[inline(always)]
    pub fn choose(&self, now: u64) -> (Option<S>, u64) {
        let run = self.queue.highest().map(|first| self.take_turn(first));
        let until = self.limit(run, now);
        self.current.set(run);
        (run, until)
    }

    /// Nobody runs after all, from the time of the last decision on: who was chosen is held back by
    /// its caller, and wants to run still.
    pub fn hold_back(&self) {
        self.current.set(None);
        self.metered.set(None);
    }

    /// Takes out who wants to run, if it does: without a call.
    #[inline(always)]
    fn take_out(&self, item: S) {
        if item.state().is_ready() {
            self.queue.take_out(item);
        }
    }

    /// The first part of [`decide`](Shares::decide): charges who ran until `now`.
    #[inline(always)]
    pub fn charge(&self, now: u64) {
        let ran = now.saturating_sub(self.charged.replace(now));
        if let Some(current) = self.current.get()
            && current.state().priority() == Priority::LOWEST
        {
            self.turn_left.set(self.turn_left.get() - ran as i64);
        }
        if let Some(metered) = self.metered.get() {
            metered.server().charge(ran, now);
        }
    }

    /// Puts who has a budget, and is not ready yet, among its peers.
    #[inline(always)]
    fn enqueue(&self, item: S) {
        if !item.server().has_deadline() {
            return self.queue.put_in(item, List::push);
        }
        let deadline = item.server().end();
        self.queue.put_in(item, |level, item| {
            level.insert(item, |_, other| {
                !other.server().has_deadline() || deadline < other.server().end()
            });
        });
    }

    /// Has somebody without budget, who is not ready, wait until there is a new one.
    #[inline(always)]
    fn exhaust(&self, item: S, now: u64) {
        if item.server().is_over(now) {
            return self.go_on_late(item, now);
        }
        self.spent.insert(Spent(item), |one, other| {
            one.0.server().end() < other.0.server().end()
        });
        if item.server().has_background() {
            item.state().set_priority(Priority::LOWEST);
            self.queue.put_in(item, List::push);
        }
    }

    /// A deadline that passed before the budget was used up does not hold others back: it moves
    /// by a period, and further if that is over too.
    #[cold]
    #[inline(never)]
    fn go_on_late(&self, item: S, now: u64) {
        item.server().make_good(now);
        self.enqueue(item);
    }

    /// Who runs instead of the most urgent one: in the background the next one, if its turn is over.
    #[inline(always)]
    fn take_turn(&self, first: S) -> S {
        if first.state().priority() != Priority::LOWEST {
            return first;
        }
        let mut next = first;
        let mut late = 0;
        if self.turn.get().is_some_and(|turn| turn.is(&first)) {
            if self.turn_left.get() > 0 || !first.has_neighbours() {
                return first;
            }
            next = self.queue.rotate(Priority::LOWEST).unwrap_or(first);
            // What a turn took beyond its end is of the next one, if there was an end to keep.
            late = match self.turn_ends.get() {
                true => self.turn_left.get().max(1 - self.slice),
                false => 0,
            };
        }
        self.turn.set(Some(next));
        self.turn_left.set(self.slice + late);
        next
    }

    /// The first of the times that matter while `run` runs; the end of time if none does.
    #[inline(always)]
    fn limit(&self, run: Option<S>, now: u64) -> u64 {
        let Some(run) = run else {
            self.metered.set(None);
            return self.next_budget(Priority::LOWEST);
        };
        let lowest = run.state().priority();
        let budget = self.next_budget(lowest);
        let server = run.server();
        let metered = server.is_limited() && !Spent(run).is_linked();
        self.metered.set(metered.then_some(run));
        let own = match metered {
            true => server.take_over(now),
            false => u64::MAX,
        };
        let turn = match lowest == Priority::LOWEST {
            true => self.turn_end(run, now),
            false => u64::MAX,
        };
        budget.min(own).min(turn)
    }

    /// When the first one has its budget that is as urgent at least: somebody less urgent may have it
    /// when it is looked at again.
    #[inline(always)]
    fn next_budget(&self, lowest: Priority) -> u64 {
        let mut next = self.spent.first();
        while let Some(Spent(item)) = next {
            if item.server().priority() >= lowest {
                return item.server().end();
            }
            next = self.spent.after(Spent(item));
        }
        u64::MAX
    }

    /// When the turn ends of who runs in the background, if somebody waits for that.
    #[inline(always)]
    fn turn_end(&self, run: S, now: u64) -> u64 {
        let ends = run.has_neighbours();
        self.turn_ends.set(ends);
        match ends {
            // A turn that is chosen has ticks left.
            true => now.wrapping_add_signed(self.turn_left.get()),
            false => u64::MAX,
        }
    }
}
