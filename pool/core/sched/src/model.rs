//! The reservation scheduler against the textbook definitions, simulated tick by tick.

extern crate std;

use crate::{
    HasSchedEntity, HasServer, OnDepletion, Policy, Priority, Reservation, ReservationScheduler,
    SchedEntity, Server,
};
use core::cell::Cell;
use proptest::prelude::*;
use std::vec::Vec;

const SLICE: u64 = 3;

pub(crate) struct Vcpu<'a> {
    pub(crate) number: usize,
    pub(crate) behind: Cell<bool>,
    entity: SchedEntity<&'a Vcpu<'a>>,
}

impl Vcpu<'_> {
    pub(crate) fn priority(&self) -> u8 {
        self.entity.priority().number()
    }
}

impl<'a> HasServer for &'a Vcpu<'a> {
    fn server(&self) -> &Server<Self> {
        &self.entity.server
    }
}

impl<'a> HasSchedEntity for &'a Vcpu<'a> {
    fn entity(&self) -> &SchedEntity<Self> {
        &self.entity
    }

    fn background_changed(&self, behind: bool) {
        self.behind.set(behind);
    }
}

/// The parameters of an entity.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Share {
    pub(crate) priority: u8,
    pub(crate) deadline: bool,
    pub(crate) reservation: Option<(u64, u64)>,
    pub(crate) background: bool,
}

impl Share {
    fn policy(&self) -> Policy {
        let exhausted = match self.background {
            true => OnDepletion::Background,
            false => OnDepletion::Wait,
        };
        let reservation = self
            .reservation
            .and_then(|(budget, period)| Reservation::new(budget, period, exhausted));
        match reservation {
            None => Policy::Fixed,
            Some(own) if self.deadline => Policy::Deadline(own),
            Some(own) => Policy::Reserved(own),
        }
    }

    pub(crate) fn vcpu<'a>(&self, number: usize) -> Vcpu<'a> {
        let vcpu = Vcpu {
            number,
            behind: Cell::new(false),
            entity: SchedEntity::new(),
        };
        let priority = Priority::new(self.priority);
        vcpu.entity.begin(priority, self.policy(), 0);
        vcpu
    }
}

/// One entity of the model.
struct Member {
    share: Share,
    wants: bool,
    left: u64,
    end: u64,
    /// The order of depletion; none while budget remains.
    spent: Option<u64>,
    /// The order of arrival among its peers.
    arrival: u64,
}

struct Model {
    members: Vec<Member>,
    running: Option<usize>,
    turn: (Option<usize>, u64),
    count: u64,
}

impl Model {
    fn new(shares: &[Share]) -> Self {
        let members = shares.iter().map(|&share| {
            let (left, end) = share.reservation.unwrap_or((0, 0));
            let (wants, spent, arrival) = (false, None, 0);
            Member {
                share,
                wants,
                left,
                end,
                spent,
                arrival,
            }
        });
        Self {
            members: members.collect(),
            running: None,
            turn: (None, 0),
            count: 0,
        }
    }

    fn level(&self, i: usize) -> u8 {
        match self.members[i].spent {
            Some(_) => 0,
            None => self.members[i].share.priority,
        }
    }

    fn arrive(&mut self, i: usize) {
        self.count += 1;
        self.members[i].arrival = self.count;
    }

    fn wake(&mut self, i: usize, now: u64) {
        let member = &mut self.members[i];
        if member.wants {
            return;
        }
        member.wants = true;
        if let (true, Some((budget, period))) = (member.share.deadline, member.share.reservation)
            && (now >= member.end || member.left * period > (member.end - now) * budget)
        {
            (member.left, member.end) = (budget, now + period);
        }
        self.arrive(i);
        self.exhaust(i, now);
    }

    fn wait(&mut self, i: usize) {
        self.members[i].wants = false;
        self.members[i].spent = None;
        if self.running == Some(i) {
            self.running = None;
        }
    }

    fn exhaust(&mut self, i: usize, now: u64) {
        let member = &mut self.members[i];
        let Some((budget, period)) = member.share.reservation else {
            return;
        };
        if member.left > 0 || member.spent.is_some() {
            return;
        }
        if member.end <= now {
            member.end += period;
            if member.end <= now {
                member.end = now + period;
            }
            member.left = budget;
        } else {
            member.spent = Some(self.count + 1);
        }
        self.arrive(i);
    }
}

impl Textbook for Model {
    fn pass(&mut self, now: u64) {
        if let Some(i) = self.running {
            if self.level(i) == 0 {
                self.turn.1 = self.turn.1.saturating_sub(1);
            }
            let member = &mut self.members[i];
            if member.spent.is_none() {
                member.left = member.left.saturating_sub(1);
            }
        }
        let mut due: Vec<usize> = (0..self.members.len()).collect();
        due.sort_by_key(|&i| self.members[i].spent);
        for i in due {
            let member = &mut self.members[i];
            let Some((budget, period)) = member.share.reservation else {
                continue;
            };
            if member.end == now && (!member.share.deadline || member.spent.is_some()) {
                member.left = budget;
                member.end += period;
                if member.spent.take().is_some() {
                    self.arrive(i);
                }
            }
        }
    }

