//! Who runs on a core whose time is shared by policies, and until when.

use crate::claim::{Among, Claimant, Place, Ready};
use crate::cold_path;
use crate::policy::Spent;
use core::cell::Cell;
use core_list::Row;

mod background;

/// What [`Shares::decide`] came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision<S> {
    /// Who runs; nobody, and the core is idle.
    pub run: Option<S>,
    /// When to ask again, though nobody woke or waited: the one time the caller's timer is for.
    pub until: Option<u64>,
}

/// What became of who ran when it was charged.
#[derive(Clone, Copy)]
pub enum Charged<S> {
    /// It may go on.
    Going,
    /// Its budget is used up.
    Ended(S),
    /// Its deadline passed; whether its budget is used up too, [`Shares::used_up`] says.
    Late,
}

/// The scheduler of a core that is shared by [`Policy`](crate::Policy).
///
/// The caller reports who [wakes](Shares::wake) and [waits](Shares::wait), and asks who is to run
/// after that and whenever the time given with the last [decision](Decision) has come. Time is a
/// counter that does not go back; what ran between two questions is charged to who ran. Who asked a
/// little ahead of time, and asks behind that next, has what was charged ahead given back.
///
/// ```
/// use core_sched::{Claim, Claimant, Entity, Exhausted, Policy, Priority, Reservation, Server, Shares};
///
/// struct Vcpu<'a> {
///     number: u8,
///     claim: Claim<&'a Vcpu<'a>>,
/// }
///
/// impl<'a> Entity for &'a Vcpu<'a> {
///     fn server(&self) -> &Server<Self> {
///         &self.claim.server
///     }
/// }
///
/// impl<'a> Claimant for &'a Vcpu<'a> {
///     fn claim(&self) -> &Claim<Self> {
///         &self.claim
///     }
/// }
///
/// let vcpu = |number, priority, policy| {
///     let vcpu = Vcpu { number, claim: Claim::new() };
///     vcpu.claim.begin(Priority::new(priority), policy, 0);
///     vcpu
/// };
/// let two_of_ten = Reservation::new(2, 10, Exhausted::Wait).unwrap();
/// let (control, linux) = (vcpu(1, 40, Policy::Reserved(two_of_ten)), vcpu(2, 0, Policy::Fixed));
/// let shares = Shares::new(5);
/// shares.wake(&linux, 0);
/// shares.wake(&control, 0);
/// let number = |vcpu: &Vcpu| vcpu.number;
/// assert_eq!(shares.decide(0).run.map(number), Some(1));
/// assert_eq!(shares.decide(0).until, Some(2));
/// assert_eq!(shares.decide(2).run.map(number), Some(2));
/// assert_eq!(shares.decide(3).until, Some(10), "the next budget of the more urgent one");
/// ```
pub struct Shares<S> {
    /// All that could run, the running one included, in the order in which they would.
    ready: Row<Ready<S>>,
    /// Those without budget, the next to have one first. Who runs on in the background is among the
    /// ready ones meanwhile.
    spent: Row<Spent<S>>,
    /// Until when the current one has been charged.
    charged: Cell<u64>,
    /// The current one, if it is in the foreground and has a budget.
    metered: Cell<Option<S>>,
    /// Otherwise, whether the current one has its turn in the background.
    turning: Cell<bool>,
    /// Whether somebody waits for the end of the turn.
    turn_ends: Cell<bool>,
    /// Whose turn it is in the background, and what is left of it.
    turn: Cell<Option<S>>,
    turn_left: Cell<i64>,
    slice: i64,
}

impl<S> Shares<S> {
    /// A core nobody uses. Those in the background have turns of `slice` ticks.
    pub const fn new(slice: u32) -> Self {
        Self {
            ready: Row::new(),
            spent: Row::new(),
            charged: Cell::new(0),
            metered: Cell::new(None),
            turning: Cell::new(false),
            turn_ends: Cell::new(false),
            turn: Cell::new(None),
            turn_left: Cell::new(0),
            slice: slice as i64,
        }
    }
}

/// Whether somebody is this one.
#[inline(always)]
fn is<S: Claimant>(somebody: Option<S>, item: S) -> bool {
    somebody.is_some_and(|somebody| core::ptr::eq(somebody.claim(), item.claim()))
}

