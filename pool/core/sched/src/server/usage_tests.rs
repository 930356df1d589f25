//! Statistics of budgets against a count of each tick.

extern crate std;

use super::EndedPeriods;
use crate::{
    FairServer, FairServers, HasFairServer, HasSchedEntity, HasServer, OnDepletion, Policy,
    Priority, Reservation, ReservationScheduler, SchedEntity, Server,
};
use core::cell::RefCell;
use proptest::prelude::*;
use std::vec;
use std::vec::Vec;

/// The number of ticks of a run: a multiple of all periods up to 12 would be too long, so that the last
/// period of most is cut off.
const END: u64 = 400;

/// What was reported of each period that ended.
#[derive(Default)]
struct Reported(RefCell<Vec<u64>>);

impl Reported {
    fn add(&self, ended: EndedPeriods) {
        let mut all = self.0.borrow_mut();
        all.extend(ended.used);
        all.extend((0..ended.further).map(|_| ended.used_further));
    }
}

struct Vcpu<'a> {
    entity: SchedEntity<&'a Vcpu<'a>>,
    reported: Reported,
}

impl<'a> HasServer for &'a Vcpu<'a> {
    fn server(&self) -> &Server<Self> {
        &self.entity.server
    }

    fn periods_ended(&self, ended: impl FnOnce() -> EndedPeriods) {
        self.reported.add(ended());
    }
}

impl<'a> HasSchedEntity for &'a Vcpu<'a> {
    fn entity(&self) -> &SchedEntity<Self> {
        &self.entity
    }
}

struct Thread<'a> {
    fair: FairServer<&'a Thread<'a>>,
    reported: Reported,
}

impl<'a> HasServer for &'a Thread<'a> {
    fn server(&self) -> &Server<Self> {
        &self.fair.server
    }

    fn periods_ended(&self, ended: impl FnOnce() -> EndedPeriods) {
        self.reported.add(ended());
    }
}

impl<'a> HasFairServer for &'a Thread<'a> {
    fn fair_server(&self) -> &FairServer<Self> {
        &self.fair
    }
}

/// Ticks that were charged to a budget, by period.
struct Counted {
    period: u64,
    ticks: Vec<u64>,
}

impl Counted {
    fn new(period: u64) -> Self {
        let ticks = vec![0; (END / period) as usize + 1];
        Self { period, ticks }
    }

    fn charge(&mut self, now: u64) {
        self.ticks[(now / self.period) as usize] += 1;
    }

    /// The periods that have ended.
    fn ended(&self) -> &[u64] {
        &self.ticks[..(END / self.period) as usize]
    }
}

