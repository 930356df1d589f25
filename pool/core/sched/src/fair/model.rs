//! Servers against a model that advances tick by tick.

extern crate std;

use crate::model::{Comparison, Textbook};
use crate::{
    FairServer, FairServers, FixedPriorityScheduler, HasFairServer, HasServer, OnDepletion,
    Priority, Reason, Reservation, Schedulable, Server, State,
};
use core_list::{Link, Linked};
use proptest::prelude::*;
use std::vec::Vec;

pub(super) const SLICE: u64 = 3;
const BACKGROUND: Priority = Priority::new(1);

pub(super) struct Thread<'a> {
    number: usize,
    link: Link<&'a Thread<'a>>,
    state: State,
    fair: FairServer<&'a Thread<'a>>,
}

impl<'a> Linked for &'a Thread<'a> {
    fn link(&self) -> &Link<Self> {
        &self.link
    }
}

impl<'a> Schedulable for &'a Thread<'a> {
    fn state(&self) -> &State {
        &self.state
    }

    fn is_ordered() -> bool {
        true
    }

    fn precedes(&self, other: &Self) -> bool {
        let behind = self.fair.is_background() && other.fair.is_background();
        behind && self.fair.precedes(&other.fair)
    }
}

impl<'a> HasServer for &'a Thread<'a> {
    fn server(&self) -> &Server<Self> {
        &self.fair.server
    }
}

impl<'a> HasFairServer for &'a Thread<'a> {
    fn fair_server(&self) -> &FairServer<Self> {
        &self.fair
    }
}

/// Budget and period, or none.
pub(super) type Share = Option<(u64, u64)>;

pub(super) fn reservation(share: Share) -> Option<Reservation> {
    share.and_then(|(budget, period)| Reservation::new(budget, period, OnDepletion::Background))
}

/// A core as in Tenon: an idle thread, and threads with one server each.
struct Core<'a> {
    threads: &'a [Thread<'a>],
    ranks: Vec<Priority>,
    scheduler: FixedPriorityScheduler<&'a Thread<'a>>,
    servers: FairServers<&'a Thread<'a>>,
}

pub(super) fn threads<'a>(count: usize) -> Vec<Thread<'a>> {
    let thread = |number| Thread {
        number,
        link: Link::new(),
        state: State::new(Priority::LOWEST),
        fair: FairServer::new(),
    };
    (0..=count).map(thread).collect()
}

impl<'a> Core<'a> {
    fn new(threads: &'a [Thread<'a>], shares: &[Share]) -> Self {
        let (scheduler, servers) = (FixedPriorityScheduler::new(), FairServers::new());
        servers.set_slice(SLICE);
        let mut ranks: Vec<_> = threads.iter().map(|_| BACKGROUND).collect();
        for (thread, &share) in threads.iter().zip(shares) {
            servers.attach(thread, reservation(share), 0);
        }
        for (thread, rank) in servers.ranks() {
            ranks[thread.number] = Priority::new(BACKGROUND.number() + 1 + rank as u8);
        }
        for (thread, &priority) in threads.iter().zip(&ranks[..shares.len()]) {
            thread.state.set_priority(priority);
        }
        // The idle thread, which has no server.
        scheduler.start(&threads[shares.len()]);
        Self {
            threads,
            ranks,
            scheduler,
            servers,
        }
    }

    fn update(&self, now: u64) {
        self.servers
            .update(now, self.is_contended(), |thread, foreground| {
                let own = self.ranks[thread.number];
                let priority = if foreground { own } else { BACKGROUND };
                self.scheduler.set_priority(thread, priority);
                if self
                    .scheduler
                    .current()
                    .is_some_and(|current| current.is(&thread))
                {
                    self.scheduler.end_slice();
                }
            });
        if self.servers.slice_ended() {
            self.scheduler.end_slice();
        }
    }

    fn is_contended(&self) -> bool {
        let current = self.scheduler.current();
        let behind = current.is_some_and(|current| current.state.priority() == BACKGROUND);
        behind && self.scheduler.has_peers()
    }

    fn change(&self, number: usize, wants: bool, now: u64) {
        let thread = &self.threads[number];
        if wants {
            if thread.fair.is_background() && !thread.state.is_ready() {
                self.servers
                    .enter_background(thread, now, self.is_contended());
            }
            return self.scheduler.wake(thread);
        }
        let current = self.scheduler.current();
        self.scheduler.block(thread);
        if current.is_some_and(|current| current.number == number) {
            self.scheduler.next(Reason::Blocking);
            self.set_running();
        }
    }

    fn set_running(&self) {
        let current = self.scheduler.current();
        let served = current.filter(|thread| thread.number < self.threads.len() - 1);
        self.servers.set_running(served);
    }

    /// The running thread and the time of the next update.
    fn decide(&self) -> (Option<usize>, Option<u64>) {
        self.scheduler.next(Reason::Preemption);
        self.set_running();
        let number = self.scheduler.current().map(|thread| thread.number);
        let until = self.servers.next_update(self.is_contended());
        (
            number.filter(|&number| number < self.threads.len() - 1),
            until,
        )
    }
}