impl<S: Claimant> Shares<S> {
    /// Somebody wants to run, on a core where time does not matter: all are
    /// [`Fixed`](crate::Policy::Fixed) there, one at most in the background. With
    /// [`give_up`](Shares::give_up) and [`most_urgent`](Shares::most_urgent) instead of the
    /// three below, which may take over whenever there is more to it.
    #[inline]
    pub fn want(&self, item: S) {
        if !item.claim().is_ready() {
            self.enqueue(item);
        }
    }

    /// Somebody does not want to run any more, on such a core.
    #[inline]
    pub fn give_up(&self, item: S) {
        if item.claim().is_ready() {
            item.claim().set_among(Among::NONE);
            self.ready.remove(Ready(item));
        }
    }

    /// Who runs on such a core.
    #[inline(always)]
    pub fn most_urgent(&self) -> Option<S> {
        self.ready.first().map(|Ready(first)| first)
    }

    /// Somebody wants to run from `now` on; who wants to already does not want more.
    pub fn wake(&self, item: S, now: u64) {
        if item.claim().is_ready() {
            return;
        }
        if self.spent.first().is_some() {
            self.charge(now);
        }
        self.wake_charged(item, now);
    }

    /// The same of who does not want to yet, from the time of the [charge](Shares::charge) on.
    #[inline(always)]
    pub fn wake_charged(&self, item: S, now: u64) {
        if item.claim().is_spent() {
            return;
        }
        // Whose budget came earlier is ready earlier.
        while let Some(item) = self.due(now) {
            self.give(item, now);
        }
        let server = item.server();
        if !server.is_limited() {
            return self.enqueue(item);
        }
        server.wake(now);
        match server.is_used_up() {
            true => self.exhaust(item, now),
            false => self.enqueue(item),
        }
    }

    /// Somebody does not want to run any more from `now` on, or may not: an idle vCPU, one that is
    /// paused or taken away. Its share goes on.
    #[inline(always)]
    pub fn wait(&self, item: S, now: u64) {
        self.charge(now);
        if item.claim().is_spent() {
            self.spent.remove(Spent(item));
        }
        if item.claim().is_ready() {
            self.ready.remove(Ready(item));
        }
        item.claim().set_among(Among::NONE);
        if item.claim().come_back() {
            item.moved(false);
        }
        if is(self.current(), item) {
            self.charge_nobody();
        }
    }

    /// Who runs from `now` on, and until when nothing but [`wake`](Shares::wake) and
    /// [`wait`](Shares::wait) can change that.
    pub fn decide(&self, now: u64) -> Decision<S> {
        self.charge(now);
        let ended = self.used_up();
        if let Some(item) = ended {
            self.end(item);
        }
        while let Some(item) = self.due(now) {
            self.give(item, now);
        }
        if let Some(item) = ended {
            self.exhaust(item, now);
        }
        let (run, until) = self.choose(now);
        let until = Some(until).filter(|&until| until != u64::MAX);
        Decision { run, until }
    }

    /// The first part of [`decide`](Shares::decide): charges who ran until `now`.
    #[inline(always)]
    pub fn charge(&self, now: u64) -> Charged<S> {
        let ran = now.wrapping_sub(self.charged.replace(now));
        if let Some(metered) = self.metered.get() {
            return Self::charge_budget(metered, ran, now);
        }
        cold_path();
        if !self.turning.get() {
            return Charged::Going;
        }
        self.turn_left.set(self.turn_left.get() - ran as i64);
        // In the background it may be of a budget, too.
        match self.turn.get().filter(|&turn| Self::has_budget(turn)) {
            Some(turn) => Self::charge_budget(turn, ran, now),
            None => Charged::Going,
        }
    }

    #[inline(always)]
    fn charge_budget(item: S, ran: u64, now: u64) -> Charged<S> {
        let server = item.server();
        if server.is_over(now) {
            cold_path();
            server.charge(ran, now);
            if server.is_over(now) {
                return Charged::Late;
            }
        } else {
            server.charge_within(ran);
        }
        match server.is_used_up() {
            true => Charged::Ended(item),
            false => Charged::Going,
        }
    }