fn reservation() -> impl Strategy<Value = (u64, u64)> {
    (1u64..=5).prop_flat_map(|budget| (Just(budget), budget..=12))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn each_period_of_a_vcpu_reports_the_ticks_that_it_was_charged(
        shares in prop::collection::vec((0u8..=2, reservation(), any::<bool>()), 3),
        events in crate::model::events(3),
    ) {
        let vcpu = |&(priority, (budget, period), background): &(u8, (u64, u64), bool)| {
            let on_depletion = match background {
                true => OnDepletion::Background,
                false => OnDepletion::Wait,
            };
            let entity = SchedEntity::new();
            let own = Reservation::new(budget, period, on_depletion).unwrap();
            entity.begin(Priority::new(priority), Policy::Reserved(own), 0);
            Vcpu { entity, reported: Reported::default() }
        };
        let vcpus: Vec<Vcpu> = shares.iter().map(vcpu).collect();
        let mut counted: Vec<_> = shares.iter().map(|&(_, (_, period), _)| Counted::new(period)).collect();
        let core = ReservationScheduler::new();
        core.set_slice(3);
        let mut decision = core.decide(0);
        let mut at = 0;
        let events: Vec<_> = events.iter().map(|&(delta, i, wake)| { at += delta; (at, i, wake) }).collect();
        for now in 0..END {
            for &(_, i, wake) in events.iter().filter(|&&(time, ..)| time == now) {
                match wake {
                    true => core.wake(&vcpus[i], now),
                    false => core.block(&vcpus[i], now),
                }
                decision = core.decide(now);
            }
            if decision.until.is_some_and(|until| until <= now) {
                decision = core.decide(now);
            }
            if let Some(running) = decision.run
                && !running.entity.is_awaiting_budget()
            {
                let i = vcpus.iter().position(|one| core::ptr::eq(one, running)).unwrap();
                counted[i].charge(now);
            }
        }
        for (vcpu, counted) in vcpus.iter().zip(&counted) {
            core.block(vcpu, END);
            core.wake(vcpu, END);
            prop_assert_eq!(&vcpu.reported.0.borrow()[..], counted.ended());
        }
    }

    #[test]
    fn each_period_of_a_thread_reports_the_ticks_that_it_was_charged(
        shares in prop::collection::vec(reservation(), 3),
        choices in prop::collection::vec((1u64..=9, prop::option::of(0usize..3)), 100),
    ) {
        let thread = || Thread { fair: FairServer::new(), reported: Reported::default() };
        let threads: Vec<_> = shares.iter().map(|_| thread()).collect();
        let mut counted: Vec<_> = shares.iter().map(|&(_, period)| Counted::new(period)).collect();
        let servers = FairServers::new();
        servers.set_slice(3);
        for (thread, &(budget, period)) in threads.iter().zip(&shares) {
            servers.attach(thread, Reservation::new(budget, period, OnDepletion::Background), 0);
        }
        let mut at = 0;
        let choices: Vec<_> = choices.iter().map(|&(delta, i)| { at += delta; (at, i) }).collect();
        let (mut running, mut until) = (None, None::<u64>);
        for now in 0..END {
            let change = choices.iter().find(|&&(time, _)| time == now);
            if change.is_some() || until.is_some_and(|until| until <= now) {
                servers.update(now, false, |_, _| {});
                running = change.map_or(running, |&(_, next)| next);
                servers.set_running(running.map(|i| &threads[i]));
                until = servers.next_update(false);
            }
            if let Some(i) = running
                && !threads[i].fair.is_background()
            {
                counted[i].charge(now);
            }
        }
        servers.update(END, false, |_, _| {});
        for (thread, counted) in threads.iter().zip(&counted) {
            servers.set_running(Some(thread));
            servers.next_update(false);
            prop_assert_eq!(&thread.reported.0.borrow()[..], counted.ended());
        }
    }
}

/// A vCPU alone on its core.
fn alone<'a>(policy: Policy) -> Vcpu<'a> {
    let vcpu = Vcpu {
        entity: SchedEntity::new(),
        reported: Reported::default(),
    };
    vcpu.entity.begin(Priority::new(1), policy, 0);
    vcpu
}

#[test]
fn an_overrun_is_used_in_the_period_that_pays_for_it() {
    let own = Reservation::new(4, 10, OnDepletion::Wait).unwrap();
    let vcpu = alone(Policy::Reserved(own));
    let core = ReservationScheduler::new();
    core.wake(&vcpu, 0);
    assert_eq!(core.decide(0).until, Some(4));
    // Two ticks late: they are missing from the next budget.
    assert_eq!(core.decide(6).until, Some(10));
    assert_eq!(core.decide(10).until, Some(12));
    core.decide(12);
    core.decide(20);
    assert_eq!(*vcpu.reported.0.borrow(), [4, 4]);
}

#[test]
fn a_vcpu_that_never_stops_uses_the_whole_budget_of_each_period() {
    let own = Reservation::new(10, 10, OnDepletion::Wait).unwrap();
    let vcpu = alone(Policy::Reserved(own));
    let core = ReservationScheduler::new();
    core.wake(&vcpu, 0);
    assert_eq!(core.decide(0).until, None);
    core.block(&vcpu, 35);
    assert_eq!(*vcpu.reported.0.borrow(), [10, 10, 10]);
}

#[test]
fn a_period_with_a_deadline_ends_at_the_next_wake_up() {
    let own = Reservation::new(4, 10, OnDepletion::Wait).unwrap();
    let vcpu = alone(Policy::Deadline(own));
    let core = ReservationScheduler::new();
    for (wakes, blocks) in [(5, 8), (35, 36)] {
        core.wake(&vcpu, wakes);
        core.decide(wakes);
        core.block(&vcpu, blocks);
    }
    core.wake(&vcpu, 60);
    // Nothing ran before the first wake-up.
    assert_eq!(*vcpu.reported.0.borrow(), [3, 1]);
}