/// Drives the servers as Tenon does, at each event and at each returned time; reports the running
/// thread of each tick.
pub(super) fn run(
    shares: &[Share],
    events: &[(u64, usize, bool)],
    mut each: impl FnMut(u64, &[(usize, bool)], Option<usize>),
) {
    let threads = threads(shares.len());
    let core = Core::new(&threads, shares);
    let (mut runs, mut until) = (None, None::<u64>);
    let mut times = events.iter().scan(0, |time, &(delta, i, wake)| {
        *time += delta;
        Some((*time, i, wake))
    });
    let mut next = times.next();
    for now in 0..400 {
        let mut happened = Vec::new();
        let due = next.is_some_and(|(time, ..)| time <= now) || until.is_some_and(|at| at <= now);
        if due {
            core.update(now);
            (runs, until) = core.decide();
            while let Some((_, i, wake)) = next.filter(|&(time, ..)| time <= now) {
                core.change(i, wake, now);
                (runs, until) = core.decide();
                happened.push((i, wake));
                next = times.next();
            }
            assert!(until.is_none_or(|until| until > now), "time goes on");
        }
        each(now, &happened, runs);
    }
}

#[derive(Clone, Copy, Default)]
struct Member {
    share: Share,
    wants: bool,
    left: u64,
    /// The order of depletion; none while budget remains.
    spent: Option<u64>,
    /// The order of arrival among its peers.
    arrival: u64,
    /// Execution in the background and its value at the start of the slice: finish tag, start tag.
    finish: u64,
    start: u64,
}

struct Model {
    members: Vec<Member>,
    running: Option<usize>,
    level: u64,
    count: u64,
}

impl Model {
    fn new(shares: &[Share]) -> Self {
        let members = shares.iter().map(|&share| Member {
            share,
            left: share.map_or(0, |(budget, _)| budget),
            ..Member::default()
        });
        Self {
            members: members.collect(),
            running: None,
            level: 0,
            count: 0,
        }
    }

    fn is_behind(&self, i: usize) -> bool {
        self.members[i].share.is_none() || self.members[i].spent.is_some()
    }

    fn arrive(&mut self, i: usize) {
        self.count += 1;
        let behind = self.is_behind(i);
        let member = &mut self.members[i];
        member.arrival = self.count;
        if behind {
            member.finish = member.finish.max(self.level);
            member.start = member.finish;
        }
    }

    /// Chooses after each change, which is when the level of the background rises.
    fn choose(&mut self) {
        let wants = |&i: &usize| self.members[i].wants;
        let all: Vec<usize> = (0..self.members.len()).filter(wants).collect();
        let (behind, front): (Vec<usize>, Vec<usize>) =
            all.into_iter().partition(|&i| self.is_behind(i));
        let key = |&i: &usize| {
            (
                self.members[i].share.map(|(_, p)| p),
                self.members[i].arrival,
            )
        };
        if let Some(first) = front.into_iter().min_by_key(key) {
            self.running = Some(first);
            return;
        }
        let key = |&i: &usize| (self.members[i].start, self.members[i].arrival);
        self.running = behind.into_iter().min_by_key(key);
        if let Some(i) = self.running {
            self.level = self.level.max(self.members[i].start);
        }
    }
}

impl Textbook for Model {
    fn pass(&mut self, now: u64) {
        if let Some(i) = self.running {
            if self.is_behind(i) {
                let others = (0..self.members.len())
                    .any(|other| other != i && self.members[other].wants && self.is_behind(other));
                let member = &mut self.members[i];
                member.finish += 1;
                if member.finish == member.start + SLICE {
                    member.start = member.finish;
                    match others {
                        true => self.arrive(i),
                        false => self.level = self.level.max(member.start),
                    }
                }
            } else {
                self.members[i].left -= 1;
            }
        }
        let mut all: Vec<usize> = (0..self.members.len()).collect();
        all.sort_by_key(|&i| self.members[i].spent);
        for i in all {
            let Some((budget, period)) = self.members[i].share else {
                continue;
            };
            if now.is_multiple_of(period) {
                self.members[i].left = budget;
                if self.members[i].spent.take().is_some() {
                    self.arrive(i);
                }
            }
        }
        if let Some(i) = self.running.filter(|&i| !self.is_behind(i))
            && self.members[i].left == 0
        {
            self.members[i].spent = Some(self.count);
            self.arrive(i);
        }
        self.choose();
    }

    fn change(&mut self, i: usize, wants: bool, _now: u64) {
        if wants && !self.members[i].wants {
            self.arrive(i);
        }
        self.members[i].wants = wants;
        self.choose();
    }

    fn decide(&mut self, _now: u64) -> Option<usize> {
        self.running
    }
}

pub(super) fn share() -> impl Strategy<Value = Share> {
    let reservation = (1u64..=5).prop_flat_map(|budget| (Just(budget), budget + 1..=12));
    prop::option::weighted(0.7, reservation)
}

pub(super) fn events(threads: usize) -> impl Strategy<Value = Vec<(u64, usize, bool)>> {
    crate::model::events(threads)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn fair_servers_run_as_by_the_textbook(
        shares in prop::collection::vec(share(), 5), events in events(5),
    ) {
        let mut comparison = Comparison::with(Model::new(&shares));
        run(&shares, &events, |now, happened, runs| comparison.tick(now, happened, runs));
        comparison.result?;
    }
}
