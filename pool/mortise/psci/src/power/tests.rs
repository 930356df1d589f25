//! Power states under arbitrary interleavings of cores.

use super::*;
use proptest::prelude::*;

const ENTRY: Start = Start {
    entry: 0x1000,
    argument: 0,
};

/// State of one core.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Core {
    /// Asleep until its doorbell.
    Asleep,
    /// About to query its next action.
    Awake,
    /// Running its guest.
    Guest,
    /// Doing the work it was lent for.
    Lent,
    /// In Mortise: about to become idle.
    Leaving,
    /// Carrying out an end, as the first vCPU.
    Leading(RunEnd),
    /// Lifting the mark of the end, as the first vCPU.
    Reopening,
    /// Preparing a run, as the first vCPU.
    Loading,
}

/// A VM with its cores and their doorbells.
#[derive(Debug)]
struct Machine {
    power: Power,
    cores: Vec<Core>,
    bells: u32,
    /// The mark that the run is ending, which a core tests in place of `power`.
    ending: bool,
    runs: u32,
    /// The end that was forced last, and the number of runs before it.
    order: Option<(RunEnd, u32)>,
}

impl Machine {
    fn new(vcpus: usize, restarts: u32) -> Self {
        let mut cores = vec![Core::Awake; vcpus];
        cores[FIRST_VCPU] = Core::Loading;
        Self {
            power: Power::new(vcpus, restarts),
            cores,
            bells: 0,
            ending: false,
            runs: 0,
            order: None,
        }
    }

    /// Forces an end from outside. It is marked in the same step: later the next run could have
    /// begun.
    fn order(&mut self, end: RunEnd) {
        if matches!(self.order, Some((RunEnd::Off, _))) {
            return;
        }
        self.order = Some((end, self.runs));
        if let Some(calls) = self.power.force_end(end) {
            self.end(calls);
        }
    }

    fn end(&mut self, calls: VcpuSet) {
        self.ending = true;
        self.call(calls);
    }

    fn call(&mut self, calls: VcpuSet) {
        self.bells |= calls.iter().fold(0, |word, vcpu| word | 1 << vcpu);
    }

    /// One step of one core; `wish` selects the operation of its guest.
    fn step(&mut self, vcpu: usize, wish: usize) {
        let rung = self.bells >> vcpu & 1 != 0;
        self.cores[vcpu] = match self.cores[vcpu] {
            Core::Asleep if rung => {
                self.bells &= !(1 << vcpu);
                Core::Awake
            }
            Core::Asleep => Core::Asleep,
            Core::Awake => self.look(vcpu),
            Core::Guest if rung => {
                self.bells &= !(1 << vcpu);
                self.obey()
            }
            Core::Guest => self.act(vcpu, wish),
            Core::Lent if rung => {
                self.bells &= !(1 << vcpu);
                self.serve(vcpu)
            }
            Core::Lent => Core::Lent,
            Core::Leaving => {
                let kicks = self.power.mark_stopped(vcpu);
                self.call(kicks);
                Core::Awake
            }
            Core::Leading(end) => match self.power.finish_run(end, end == RunEnd::Restart) {
                Ok(()) if end == RunEnd::Restart => Core::Reopening,
                Ok(()) => Core::Awake,
                Err(other) => Core::Leading(other),
            },
            Core::Reopening => {
                self.ending = false;
                Core::Loading
            }
            Core::Loading => match self.power.begin_prepared(ENTRY) {
                Ok(()) => {
                    self.runs += 1;
                    Core::Awake
                }
                Err(end) => Core::Leading(end),
            },
        };
    }

    /// The end of an exit.
    fn obey(&self) -> Core {
        if self.ending {
            Core::Leaving
        } else {
            Core::Guest
        }
    }

    fn look(&mut self, vcpu: usize) -> Core {
        match self.power.next_action(vcpu) {
            NextAction::Wait => self.serve(vcpu),
            NextAction::Start(start) => {
                assert_eq!(start, ENTRY);
                assert!(!self.ending, "marked in a former run: {self:?}");
                Core::Guest
            }
            NextAction::EndRun(end) => {
                assert_eq!(vcpu, FIRST_VCPU);
                for other in &self.cores {
                    let busy = matches!(other, Core::Guest | Core::Lent | Core::Leaving);
                    assert!(!busy, "{self:?}");
                }
                Core::Leading(end)
            }
        }
    }

