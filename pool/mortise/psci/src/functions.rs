//! PSCI functions.

use mortise_hypercall::{Call, Caller, Group, Outcome, PowerState, Reply, SMCCC_VERSION, Start};

/// Function identifiers (DEN 0022, 5.1); those of SMC64 forms include [`SMC64`].
mod function {
    pub(super) const VERSION: u32 = 0x8400_0000;
    pub(super) const CPU_SUSPEND: u32 = 0x8400_0001;
    pub(super) const CPU_OFF: u32 = 0x8400_0002;
    pub(super) const CPU_ON: u32 = 0x8400_0003;
    pub(super) const AFFINITY_INFO: u32 = 0x8400_0004;
    pub(super) const MIGRATE_INFO_TYPE: u32 = 0x8400_0006;
    pub(super) const SYSTEM_OFF: u32 = 0x8400_0008;
    pub(super) const SYSTEM_RESET: u32 = 0x8400_0009;
    pub(super) const FEATURES: u32 = 0x8400_000a;
    pub(super) const SYSTEM_RESET2: u32 = 0x8400_0012;
    pub(super) const SMC64: u32 = 0x4000_0000;

    pub(super) const CPU_SUSPEND_64: u32 = CPU_SUSPEND | SMC64;
    pub(super) const CPU_ON_64: u32 = CPU_ON | SMC64;
    pub(super) const AFFINITY_INFO_64: u32 = AFFINITY_INFO | SMC64;
    pub(super) const SYSTEM_RESET2_64: u32 = SYSTEM_RESET2 | SMC64;
}

/// Error codes (DEN 0022, 5.2.2).
mod status {
    use super::Reply;

    pub(super) const INVALID_PARAMETERS: Reply = Reply::status(-2);
    pub(super) const ALREADY_ON: Reply = Reply::status(-4);
    pub(super) const ON_PENDING: Reply = Reply::status(-5);
    pub(super) const INTERNAL_FAILURE: Reply = Reply::status(-6);
    pub(super) const INVALID_ADDRESS: Reply = Reply::status(-9);
}

/// PSCI_VERSION and its constant result, 1.1.
pub const VERSION: (u32, u64) = (function::VERSION, VERSION_1_1);
const VERSION_1_1: u64 = 0x1_0001;
/// MIGRATE_INFO_TYPE: no trusted OS.
const NO_TRUSTED_OS: u64 = 2;
/// SYSTEM_WARM_RESET, the only type of SYSTEM_RESET2 that is not vendor-specific (5.14).
const WARM_RESET: u64 = 0;
/// Affinity fields of MPIDR_EL1: Aff3 in bits 39:32, Aff2 to Aff0 in bits 23:0.
const AFFINITY: u64 = 0xff_00ff_ffff;

/// The PSCI functions, as SMC32 and SMC64.
pub const GROUP: Group = Group {
    name: "PSCI",
    brief: None,
    ranges: &[
        (function::VERSION, function::VERSION + 0x1f),
        (
            function::VERSION | function::SMC64,
            (function::VERSION | function::SMC64) + 0x1f,
        ),
    ],
    handle,
};

fn handle(call: &Call, caller: &mut dyn Caller) -> Outcome {
    let reply = match call.function() {
        function::VERSION => Reply::value(VERSION_1_1),
        function::FEATURES => features(call.argument(1) as u32),
        function::CPU_ON | function::CPU_ON_64 => cpu_on(call, caller),
        function::AFFINITY_INFO | function::AFFINITY_INFO_64 => affinity_info(call, caller),
        // A standby state that ends at once (5.4.3: an implementation may wake up at any time).
        function::CPU_SUSPEND | function::CPU_SUSPEND_64 => Reply::SUCCESS,
        function::MIGRATE_INFO_TYPE => Reply::value(NO_TRUSTED_OS),
        function::CPU_OFF => return Outcome::VcpuOff,
        function::SYSTEM_OFF => return Outcome::SystemOff,
        function::SYSTEM_RESET => return Outcome::SystemReset,
        function::SYSTEM_RESET2 | function::SYSTEM_RESET2_64 => match call.argument(1) {
            WARM_RESET => return Outcome::SystemReset,
            _ => status::INVALID_PARAMETERS,
        },
        _ => Reply::NOT_SUPPORTED,
    };
    reply.into()
}

