//! Random histories against a naive model: one bit per interrupt, set when it is pended, checked and
//! cleared when the guest acknowledges it.

use super::machine::*;
use crate::*;
use proptest::prelude::*;
use std::collections::BTreeMap;

#[derive(Clone, Debug)]
enum Step {
    /// From one vCPU to a set of them.
    Sgi(usize, u32, u32),
    /// A change of the line of a virtual SPI, on some core.
    Line(usize, u32, bool),
    /// A physical interrupt.
    Raise(u32, usize),
    Acknowledge(usize),
    End(usize),
    Enable(usize, u32, bool),
    Priority(usize, u32, u8),
    Route(usize, u32, u64),
    SetPending(usize, u32),
    /// A pulse on the core of a vCPU.
    PulseLocal(usize, u32),
    ClearPending(usize, u32),
    /// Any exit of a vCPU.
    Exit(usize),
}

const VIRTUAL_EDGE: [u32; 4] = [64, 65, 66, 67];
const VIRTUAL_LEVEL: [u32; 3] = [33, 70, 71];

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let vcpu = || 0..VCPUS;
    let line = || prop::sample::select([&VIRTUAL_EDGE[..], &VIRTUAL_LEVEL[..]].concat());
    let shared = || prop_oneof![line(), 40u32..48];
    let hardware = || prop_oneof![3 => 40u32..48, 2 => Just(TIMER)];
    let every = || prop_oneof![0u32..16, Just(TIMER), shared()];
    let step = prop_oneof![
        4 => (vcpu(), 0u32..16, 0u32..8).prop_map(|(v, i, t)| Step::Sgi(v, i, t)),
        4 => (vcpu(), line(), any::<bool>()).prop_map(|(v, i, high)| Step::Line(v, i, high)),
        4 => (hardware(), vcpu()).prop_map(|(i, v)| Step::Raise(i, v)),
        8 => vcpu().prop_map(Step::Acknowledge),
        6 => vcpu().prop_map(Step::End),
        2 => (vcpu(), every(), any::<bool>()).prop_map(|(v, i, on)| Step::Enable(v, i, on)),
        2 => (vcpu(), every(), 0u8..16).prop_map(|(v, i, p)| Step::Priority(v, i, p << 4)),
        2 => (vcpu(), shared(), 0..VCPUS as u64).prop_map(|(v, i, to)| Step::Route(v, i, to)),
        1 => (vcpu(), every()).prop_map(|(v, i)| Step::SetPending(v, i)),
        1 => (vcpu(), every()).prop_map(|(v, i)| Step::ClearPending(v, i)),
        4 => (vcpu(), line()).prop_map(|(v, i)| Step::PulseLocal(v, i)),
        4 => vcpu().prop_map(Step::Exit),
    ];
    prop::collection::vec(step, 1..300)
}

/// The VM and its model. Private interrupts are distinguished by their vCPU.
struct History {
    machine: Machine,
    /// Kicks are handled at once, so that the model knows which interrupt must be signalled.
    prompt: bool,
    /// Kicks have always been handled at once.
    exact: bool,
    /// Pended and not acknowledged since. The number counts the acknowledgements that may follow: with late
    /// kicks, one or both of two pulses in flight may be acknowledged.
    pending: BTreeMap<(u32, usize), (bool, usize)>,
    lines: BTreeMap<u32, bool>,
}

impl History {
    fn new(list_registers: usize, prompt: bool) -> Self {
        let mut machine = Machine::running(list_registers);
        // 64 to 67 are edge-triggered.
        machine.write(0, Frame::Distributor, 0xc10, 0xaa);
        Self {
            machine,
            prompt,
            exact: prompt,
            pending: BTreeMap::new(),
            lines: BTreeMap::new(),
        }
    }

    fn key(intid: u32, vcpu: usize) -> (u32, usize) {
        (intid, if intid < 32 { vcpu } else { 0 })
    }

    fn set(&mut self, intid: u32, vcpu: usize, pending: bool) {
        let entry = self.pending.entry(Self::key(intid, vcpu)).or_default();
        *entry = (pending, if pending { entry.1 + 1 } else { 0 });
    }

    /// An acknowledgement for a level, or for one that fell while the kick is late, does not consume a
    /// pending state set by a write.
    fn take(&mut self, intid: u32, vcpu: usize, kicked: bool) -> bool {
        let was = self.is_pending(intid, vcpu);
        let high = self.lines.get(&intid) == Some(&true);
        let line = VIRTUAL_LEVEL.contains(&intid) && (high || kicked);
        let entry = self.pending.entry(Self::key(intid, vcpu)).or_default();
        let due = was || line || !self.exact && entry.1 > 0;
        *entry = (false, entry.1.saturating_sub(usize::from(!line)));
        due
    }

