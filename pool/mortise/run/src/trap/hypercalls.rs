//! Hypercalls, including PSCI.

use crate::{irq::deliver::interrupts_guest, run::vcpu_run::stop_and_wait};
use core::cell::Cell;
use core_trace::Event;
use mortise_hypercall::Outcome::{SystemOff, SystemReset, VcpuOff};
use mortise_hypercall::{Call, Caller, Group, Outcome, PowerState, Reply, Start, route};
use mortise_machine::{Core, Vm, registry};
use mortise_output::log_drain::drain_ring;
use mortise_psci::RunEnd;
use mortise_state::options;
use mortise_vcpu::Frame;

/// Function identifier of the console kick: fast, SMC64, vendor hypervisor service (SMCCC, 6.2).
pub const CONSOLE_KICK: u32 = 0xc600_0000;

/// Hypercalls of the console.
pub const CONSOLE: Group = Group {
    name: "console",
    brief: None,
    ranges: &[(CONSOLE_KICK, CONSOLE_KICK)],
    handle: |_, caller| match caller.kick_console() {
        true => Outcome::Return(Reply::SUCCESS),
        false => Outcome::Again(0),
    },
};

/// Answers the hypercall in the guest's registers.
pub(crate) fn call(core: &'static Core, vm: &'static Vm, vcpu: usize, frame: &mut Frame) {
    let [x0, x1, x2, x3, x4, x5, x6, x7, ..] = frame.x;
    let call = Call::new([x0, x1, x2, x3, x4, x5, x6, x7]);
    core.record(Event::Call, call.function().into());
    let mut caller = Vcpu {
        core,
        vm,
        vcpu,
        repeat: Cell::new(false),
    };
    let outcome = route(registry::hypercalls(), &call, &mut caller);
    match if caller.repeat.get() {
        Outcome::Again(0)
    } else {
        outcome
    } {
        Outcome::Return(reply) => {
            if reply.is_denied() {
                vm.count_denied(1);
            }
            for (register, value) in frame.x.iter_mut().zip(reply.registers) {
                *register = value;
            }
        }
        // Pending interrupts are taken before a run ends: the guest repeats the call.
        VcpuOff | SystemOff | SystemReset if core.preemption_pending() => {
            mortise_vcpu::repeat_instruction();
        }
        VcpuOff => match core.dispatcher() {
            Some(dispatcher) => dispatcher.stop(core),
            None => stop_and_wait(core, vm, vcpu, frame),
        },
        SystemOff => vm.end(vcpu, RunEnd::Off, core.machine),
        SystemReset => vm.end(vcpu, RunEnd::Restart, core.machine),
        Outcome::Again(progress) => {
            frame.x[0] = u64::from(progress) << 32 | u64::from(call.function());
            mortise_vcpu::repeat_instruction();
        }
    }
}

/// The calling vCPU.
struct Vcpu {
    core: &'static Core,
    vm: &'static Vm,
    vcpu: usize,
    /// Whether an interrupt is pending and nothing was done: the guest repeats the call.
    repeat: Cell<bool>,
}

impl Vcpu {
    /// Whether an interrupt is pending. The result of the call is discarded then.
    fn is_interrupted(&self) -> bool {
        let pending = self.core.preemption_pending();
        if pending {
            self.repeat.set(true);
        }
        pending
    }
}

impl Caller for Vcpu {
    fn vcpu(&self) -> usize {
        self.vcpu
    }

    fn vcpu_with_affinity(&self, affinity: u64) -> Option<usize> {
        if self.is_interrupted() {
            return None;
        }
        // vCPU i has the affinity 0.0.0.i (`mortise_vcpu::Traps::apply`).
        usize::try_from(affinity)
            .ok()
            .filter(|&vcpu| vcpu < self.vm.vcpus())
    }

    fn power_state(&self, vcpu: usize) -> PowerState {
        self.vm.power.lock().state(vcpu)
    }

    fn has_memory_at(&self, address: u64) -> bool {
        let mut regions = self.vm.description().memory();
        regions.any(|region| region.intermediate.holds(address))
    }

    fn start_vcpu(&mut self, vcpu: usize, start: Start) -> Result<(), PowerState> {
        if self.is_interrupted() {
            return Ok(());
        }
        let kicks = self.vm.power.lock().request_on(vcpu, start)?;
        self.vm.kick_cores(kicks, self.core.machine);
        Ok(())
    }

    fn kick_console(&mut self) -> bool {
        !options::log_rings() || drain_log(self.core, self.vm)
    }
}

/// Drains the log ring of the VM that calls; returns false if it takes a pending interrupt first.
#[inline(never)]
fn drain_log(core: &'static Core, vm: &'static Vm) -> bool {
    drain_ring(core.machine, vm, &interrupts_guest(core))
}

#[cfg(test)]
mod tests {
    use crate::run::vcpu_run::CONSTANT_REPLIES;
    use mortise_hypercall::{ARCHITECTURE, Call, Caller, Outcome, PowerState, Reply, Start, route};
    use mortise_vcpu::ConstantReply;

    /// The reply may not depend on the caller.
    struct AnyCaller;

    impl Caller for AnyCaller {
        fn vcpu(&self) -> usize {
            unreachable!()
        }
        fn vcpu_with_affinity(&self, _: u64) -> Option<usize> {
            unreachable!()
        }
        fn power_state(&self, _: usize) -> PowerState {
            unreachable!()
        }
        fn has_memory_at(&self, _: u64) -> bool {
            unreachable!()
        }
        fn start_vcpu(&mut self, _: usize, _: Start) -> Result<(), PowerState> {
            unreachable!()
        }
        fn kick_console(&mut self) -> bool {
            unreachable!()
        }
    }

    #[test]
    fn constant_replies_equal_those_of_the_groups() {
        let (end, answers) = CONSTANT_REPLIES.split_last().unwrap();
        assert_eq!(*end, ConstantReply::END);
        for answer in answers {
            // Whatever the caller has in its other registers.
            let x0 = 0xdead_beef << 32 | u64::from(answer.function());
            let call = Call::new([x0, 1, 2, 3, 4, 5, 6, 7]);
            let outcome = route(
                &[&ARCHITECTURE, &mortise_psci::GROUP],
                &call,
                &mut AnyCaller,
            );
            assert_eq!(outcome, Outcome::Return(Reply::value(answer.value())));
        }
    }
}
