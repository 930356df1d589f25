//! Life cycle hypercalls: creation, start, pause, restart and destruction of VMs at run time.
//!
//! # Purpose
//!
//! A guest with authority (a manager) creates VMs from a reserve of memory, as the instances of the
//! paper (TenonOS paper, 4.4.3), and controls those VMs made at boot over which it has authority.
//! Functions from `0xC600_0100` on; x0 returns:
//!
//! | x0 | |
//! |---|---|
//! | 0 | success |
//! | -1 | no such function |
//! | -2 | invalid arguments |
//! | -3 | the caller has no authority; counted |
//! | -4 | the reserve, or the caller's share of it, is exhausted |
//! | -5 | wrong state, or another call is in progress on the VM |
//! | -6 | no such VM |
//!
//! [`Request`] lists the calls, `docs/lifecycle.md` their registers.
//!
//! # Guarantees
//!
//! - **Bounded latency.** Operations run in steps. If an interrupt is pending after one, the caller
//!   repeats its call once the interrupt is served ([`mortise_hypercall::Outcome::Again`]). What a
//!   caller does not complete is destroyed by its next call, by the next DESTROY of that VM, or when
//!   the caller's run ends.
//! - **No leaks.** A call that fails has taken nothing; the memory of a VM is returned to the
//!   reserve, scrubbed ([`Registry`]).
//! - **One VM per handle.** A handle names one occupant of a slot. Memory changes its owner only
//!   when none of the VM's vCPUs is on a core and no translation of it is left.
//! - No lock is held while memory is copied.
#![cfg_attr(not(test), no_std)]
#![expect(unsafe_code, reason = "memory of guests is copied and scrubbed")]

mod calls;
mod error;
mod executor;
mod operation;
mod registry;
mod request;
mod setup;
mod stop;

pub use error::Error;
pub use operation::{Operation, Phase};
pub use registry::{Caller, MANAGERS, Record, Registry, SLOTS};
pub use request::{FIRST, LAST, Request};

use calls::CallContext;
use core_manifest::{Dynamic, System};
use core_memory::{Blocks, PhysicalRange};
use core_sync::TicketLock;
use executor::Executor;
use mortise_hypercall::{Call, Group, Outcome, Reply};
use mortise_instance::{Authority, BLOCK, Event, State, Subject};
use mortise_partition::{Core, Machine, Manifest, Ready, Vm, VmExtension, add_slot};
use mortise_psci::RunEnd;
use setup::Setup;
use spin::Once;
use stop::{Progress, Stop, check_pending};

/// Life cycle state of an image's VMs.
pub struct Lifecycle {
    setup: Once<Setup>,
    registry: TicketLock<Registry>,
}

/// Entry in the table of VM extensions.
pub static LIFECYCLE: Lifecycle = Lifecycle {
    setup: Once::new(),
    registry: TicketLock::new(Registry::CLOSED),
};

/// Hypercall group.
pub const GROUP: Group = Group {
    name: "life cycle",
    brief: None,
    ranges: &[(FIRST, LAST)],
    handle: |call, _| LIFECYCLE.handle(call),
};

impl Lifecycle {
    fn handle(&self, call: &Call) -> Outcome {
        let core = Core::current();
        let Some(((vm, vcpu), executor)) = core.current_vcpu().zip(self.executor(core)) else {
            return Reply::NOT_SUPPORTED.into();
        };
        let caller = Caller {
            vm: vm.index(),
            vcpu,
        };
        let managers = &executor.setup.managers;
        let authority = managers.get(caller.vm).unwrap_or(&Authority::NONE);
        match self.dispatch(call, executor, vm, caller, authority) {
            Ok(outcome) => outcome,
            Err(Stop::Again(progress)) => Outcome::Again(progress),
            // A call that failed has changed nothing and fails again when it is repeated.
            Err(Stop::Failed(_)) if check_pending(call.progress()).is_err() => {
                Outcome::Again(call.progress())
            }
            Err(Stop::Failed(error)) => {
                if error == Error::Denied {
                    self.registry.lock().count_denied(caller);
                }
                Outcome::Return(error.into())
            }
        }
    }

    fn dispatch(
        &self,
        call: &Call,
        executor: Executor<'_>,
        vm: &'static Vm,
        caller: Caller,
        authority: &Authority,
    ) -> Result<Outcome, Stop> {
        check_pending(call.progress())?;
        if !authority.is_any() {
            return Err(Error::Denied.into());
        }
        let request = Request::parse(call)?;
        check_pending(call.progress())?;
        CallContext {
            executor,
            vm,
            caller,
            authority,
            call,
        }
        .execute(request)
    }

    /// Records the end of a VM's run, and completes a DESTROY that did not wait for its last core.
    fn note_end(&self, vm: &'static Vm) {
        // The lock serialises this with calls that decide about the VM's end.
        let mut registry = self.registry.lock();
        let event = match vm.end_decided() {
            Some(RunEnd::Fault) => Event::Faulted,
            Some(RunEnd::Restart) if !vm.is_slot() => return,
            Some(RunEnd::Off | RunEnd::Restart) => Event::TurnedOff,
            None => return,
        };
        if let Some(record) = registry.record_mut(vm.index()) {
            // A VM that is being restarted or destroyed keeps that state.
            let _other = record.apply(event);
        }
        if vm.is_abandoned() {
            // A DESTROY that did not wait for the VM's last core is completed here.
            let _gone = registry.empty(vm.index(), Event::Destroyed);
        }
    }