    /// Who ran, if its budget is used up, at the time of the charge.
    #[inline(always)]
    pub fn used_up(&self) -> Option<S> {
        let current = self.current()?;
        (Self::has_budget(current) && current.server().is_used_up()).then_some(current)
    }

    /// Who runs by a budget or has its turn.
    #[inline(always)]
    fn current(&self) -> Option<S> {
        let behind = || self.turn.get().filter(|_| self.turning.get());
        self.metered.get().or_else(behind)
    }

    /// Whether somebody runs by a budget, used up or not.
    #[inline(always)]
    fn has_budget(item: S) -> bool {
        item.server().is_limited() && !item.claim().is_spent()
    }

    /// The second part: who has used up its budget does not run, so that whoever gets one need not be
    /// put before it. It is to be [exhausted](Shares::exhaust) behind the third part, before anybody is
    /// chosen.
    #[inline(always)]
    pub fn end(&self, item: S) {
        self.ready.remove(Ready(item));
    }

    /// The third part, for a caller that looks at its interrupts in between: the first whose budget's
    /// time has come at `now`, to be [given](Shares::give). Each part is from the time of the
    /// [charge](Shares::charge) on.
    #[inline(always)]
    pub fn due(&self, now: u64) -> Option<S> {
        let Spent(first) = self.spent.first()?;
        first.server().is_over(now).then_some(first)
    }

    /// Gives that budget.
    #[inline(always)]
    pub fn give(&self, item: S, now: u64) {
        self.spent.pop_first(Spent(item));
        if item.claim().is_ready() {
            self.ready.remove(Ready(item));
            item.moved(false);
        }
        item.server().replenish(now);
        item.claim().come_back();
        self.enqueue(item);
    }

    /// The fourth part: has somebody without budget, who is not linked anywhere, wait until there is a
    /// new one.
    #[inline(always)]
    pub fn exhaust(&self, item: S, now: u64) {
        match item.server().is_over(now) {
            true => self.go_on_late(item, now),
            false => self.spend(item),
        }
    }

    /// The same within the period.
    #[inline(always)]
    pub fn spend(&self, item: S) {
        self.spent.insert(Spent(item), |one, other| {
            one.0.server().end() < other.0.server().end()
        });
        if !item.server().has_background() {
            return item.claim().set_among(Among::SPENT);
        }
        item.claim().fall_behind();
        item.moved(true);
        item.claim().set_among(Among::BOTH);
        self.ready.push(Ready(item));
    }

    /// The last part: who runs, and until when; the end of time never comes.
    #[inline(always)]
    pub fn choose(&self, now: u64) -> (Option<S>, u64) {
        let Some(first) = self.most_urgent() else {
            self.charge_nobody();
            return (None, self.next_budget(Place::BACKGROUND));
        };
        let place = first.claim().place();
        if place == Place::BACKGROUND {
            return self.choose_behind(first, now);
        }
        let budget = match first.server().is_limited() {
            true => {
                self.metered.set(Some(first));
                first.server().take_over(now)
            }
            false => {
                self.charge_nobody();
                u64::MAX
            }
        };
        (Some(first), budget.min(self.next_budget(place)))
    }

    /// Nobody is charged from the time of the last charge on: nobody runs, or who was chosen is held
    /// back by the caller, and wants to run still.
    pub fn charge_nobody(&self) {
        self.turning.set(false);
        self.metered.set(None);
    }

    /// Puts who has a budget, and is not among the ready ones, there.
    #[inline(always)]
    fn enqueue(&self, item: S) {
        item.claim().set_among(Among::READY);
        self.ready.insert(Ready(item), Ready::precedes);
    }

    /// A deadline that passed before the budget was used up does not hold others back: it moves
    /// by a period, and further if that is over too.
    #[cold]
    #[inline(never)]
    fn go_on_late(&self, item: S, now: u64) {
        item.server().make_good(now);
        self.enqueue(item);
    }

    /// When the first one has its budget that is as urgent at least: somebody less urgent may have it
    /// when it is looked at again.
    #[inline(always)]
    fn next_budget(&self, place: Place) -> u64 {
        let mut next = self.spent.first();
        while let Some(Spent(item)) = next {
            if item.claim().own().is_as_urgent_as(place) {
                return item.server().end();
            }
            cold_path();
            next = self.spent.after(Spent(item));
        }
        u64::MAX
    }
}