    /// A core without a vCPU to run.
    fn serve(&self, vcpu: usize) -> Core {
        match self.power.loan(vcpu) {
            Loan::None => Core::Asleep,
            Loan::Lent => Core::Lent,
            Loan::Recalled => Core::Leaving,
        }
    }

    fn act(&mut self, vcpu: usize, wish: usize) -> Core {
        let other = wish / 8 % self.cores.len();
        match wish % 8 {
            0 if wish > 128 => {
                if let Ok(calls) = self.power.lend_core(other) {
                    assert!(other != FIRST_VCPU && other != vcpu);
                    self.call(calls);
                }
            }
            0..=2 => {
                if let Ok(calls) = self.power.request_on(other, ENTRY) {
                    self.call(calls);
                }
            }
            3 => return Core::Leaving,
            4 => {
                if let Some(calls) = self.power.end_after_fault(vcpu) {
                    self.end(calls);
                }
            }
            5 => {
                if let Some(calls) = self.power.request_end(vcpu, RunEnd::Restart) {
                    self.end(calls);
                }
            }
            6 if wish > 200 => {
                if let Some(calls) = self.power.request_end(vcpu, RunEnd::Off) {
                    self.end(calls);
                }
            }
            _ => {}
        }
        self.obey()
    }

    /// Runs every core, with an idle guest, until no state changes.
    fn settle(&mut self) {
        for _ in 0..12 {
            for vcpu in 0..self.cores.len() {
                self.step(vcpu, 7);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn no_core_with_an_action_stays_asleep(
        vcpus in 1..=4usize, restarts in 0..3u32,
        steps in prop::collection::vec((0usize..4, 0usize..256), 0..120),
        orders in prop::collection::vec((0usize..120, any::<bool>()), 0..4),
    ) {
        let mut machine = Machine::new(vcpus, restarts);
        for (step, (vcpu, wish)) in steps.into_iter().enumerate() {
            for &(_, off) in orders.iter().filter(|(at, _)| *at == step) {
                machine.order(if off { RunEnd::Off } else { RunEnd::Restart });
            }
            machine.step(vcpu % vcpus, wish);
        }
        machine.settle();
        let done = machine.power.final_end().is_some();
        match machine.order {
            Some((RunEnd::Restart, runs)) => prop_assert!(machine.runs > runs, "{machine:?}"),
            Some(_) => prop_assert!(done, "{machine:?}"),
            None => {}
        }
        prop_assert_eq!(done, machine.power.end.is_some(), "{:?}", machine);
        for vcpu in 0..vcpus {
            let core = machine.cores[vcpu];
            if done {
                let busy = matches!(core, Core::Guest | Core::Lent | Core::Leaving);
                prop_assert!(!busy, "{:?}", machine);
            } else {
                prop_assert_ne!(machine.power.state(vcpu), PowerState::OnPending, "{:?}", machine);
                prop_assert_eq!(core == Core::Guest, machine.power.state(vcpu) == PowerState::On);
                prop_assert_eq!(core == Core::Lent, machine.power.loan(vcpu) == Loan::Lent);
            }
        }
    }
}

#[test]
fn of_two_faults_at_once_one_counts() {
    let mut power = Power::new(2, 1);
    power.begin_run(ENTRY);
    assert_eq!(power.next_action(0), NextAction::Start(ENTRY));
    assert_eq!(power.request_on(1, ENTRY), Ok(VcpuSet(2)));
    assert_eq!(power.next_action(1), NextAction::Start(ENTRY));
    assert_eq!(power.end_after_fault(1), Some(VcpuSet(1)));
    assert_eq!(power.end_after_fault(0), None);
    assert_eq!(power.mark_stopped(0), VcpuSet(0));
    assert_eq!(
        power.next_action(0),
        NextAction::Wait,
        "vCPU 1 still executes"
    );
    assert_eq!(power.mark_stopped(1), VcpuSet(1), "the first vCPU sleeps");
    assert_eq!(power.next_action(0), NextAction::EndRun(RunEnd::Restart));
    power.begin_run(ENTRY);
    assert_eq!(power.next_action(0), NextAction::Start(ENTRY));
    assert_eq!(power.end_after_fault(0), Some(VcpuSet(0)));
    assert_eq!(power.mark_stopped(0), VcpuSet(0));
    assert_eq!(
        power.next_action(0),
        NextAction::EndRun(RunEnd::Fault),
        "the limit is one"
    );
}

#[test]
fn a_first_vcpu_that_is_turned_off_and_on_does_not_begin_the_run_again() {
    let mut power = Power::new(2, 0);
    power.begin_run(ENTRY);
    assert!(power.is_beginning(FIRST_VCPU) && !power.is_beginning(1));
    assert_eq!(power.next_action(FIRST_VCPU), NextAction::Start(ENTRY));
    assert!(power.is_beginning(FIRST_VCPU), "until all of it is done");
    power.mark_begun();
    assert_eq!(power.request_on(1, ENTRY), Ok(VcpuSet(2)));
    assert_eq!(power.next_action(1), NextAction::Start(ENTRY));
    assert_eq!(power.mark_stopped(FIRST_VCPU), VcpuSet(0));
    assert_eq!(power.request_on(FIRST_VCPU, ENTRY), Ok(VcpuSet(1)));
    assert_eq!(power.next_action(FIRST_VCPU), NextAction::Start(ENTRY));
    assert!(!power.is_beginning(FIRST_VCPU));
    power.begin_run(ENTRY);
    assert!(power.is_beginning(FIRST_VCPU), "the next run");
}

#[test]
fn start_requests_end_with_the_run() {
    let mut power = Power::new(2, 0);
    power.begin_run(ENTRY);
    assert_eq!(power.next_action(0), NextAction::Start(ENTRY));
    assert_eq!(power.request_on(1, ENTRY), Ok(VcpuSet(2)));
    assert_eq!(power.request_end(0, RunEnd::Restart), Some(VcpuSet(0)));
    assert_eq!(power.next_action(1), NextAction::Wait);
    assert_eq!(power.mark_stopped(0), VcpuSet(0));
    assert_eq!(power.next_action(0), NextAction::EndRun(RunEnd::Restart));
    assert_eq!(power.finish_run(RunEnd::Restart, true), Ok(()));
    assert_eq!(
        power.next_action(1),
        NextAction::Wait,
        "while the next one is made ready"
    );
    assert_eq!(power.begin_prepared(ENTRY), Ok(()));
    assert_eq!(power.next_action(1), NextAction::Wait);
    assert_eq!(power.state(1), PowerState::Off);
}

#[test]
fn a_forced_end_can_change_until_it_is_carried_out() {
    let mut power = Power::new(1, 0);
    power.begin_run(ENTRY);
    assert_eq!(power.next_action(0), NextAction::Start(ENTRY));
    assert_eq!(power.request_end(0, RunEnd::Restart), Some(VcpuSet(0)));
    assert_eq!(power.mark_stopped(0), VcpuSet(0));
    assert_eq!(power.next_action(0), NextAction::EndRun(RunEnd::Restart));
    assert_eq!(power.force_end(RunEnd::Off), Some(VcpuSet(1)));
    assert_eq!(power.finish_run(RunEnd::Restart, true), Err(RunEnd::Off));
    assert_eq!(power.final_end(), None, "not carried out yet");
    assert_eq!(power.finish_run(RunEnd::Off, false), Ok(()));
    assert_eq!(power.final_end(), Some(RunEnd::Off));
    assert_eq!(power.force_end(RunEnd::Off), None);
    assert_eq!(power.force_end(RunEnd::Restart), Some(VcpuSet(1)));
    assert_eq!(power.final_end(), None, "it begins again");
    assert_eq!(power.next_action(0), NextAction::EndRun(RunEnd::Restart));
    assert_eq!(power.finish_run(RunEnd::Restart, true), Ok(()));
    assert_eq!(power.force_end(RunEnd::Off), Some(VcpuSet(1)));
    assert_eq!(
        power.begin_prepared(ENTRY),
        Err(RunEnd::Off),
        "while it is made ready"
    );
}

#[test]
fn a_vcpu_starts_only_from_off_and_only_by_request() {
    let mut power = Power::new(2, 0);
    power.begin_run(ENTRY);
    assert_eq!(power.request_on(0, ENTRY), Err(PowerState::OnPending));
    assert_eq!(power.next_action(0), NextAction::Start(ENTRY));
    assert_eq!(power.request_on(0, ENTRY), Err(PowerState::On));
    assert_eq!(power.request_on(2, ENTRY), Err(PowerState::Off));
    assert_eq!(power.request_on(9, ENTRY), Err(PowerState::Off));
    assert_eq!(power.next_action(1), NextAction::Wait);
    assert_eq!(power.next_action(9), NextAction::Wait);
}

/// vCPU 0 is running, and the cores of two others are lent.
fn lending() -> Power {
    let mut power = Power::new(3, 0);
    power.begin_run(ENTRY);
    assert_eq!(power.next_action(0), NextAction::Start(ENTRY));
    for vcpu in 1..3 {
        assert_eq!(power.lend_core(vcpu), Ok(VcpuSet(1 << vcpu)));
        assert_eq!(power.loan(vcpu), Loan::Lent);
    }
    power
}

#[test]
fn a_core_that_is_lent_comes_back_before_its_vcpu_starts() {
    let mut power = lending();
    assert_eq!(power.state(1), PowerState::Off, "as its VM knows it");
    assert_eq!(power.lend_core(1), Ok(VcpuSet(2)), "once more is a call");
    assert_eq!(power.request_on(1, ENTRY), Ok(VcpuSet(2)));
    assert_eq!(power.state(1), PowerState::OnPending);
    assert_eq!(power.request_on(1, ENTRY), Err(PowerState::OnPending));
    assert_eq!(power.lend_core(1), Err(PowerState::OnPending));
    assert_eq!(
        (power.loan(1), power.next_action(1)),
        (Loan::Recalled, NextAction::Wait),
        "its core is elsewhere"
    );
    assert_eq!(power.mark_stopped(1), VcpuSet(0));
    assert_eq!(power.next_action(1), NextAction::Start(ENTRY));
    assert_eq!(power.lend_core(1), Err(PowerState::On));
    assert_eq!(power.loan(2), Loan::Lent);
}

#[test]
fn the_end_of_the_run_waits_for_cores_that_are_lent() {
    let mut power = lending();
    assert_eq!(power.request_end(0, RunEnd::Restart), Some(VcpuSet(6)));
    assert_eq!(power.loan(1), Loan::Recalled);
    assert_eq!(power.lend_core(1), Err(PowerState::Off));
    assert_eq!(power.mark_stopped(0), VcpuSet(0));
    assert_eq!(power.next_action(0), NextAction::Wait);
    assert_eq!(power.mark_stopped(1), VcpuSet(0));
    assert_eq!(power.mark_stopped(2), VcpuSet(1));
    assert_eq!(power.next_action(0), NextAction::EndRun(RunEnd::Restart));
}

#[test]
fn the_last_vcpu_off_ends_the_run_despite_lent_cores() {
    let mut power = lending();
    assert_eq!(power.mark_stopped(0), VcpuSet(6));
    assert_eq!(power.requested_end(), Some(RunEnd::Off));
    assert_eq!(power.mark_stopped(2), VcpuSet(0));
    assert_eq!(power.mark_stopped(1), VcpuSet(1));
    assert_eq!(power.next_action(0), NextAction::EndRun(RunEnd::Off));
}

#[test]
fn the_core_of_the_first_vcpu_or_of_no_vcpu_is_not_lent() {
    let mut power = lending();
    assert_eq!(power.lend_core(0), Err(PowerState::On));
    assert_eq!(power.mark_stopped(0), VcpuSet(6));
    let mut power = Power::new(2, 0);
    power.begin_run(ENTRY);
    assert_eq!(power.lend_core(0), Err(PowerState::OnPending));
    assert_eq!(power.lend_core(2), Err(PowerState::Off));
    assert_eq!(power.lend_core(usize::MAX), Err(PowerState::Off));
}