    fn is_pending(&self, intid: u32, vcpu: usize) -> bool {
        self.pending
            .get(&Self::key(intid, vcpu))
            .is_some_and(|entry| entry.0)
            || VIRTUAL_LEVEL.contains(&intid) && self.lines.get(&intid) == Some(&true)
    }

    fn frame(intid: u32, vcpu: usize) -> Frame {
        if intid < 32 {
            Frame::Sgi(vcpu)
        } else {
            Frame::Distributor
        }
    }

    fn write_bit(&mut self, vcpu: usize, intid: u32, bank: usize) {
        let offset = bank + 4 * (intid as usize / 32);
        self.machine
            .write(vcpu, Self::frame(intid, vcpu), offset, 1 << (intid % 32));
        // An interrupt that became enabled may be signalled at once.
        if bank == 0x100 || bank == 0x200 || bank == 0x280 {
            self.machine.signal_all();
        }
    }

    fn step(&mut self, step: &Step) {
        let machine = &mut self.machine;
        match *step {
            Step::Sgi(vcpu, intid, targets) => {
                machine.sgi(vcpu, u64::from(intid) << 24 | u64::from(targets));
                let reached = (0..VCPUS).filter(|v| targets >> v & 1 != 0);
                reached.for_each(|target| self.set(intid, target, true));
            }
            Step::Line(vcpu, intid, high) => {
                machine.line(vcpu, intid, high);
                let rose = high && self.lines.insert(intid, high) != Some(true);
                self.lines.insert(intid, high);
                if rose && VIRTUAL_EDGE.contains(&intid) {
                    self.set(intid, 0, true);
                }
            }
            Step::Raise(intid, vcpu) => {
                machine.raise(intid, vcpu);
            }
            Step::Acknowledge(vcpu) => self.acknowledge(vcpu),
            Step::End(vcpu) => {
                machine.end(vcpu);
            }
            Step::Enable(vcpu, intid, true) => self.write_bit(vcpu, intid, 0x100),
            Step::Enable(vcpu, intid, false) => self.write_bit(vcpu, intid, 0x180),
            Step::Priority(vcpu, intid, priority) => {
                // Interrupts end in the order of their priorities at acknowledgement.
                let running = |core: &Core| core.running.iter().any(|&(i, _)| i == intid);
                if !machine.cores.iter().any(running) {
                    let (frame, offset) = (Self::frame(intid, vcpu), 0x400 + intid as usize);
                    let (width, operation) = (Width::Byte, Operation::Write(priority.into()));
                    machine.access(
                        vcpu,
                        Access {
                            frame,
                            offset,
                            width,
                            operation,
                        },
                    );
                }
            }
            Step::Route(vcpu, intid, to) => machine.route(vcpu, intid, to),
            Step::SetPending(vcpu, intid) => {
                self.write_bit(vcpu, intid, 0x200);
                if intid != TIMER && !(40..48).contains(&intid) {
                    self.set(intid, vcpu, true);
                }
            }
            Step::ClearPending(vcpu, intid) => {
                machine.save_lrs(vcpu);
                let elsewhere = machine.vgic.bank(vcpu, intid).unwrap().listed;
                machine.refresh(vcpu);
                if elsewhere >> (intid % 32) & 1 == 0 {
                    self.arrivals();
                    self.set(intid, vcpu, false);
                    self.write_bit(vcpu, intid, 0x280);
                }
            }
            Step::PulseLocal(vcpu, intid) => {
                machine.pulse_local(vcpu, intid);
                self.set(intid, 0, true);
            }
            Step::Exit(vcpu) => machine.refresh(vcpu),
        }
        self.handle_events();
    }

    /// Handles maintenance interrupts at once, and kicks if `prompt`.
    fn handle_events(&mut self) {
        while let Some(vcpu) = (0..VCPUS).find(|&vcpu| {
            let core = &self.machine.cores[vcpu];
            core.maintenance_asserted() || self.prompt && core.kicked
        }) {
            self.machine.refresh(vcpu);
        }
        self.arrivals();
    }

    /// A physical interrupt is pending for the guest when EL2 acknowledges it. One that is pended again
    /// before its end is another, which the physical GIC holds back.
    fn arrivals(&mut self) {
        for (intid, vcpu) in std::mem::take(&mut self.machine.taken) {
            assert!(
                !self.is_pending(intid, vcpu),
                "{intid} signalled while active"
            );
            self.set(intid, vcpu, true);
        }
    }