/// PSCI_FEATURES (5.15): zero for supported functions. Linux queries it for SMCCC_VERSION too, before it
/// relies on a version of the convention above 1.0.
fn features(function: u32) -> Reply {
    match function {
        function::VERSION
        | function::FEATURES
        | function::CPU_ON
        | function::CPU_ON_64
        | function::CPU_OFF
        | function::CPU_SUSPEND
        | function::CPU_SUSPEND_64
        | function::AFFINITY_INFO
        | function::AFFINITY_INFO_64
        | function::MIGRATE_INFO_TYPE
        | function::SYSTEM_OFF
        | function::SYSTEM_RESET
        | function::SYSTEM_RESET2
        | function::SYSTEM_RESET2_64
        | SMCCC_VERSION => Reply::SUCCESS,
        _ => Reply::NOT_SUPPORTED,
    }
}

/// The vCPU of an affinity argument, which must have no bit outside the affinity fields.
fn vcpu_of(caller: &dyn Caller, argument: u64) -> Option<usize> {
    (argument & !AFFINITY == 0).then(|| caller.vcpu_with_affinity(argument))?
}

fn cpu_on(call: &Call, caller: &mut dyn Caller) -> Reply {
    let Some(vcpu) = vcpu_of(caller, call.argument(1)) else {
        return status::INVALID_PARAMETERS;
    };
    let start = Start {
        entry: call.argument(2),
        argument: call.argument(3),
    };
    if !start.entry.is_multiple_of(4) || !caller.has_memory_at(start.entry) {
        return status::INVALID_ADDRESS;
    }
    match caller.start_vcpu(vcpu, start) {
        Ok(()) => Reply::SUCCESS,
        Err(PowerState::On) => status::ALREADY_ON,
        Err(PowerState::OnPending) => status::ON_PENDING,
        Err(PowerState::Off) => status::INTERNAL_FAILURE,
    }
}

