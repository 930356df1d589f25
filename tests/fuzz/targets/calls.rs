//! Hypercalls and PSCI calls with arbitrary registers in any order.
#![cfg_attr(fuzzing, no_main)]

#[macro_use]
mod any;

use mortise_hypercall::{ARCHITECTURE, Call, Caller, Outcome, PowerState, Start, route};
use mortise_psci::{FIRST_VCPU, GROUP, NextAction, Power, RunEnd};

const VCPUS: usize = 4;
const MEMORY: std::ops::Range<u64> = 0x4000_0000..0x5000_0000;
const BOOT: Start = Start {
    entry: MEMORY.start,
    argument: 0,
};

struct Vm {
    power: Power,
    running: usize,
}

impl Vm {
    /// Action of a core with a vCPU that may not execute.
    fn rest(&mut self, vcpu: usize) {
        match self.power.next_action(vcpu) {
            NextAction::Wait => {}
            NextAction::Start(start) => assert!(MEMORY.contains(&start.entry)),
            NextAction::EndRun(_) => {
                assert_eq!(vcpu, FIRST_VCPU, "another one leads");
                for vcpu in 0..VCPUS {
                    assert_eq!(self.power.state(vcpu), PowerState::Off, "one runs on");
                }
                self.power.begin_run(BOOT);
            }
        }
    }
}

impl Caller for Vm {
    fn vcpu(&self) -> usize {
        self.running
    }
    fn vcpu_with_affinity(&self, affinity: u64) -> Option<usize> {
        usize::try_from(affinity).ok().filter(|&vcpu| vcpu < VCPUS)
    }
    fn power_state(&self, vcpu: usize) -> PowerState {
        self.power.state(vcpu)
    }
    fn has_memory_at(&self, address: u64) -> bool {
        MEMORY.contains(&address)
    }
    fn start_vcpu(&mut self, vcpu: usize, start: Start) -> Result<(), PowerState> {
        assert!(
            vcpu < VCPUS && MEMORY.contains(&start.entry),
            "a start that was not checked"
        );
        self.power.request_on(vcpu, start).map(drop)
    }
    fn kick_console(&mut self) -> bool {
        true
    }
}

target!(|calls: Vec<(u8, [u64; 8])>| {
    let mut vm = Vm {
        power: Power::new(VCPUS, 1),
        running: 0,
    };
    vm.power.begin_run(BOOT);
    for (which, mut registers) in calls {
        // Function numbers of PSCI, which random inputs rarely hit.
        if which & 0x80 != 0 {
            registers[0] = 0x8400_0000 | registers[0] & 0x4000_001f;
        }
        let vcpu = usize::from(which) % VCPUS;
        vm.running = vcpu;
        vm.rest(vcpu);
        if vm.power.state(vcpu) != PowerState::On {
            continue;
        }
        let end = match route(&[&ARCHITECTURE, &GROUP], &Call::new(registers), &mut vm) {
            Outcome::SystemOff => Some(RunEnd::Off),
            Outcome::SystemReset => Some(RunEnd::Restart),
            Outcome::VcpuOff => None,
            // At the end of a run all executing vCPUs are stopped.
            _ if vm.power.requested_end().is_some() => None,
            _ => continue,
        };
        let _called = end.and_then(|end| vm.power.request_end(vcpu, end));
        let _called = vm.power.mark_stopped(vcpu);
    }
});