    fn acknowledge(&mut self, vcpu: usize) {
        self.arrivals();
        let kicked = self.machine.cores[vcpu].kicked;
        let running = self.machine.cores[vcpu]
            .running
            .last()
            .map_or(0x100, |r| u16::from(r.1));
        let Some(intid) = self.machine.acknowledge(vcpu) else {
            if self.prompt {
                assert_eq!(self.waiting(vcpu, running), None, "left out on vCPU {vcpu}");
            }
            return;
        };
        let due = self.take(intid, vcpu, kicked);
        assert!(due, "{intid} twice on vCPU {vcpu}");
        if self.prompt {
            let taken = u16::from(self.machine.cores[vcpu].running.last().unwrap().1);
            assert_eq!(self.waiting(vcpu, taken), None, "more urgent than {intid}");
        }
    }

    /// An interrupt more urgent than this priority that this vCPU should be acknowledging.
    fn waiting(&self, vcpu: usize, below: u16) -> Option<u32> {
        let vgic = &self.machine.vgic;
        let is_active = |intid| {
            let mut cores = self.machine.cores.iter().enumerate();
            cores.any(|(v, core)| {
                (intid >= 32 || v == vcpu) && core.running.iter().any(|&(i, _)| i == intid)
            })
        };
        (0..288).find(|&intid| {
            let Some(bank) = vgic.bank(vcpu, intid) else {
                return false;
            };
            let bit = intid % 32;
            self.is_pending(intid, vcpu)
                && bank.enabled >> bit & 1 != 0
                && u16::from(bank.priority(bit)) < below
                && usize::from(bank.route(bit)) == vcpu
                && !is_active(intid)
        })
    }

    /// Runs until no interrupt is pending: all pended ones have been acknowledged, and no others.
    fn settle(&mut self) {
        self.prompt = true;
        for vcpu in 0..VCPUS {
            self.machine
                .write(vcpu, Frame::Sgi(vcpu), 0x100, u32::MAX.into());
        }
        for row in 1..9 {
            self.machine
                .write(0, Frame::Distributor, 0x100 + 4 * row, u32::MAX.into());
        }
        self.machine.signal_all();
        self.handle_events();
        for round in 0.. {
            assert!(round < 1000, "no end: {:?}", self.pending);
            let mut quiet = true;
            for vcpu in 0..VCPUS {
                self.acknowledge(vcpu);
                self.handle_events();
                // The handler serves the device.
                if let Some(&(intid, _)) = self.machine.cores[vcpu].running.last() {
                    quiet = false;
                    if intid >= 32 && self.lines.insert(intid, false) == Some(true) {
                        self.machine.line(vcpu, intid, false);
                        self.handle_events();
                    }
                    self.machine.end(vcpu);
                    self.handle_events();
                }
            }
            if quiet {
                break;
            }
        }
        let taken = self.pending.values().all(|entry| !entry.0);
        assert!(taken, "lost: {:?}", self.pending);
        for vcpu in 0..VCPUS {
            self.machine.refresh(vcpu);
            let core = &self.machine.cores[vcpu];
            assert!(
                core.lists.iter().all(|list| list.is_free()),
                "{:?}",
                core.lists
            );
            assert!(
                core.sources.iter().all(|source| !source.active),
                "never ended"
            );
            assert_eq!(core.maintenance, Maintenance::NONE);
        }
    }
}

fn run(steps: &[Step], list_registers: usize, prompt: bool, yield_pattern: u64) {
    let mut history = History::new(list_registers, prompt);
    history.machine.yield_pattern = yield_pattern;
    steps.iter().for_each(|step| history.step(step));
    history.settle();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn nothing_is_lost_doubled_or_out_of_order(steps in steps(), list_registers in 1usize..6) {
        run(&steps, list_registers, true, 0);
    }

    #[test]
    fn nothing_is_lost_or_doubled_with_late_kicks(steps in steps(), list_registers in 1usize..6) {
        run(&steps, list_registers, false, 0);
    }

    /// With `should_yield` true at arbitrary calls.
    #[test]
    fn nothing_is_lost_or_doubled_where_calls_go_back_early(
        steps in steps(),
        list_registers in 1usize..6,
        prompt in any::<bool>(),
        wanted in 1u64..,
    ) {
        run(&steps, list_registers, prompt, wanted);
    }
}

#[test]
fn is_listed_again_while_the_kick_for_a_new_priority_is_outstanding() {
    let steps = [
        Step::SetPending(1, 0),
        Step::Route(0, 45, 1),
        Step::Raise(45, 0),
        Step::Acknowledge(1),
        Step::End(1),
        Step::Raise(45, 0),
        Step::Priority(0, 45, 0),
        Step::Acknowledge(1),
        Step::End(1),
        Step::Raise(45, 0),
    ];
    run(&steps, 1, false, 0);
}