fn affinity_info(call: &Call, caller: &dyn Caller) -> Reply {
    let lowest_level = call.argument(2);
    match vcpu_of(caller, call.argument(1)) {
        // From 1.0 on, levels above the cores are optional (5.7.1).
        Some(vcpu) if lowest_level == 0 => Reply::value(caller.power_state(vcpu) as u64),
        _ => status::INVALID_PARAMETERS,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{NextAction, Power};
    use mortise_hypercall::{ARCHITECTURE, disjoint, route};
    use proptest::prelude::*;

    /// A VM of three vCPUs with affinities 0 to 2 and memory from 0x1000 to 0x1fff.
    struct Vm {
        power: Power,
        started: Vec<(usize, Start)>,
    }

    impl Vm {
        fn new() -> Self {
            let mut power = Power::new(3, 0);
            power.begin_run(Start {
                entry: 0x1000,
                argument: 0,
            });
            assert!(matches!(power.next_action(0), NextAction::Start(_)));
            Self {
                power,
                started: Vec::new(),
            }
        }

        fn call(&mut self, function: u32, arguments: [u64; 3]) -> Outcome {
            let [x1, x2, x3] = arguments;
            let call = Call::new([function.into(), x1, x2, x3, 0, 0, 0, 0]);
            route(&[&ARCHITECTURE, &GROUP], &call, self)
        }

        fn status(&mut self, function: u32, arguments: [u64; 3]) -> i64 {
            match self.call(function, arguments) {
                Outcome::Return(reply) => reply.registers[0] as i64,
                other => panic!("{other:?}"),
            }
        }
    }

    impl Caller for Vm {
        fn vcpu(&self) -> usize {
            0
        }
        fn vcpu_with_affinity(&self, affinity: u64) -> Option<usize> {
            usize::try_from(affinity).ok().filter(|vcpu| *vcpu < 3)
        }
        fn power_state(&self, vcpu: usize) -> PowerState {
            self.power.state(vcpu)
        }
        fn has_memory_at(&self, address: u64) -> bool {
            (0x1000..0x2000).contains(&address)
        }
        fn start_vcpu(&mut self, vcpu: usize, start: Start) -> Result<(), PowerState> {
            let _calls = self.power.request_on(vcpu, start)?;
            self.started.push((vcpu, start));
            Ok(())
        }
        fn kick_console(&mut self) -> bool {
            true
        }
    }

    const _: () = assert!(disjoint(&ARCHITECTURE, &GROUP));

    #[test]
    fn linux_finds_the_functions_it_queries() {
        let mut vm = Vm::new();
        assert_eq!(vm.status(function::VERSION, [0; 3]), 0x1_0001);
        assert_eq!(
            vm.status(function::FEATURES, [SMCCC_VERSION.into(), 0, 0]),
            0
        );
        assert_eq!(vm.status(SMCCC_VERSION, [0; 3]), 0x1_0001);
        assert_eq!(vm.status(function::MIGRATE_INFO_TYPE, [0; 3]), 2);
        assert_eq!(vm.status(function::CPU_SUSPEND_64, [0; 3]), 0);
        assert_eq!(vm.status(function::FEATURES, [0x8400_0012, 0, 0]), 0);
        assert_eq!(vm.status(function::FEATURES, [0x8400_0013, 0, 0]), -1); // MEM_PROTECT
        assert_eq!(vm.status(0x8400_0005, [0; 3]), -1); // MIGRATE
    }

    #[test]
    fn a_vcpu_is_started_once() {
        let mut vm = Vm::new();
        let arguments = [1, 0x1004, 0xabcd];
        let start = Start {
            entry: 0x1004,
            argument: 0xabcd,
        };
        assert_eq!(vm.status(function::AFFINITY_INFO_64, [1, 0, 0]), 1);
        assert_eq!(vm.status(function::CPU_ON_64, arguments), 0);
        assert_eq!(vm.started, [(1, start)]);
        assert_eq!(vm.status(function::AFFINITY_INFO, [1, 0, 0]), 2);
        assert_eq!(vm.status(function::CPU_ON, arguments), -5);
        assert_eq!(vm.power.next_action(1), NextAction::Start(start));
        assert_eq!(vm.status(function::AFFINITY_INFO, [1, 0, 0]), 0);
        assert_eq!(vm.status(function::CPU_ON, arguments), -4);
        assert_eq!(vm.status(function::CPU_ON, [0, 0x1000, 0]), -4); // itself
    }

    #[test]
    fn bad_arguments_start_nothing() {
        let mut vm = Vm::new();
        assert_eq!(vm.status(function::CPU_ON_64, [3, 0x1000, 0]), -2);
        assert_eq!(vm.status(function::CPU_ON_64, [1 << 31 | 1, 0x1000, 0]), -2);
        assert_eq!(vm.status(function::CPU_ON_64, [1, 0x2000, 0]), -9);
        assert_eq!(vm.status(function::CPU_ON_64, [1, 0x1002, 0]), -9);
        assert_eq!(vm.status(function::CPU_ON_64, [1, u64::MAX, 0]), -9);
        assert_eq!(vm.status(function::AFFINITY_INFO, [1, 1, 0]), -2);
        assert_eq!(vm.status(function::AFFINITY_INFO, [7, 0, 0]), -2);
        assert!(vm.started.is_empty());
    }

    #[test]
    fn some_calls_do_not_return() {
        let mut vm = Vm::new();
        assert_eq!(vm.call(function::CPU_OFF, [0; 3]), Outcome::VcpuOff);
        assert_eq!(vm.call(function::SYSTEM_OFF, [0; 3]), Outcome::SystemOff);
        assert_eq!(
            vm.call(function::SYSTEM_RESET, [0; 3]),
            Outcome::SystemReset
        );
        for reset in [function::SYSTEM_RESET2, function::SYSTEM_RESET2_64] {
            assert_eq!(vm.call(reset, [0, 7, 0]), Outcome::SystemReset);
            assert_eq!(vm.status(reset, [1, 0, 0]), -2);
            assert_eq!(vm.status(reset, [1 << 31, 0, 0]), -2); // a vendor's type
        }
        // Functions without a 64-bit form.
        assert_eq!(vm.status(function::CPU_OFF | function::SMC64, [0; 3]), -1);
    }

    proptest! {
        #[test]
        fn any_calls_start_only_stopped_vcpus_and_only_in_memory(
            calls in prop::collection::vec(
                (prop_oneof![0x8400_0000u32..0x8400_0020, 0xc400_0000u32..0xc400_0020, any::<u32>()],
                 prop_oneof![0u64..4, any::<u64>()], prop_oneof![0xffcu64..0x2004, any::<u64>()], any::<u64>()),
                0..40,
            ),
        ) {
            let mut vm = Vm::new();
            for (function, x1, x2, x3) in calls {
                let _ = vm.call(function, [x1, x2, x3]);
            }
            let mut vcpus: Vec<_> = vm.started.iter().map(|(vcpu, _)| *vcpu).collect();
            vcpus.sort_unstable();
            vcpus.dedup();
            prop_assert_eq!(vcpus.len(), vm.started.len());
            prop_assert!(vm.started.iter().all(|(vcpu, start)| *vcpu > 0 && vm.has_memory_at(start.entry)));
        }
    }
}