    /// Ends what calls of a VM began that has ended: a creation is undone here, in steps; a
    /// destruction, start or restart, which may wait for other cores, goes on when the core of its VM
    /// is idle. Returns whether work is left.
    fn settle_calls(&self, machine: &'static Machine, manager: usize) -> bool {
        let Some(executor) = self.executor(Core::current()) else {
            return false;
        };
        let mut registry = self.registry.lock();
        let retired = registry.retire_destroyed(manager);
        if let Some(slot) = retired.or_else(|| registry.adopt_start(manager)) {
            drop(registry);
            if let Some(vm) = machine.vm(slot) {
                vm.kick_all(machine);
            }
            return true;
        }
        let Some(slot) = registry.orphan(manager) else {
            return false;
        };
        let undone = match registry.record(slot).and_then(|record| record.operation) {
            Some((Operation::Create(_), _)) => registry.undo_creation(slot),
            _ => Ok(false),
        };
        drop(registry);
        match undone {
            Ok(true) => true,
            Ok(false) => executor.advance(slot).is_ok(),
            Err(_) => false,
        }
    }

    fn executor(&self, core: &'static Core) -> Option<Executor<'_>> {
        Some(Executor {
            setup: self.setup.get()?,
            registry: &self.registry,
            transfer: core.transfer()?,
            machine: core.machine(),
        })
    }
}

impl VmExtension for Lifecycle {
    fn init(&self, machine: &'static Machine, system: &System<'static>, bytes: Manifest) -> Ready {
        let dynamic = Dynamic::parse(bytes, system);
        let dynamic = dynamic.map_err(|_| "what it lets be made is malformed")?;
        let setup = Setup::new(dynamic, machine.ram_base())?;
        let reserve = self.setup.call_once(|| setup).reserve();
        let mut slots = 0;
        for index in 0..reserve.map_or(0, |reserve| reserve.slots()) {
            let Some(reserve) = reserve else { break };
            let size = core_manifest::limits::SLOT;
            let start = reserve.slots.start() + index as u64 * size;
            let area = PhysicalRange::new(start, size).ok_or("its slots wrap")?;
            add_slot(machine, area, reserve.cpus.iter())?;
            slots += 1;
        }
        let blocks = reserve.and_then(|reserve| Blocks::new(reserve.memory, BLOCK));
        if blocks.is_none() && reserve.is_some() {
            return Err("its reserve is not 1 to 128 blocks of 2 MiB");
        }
        self.registry.lock().open(system.vms.len(), slots, blocks);
        Ok(())
    }

    fn memory_ranges(&self, core: &'static Core, range: &mut dyn FnMut(PhysicalRange)) {
        let Some(setup) = self.setup.get() else {
            return;
        };
        if let Some(reserve) = setup.reserve() {
            range(reserve.slots);
        }
        // A manager reads other VMs' status pages and changes their states.
        let others = setup.managed_by(|manager| core.hosts(manager));
        for other in others.filter(|&other| !core.hosts(other)) {
            if let Some(vm) = core.machine().vm(other) {
                range(vm.description().status);
            }
        }
    }

    fn vm_starts(&self, _machine: &'static Machine, _vm: &'static Vm, _part: usize) -> bool {
        false
    }

    fn vm_stopped(&self, machine: &'static Machine, vm: &'static Vm, part: usize) -> bool {
        match part {
            0 => {
                self.note_end(vm);
                !vm.is_slot()
            }
            // Only VMs made at boot have authority.
            _ => !vm.is_slot() && self.settle_calls(machine, vm.index()),
        }
    }

    fn idle_work(&self, core: &'static Core, vm: &'static Vm) -> bool {
        if !vm.is_slot() {
            return false;
        }
        let Some(executor) = self.executor(core) else {
            return false;
        };
        let slot = vm.index();
        let own = {
            let mut registry = self.registry.lock();
            registry.record_mut(slot).is_some_and(|record| {
                let over = matches!(record.state, State::Off | State::Stopped);
                let template = matches!(record.subject, Subject::Template(_));
                if over && template && record.operation.is_none() {
                    record.state = State::Destroying;
                    record.operation = Some((Operation::Retire, Operation::Retire.first()));
                }
                record.adopted
                    || matches!(
                        record.operation,
                        Some((Operation::Retire | Operation::Create(None), _))
                    )
            })
        };
        own && executor.advance(slot) == Ok(Progress::Again)
    }

    fn instance_requested(&self, machine: &'static Machine, template: usize) {
        let Some(executor) = self.executor(Core::current()) else {
            return;
        };
        // Described at once, so that the core on which the VM is created is known.
        if let Ok(slot) = executor.want(template, machine.now()) {
            let described = executor.advance_to(slot, Phase::is_after_description);
            match (described, machine.vm(slot)) {
                (Ok(true), Some(vm)) => vm.kick_all(machine),
                _ => {
                    let _given_back = self.registry.lock().empty(slot, Event::Abandon);
                }
            }
        }
    }
}