    fn change(&mut self, entity: usize, wake: bool, now: u64) {
        match wake {
            true => self.wake(entity, now),
            false => self.wait(entity),
        }
    }

    fn decide(&mut self, now: u64) -> Option<usize> {
        if let Some(i) = self.running {
            self.exhaust(i, now);
        }
        let key = |i: usize| {
            let member = &self.members[i];
            let by_deadline = member.share.deadline && member.spent.is_none();
            let deadline = if by_deadline { member.end } else { u64::MAX };
            (255 - self.level(i), deadline, member.arrival)
        };
        let may_run = |&i: &usize| {
            let member = &self.members[i];
            member.wants && (member.spent.is_none() || member.share.background)
        };
        let mut ready: Vec<usize> = (0..self.members.len()).filter(may_run).collect();
        ready.sort_by_key(|&i| key(i));
        self.running = ready.first().copied();
        if let Some(first) = self.running.filter(|&first| self.level(first) == 0) {
            let mut next = first;
            if self.turn.0 == Some(first) {
                if self.turn.1 > 0 || ready.len() == 1 {
                    return self.running;
                }
                self.arrive(first);
                next = ready[1];
            }
            self.turn = (Some(next), SLICE);
            self.running = Some(next);
        }
        self.running
    }
}

pub(crate) fn share() -> impl Strategy<Value = Share> {
    let reservation = (1u64..=5).prop_flat_map(|budget| (Just(budget), budget..=12));
    (
        0u8..=2,
        any::<bool>(),
        prop::option::weighted(0.7, reservation),
        any::<bool>(),
    )
        .prop_map(|(priority, deadline, reservation, background)| {
            // Deadlines do not order the background: EDF above it only.
            let deadline = deadline && priority > 0 && reservation.is_some();
            Share {
                priority,
                deadline,
                reservation,
                background,
            }
        })
}

pub(crate) fn events(entities: usize) -> impl Strategy<Value = Vec<(u64, usize, bool)>> {
    // Times relative to the previous event; several events can coincide.
    prop::collection::vec((0u64..=7, 0..entities, prop::bool::weighted(0.6)), 0..80)
}

/// Drives the scheduler as Mortise does, with a decision at each event and at each returned time;
/// reports the running entity of each tick.
pub(crate) fn run(
    shares: &[Share],
    events: &[(u64, usize, bool)],
    mut each: impl FnMut(u64, &[(usize, bool)], Option<usize>),
) {
    let vcpus: Vec<Vcpu> = shares.iter().enumerate().map(|(i, s)| s.vcpu(i)).collect();
    let core = ReservationScheduler::new();
    core.set_slice(SLICE);
    let mut decision = core.decide(0);
    let mut times = events.iter().scan(0, |time, &(delta, i, wake)| {
        *time += delta;
        Some((*time, i, wake))
    });
    let mut next = times.next();
    for now in 0..400 {
        let mut happened = Vec::new();
        while let Some((_, i, wake)) = next.filter(|&(time, _, _)| time <= now) {
            match wake {
                true => core.wake(&vcpus[i], now),
                false => core.block(&vcpus[i], now),
            }
            happened.push((i, wake));
            next = times.next();
        }
        if !happened.is_empty() || decision.until.is_some_and(|until| until <= now) {
            decision = core.decide(now);
            assert!(
                decision.until.is_none_or(|until| until > now),
                "time goes on"
            );
        }
        each(now, &happened, decision.run.map(|vcpu| vcpu.number));
    }
}

/// A scheduler by its textbook definition, simulated tick by tick.
pub(crate) trait Textbook {
    /// Advances from `now - 1` to `now`.
    fn pass(&mut self, now: u64);
    /// An entity becomes ready, or blocks.
    fn change(&mut self, entity: usize, wake: bool, now: u64);
    /// The entity that runs from `now` on.
    fn decide(&mut self, now: u64) -> Option<usize>;
}

/// Comparison of a scheduler with its textbook definition.
pub(crate) struct Comparison<T> {
    textbook: T,
    /// The first time at which different entities ran.
    pub(crate) result: Result<(), TestCaseError>,
}

impl<T: Textbook> Comparison<T> {
    pub(crate) const fn with(textbook: T) -> Self {
        let result = Ok(());
        Self { textbook, result }
    }

    /// Compares the entity that the scheduler ran at `now`, after these wakes and blocks.
    pub(crate) fn tick(&mut self, now: u64, happened: &[(usize, bool)], runs: Option<usize>) {
        if now > 0 {
            self.textbook.pass(now);
        }
        for &(entity, wake) in happened {
            self.textbook.change(entity, wake, now);
        }
        let textbook = self.textbook.decide(now);
        if self.result.is_ok() && textbook != runs {
            self.result = Err(TestCaseError::fail(std::format!(
                "at {now} {runs:?} runs, {textbook:?} by the textbook"
            )));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn reservations_run_as_by_the_textbook(
        shares in prop::collection::vec(share(), 5), events in events(5),
    ) {
        let mut comparison = Comparison::with(Model::new(&shares));
        run(&shares, &events, |now, happened, runs| comparison.tick(now, happened, runs));
        comparison.result?;
    }
}
