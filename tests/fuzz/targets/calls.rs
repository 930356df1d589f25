//! Hypercalls and PSCI, from arbitrary registers in any order.
#![no_main]

use mortise_hypercall::{ARCHITECTURE, Call, Caller, Outcome, PowerState, Start, route};
use mortise_psci::{GROUP, Psci};

const VCPUS: usize = 4;
const MEMORY: std::ops::Range<u64> = 0x4000_0000..0x5000_0000;

struct Vm {
    power: Psci,
    running: usize,
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
        self.power.request_on(vcpu)
    }
    fn kick_console(&mut self) {}
}

libfuzzer_sys::fuzz_target!(|calls: Vec<(u8, [u64; 8])>| {
    let mut vm = Vm {
        power: Psci::new(VCPUS),
        running: 0,
    };
    for (vcpu, registers) in calls {
        vm.running = usize::from(vcpu) % VCPUS;
        vm.power.started(vm.running);
        if route(&[&ARCHITECTURE, &GROUP], &Call::new(registers), &mut vm) == Outcome::VcpuOff {
            vm.power.stopped(vm.running);
        }
    }
});
