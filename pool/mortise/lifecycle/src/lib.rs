//! Life cycle calls: virtual machines that guests make, start, pause, restart and destroy.
//!
//! # Purpose
//!
//! A guest to which the system gives authority makes VMs from a reserve of memory, as the paper's
//! instances come and go (TenonOS paper, 4.4.3), and has its way with those made at boot that it is
//! given authority over. Function `0xC600_0100` and what follows; x0 answers:
//!
//! | x0 | |
//! |---|---|
//! | 0 | done |
//! | -1 | there is no such function |
//! | -2 | the arguments mean nothing |
//! | -3 | the caller has no authority for it; counted |
//! | -4 | the reserve, or the caller's part of it, has not as much |
//! | -5 | not in this state, or somebody else is at it |
//! | -6 | there is no such VM |
//!
//! [`Request`] lists the calls, `docs/lifecycle.md` their registers.
//!
//! # Guarantees
//!
//! - **No call takes long at a time.** Work goes in steps; when an interrupt waits after one, the
//!   caller makes its call again once it was served ([`mortise_hypercall::Outcome::Again`]). What a
//!   caller leaves undone that never comes back is taken down by its next call, or by whoever
//!   destroys that VM.
//! - **Nothing is lost.** What is missing takes nothing; what a VM had comes back, scrubbed
//!   ([`Registry`]).
//! - **Nobody is surprised.** A handle names one life of a VM. Memory changes hands when none of its
//!   vCPUs has a core, and no translation of it is left.
//! - No lock is held while memory is moved.
#![cfg_attr(not(test), no_std)]
#![expect(unsafe_code, reason = "memory of guests is moved here")]

mod calls;
mod carry;
mod failure;
mod names;
mod registry;
mod request;
mod residents;
mod setup;
mod stop;
mod tell;
mod work;

pub use failure::Failure;
pub use registry::{Caller, MANAGERS, Record, Registry, SLOTS};
pub use request::{FIRST, LAST, Request};
pub use work::{Phase, Work};

use calls::Conversation;
use carry::Site;
use core_manifest::{Dynamic, System};
use core_memory::{Blocks, PhysicalRange};
use core_sync::TicketLock;
use mortise_hypercall::{Call, Group, Outcome, Reply};
use mortise_instance::{Authority, BLOCK, Event, State, Subject};
use mortise_partition::{Core, Machine, Vm, VmExtension};
use mortise_psci::End;
use setup::Setup;
use spin::Once;
use stop::{Progress, Stop, look};

/// The life cycles of an image's VMs.
pub struct Lifecycle {
    setup: Once<Setup>,
    registry: TicketLock<Registry>,
}

/// What the image registers.
pub static LIFECYCLE: Lifecycle = Lifecycle {
    setup: Once::new(),
    registry: TicketLock::new(Registry::CLOSED),
};

/// The calls.
pub const GROUP: Group = Group {
    name: "life cycle",
    brief: None,
    ranges: &[(FIRST, LAST)],
    handle: |call, _| LIFECYCLE.answer(call),
};

impl Lifecycle {
    fn answer(&self, call: &Call) -> Outcome {
        let core = Core::current();
        let Some(((vm, vcpu), site)) = core.current_vcpu().zip(self.site(core)) else {
            return Reply::NOT_SUPPORTED.into();
        };
        let caller = Caller {
            vm: vm.index(),
            vcpu,
        };
        let managers = &site.setup.managers;
        let authority = managers.get(caller.vm).unwrap_or(&Authority::NONE);
        match self.converse(call, site, vm, caller, authority) {
            Ok(outcome) => outcome,
            Err(Stop::Again(progress)) => Outcome::Again(progress),
            // What is refused has changed nothing, and is refused again.
            Err(Stop::Failed(_)) if look(call.progress()).is_err() => {
                Outcome::Again(call.progress())
            }
            Err(Stop::Failed(failure)) => {
                if failure == Failure::Denied {
                    self.registry.lock().count_denied(caller);
                }
                Outcome::Return(failure.into())
            }
        }
    }

    fn converse(
        &self,
        call: &Call,
        site: Site<'_>,
        vm: &'static Vm,
        caller: Caller,
        authority: &Authority,
    ) -> Result<Outcome, Stop> {
        look(call.progress())?;
        if !authority.is_any() {
            return Err(Failure::Denied.into());
        }
        let request = Request::parse(call)?;
        look(call.progress())?;
        Conversation {
            site,
            vm,
            caller,
            authority,
            call,
        }
        .answer(request)
    }

    fn site(&self, core: &'static Core) -> Option<Site<'_>> {
        Some(Site {
            setup: self.setup.get()?,
            registry: &self.registry,
            transfer: core.transfer()?,
            machine: core.machine(),
        })
    }
}

impl VmExtension for Lifecycle {
    fn init(
        &self,
        machine: &'static Machine,
        system: &System<'static>,
        manifest: &'static [u8],
    ) -> Result<(), &'static str> {
        let dynamic = Dynamic::parse(manifest, system);
        let dynamic = dynamic.map_err(|_| "what it lets be made is malformed")?;
        let setup = Setup::new(dynamic, machine.ram_base())?;
        let reserve = self.setup.call_once(|| setup).reserve();
        let mut slots = 0;
        for index in 0..reserve.map_or(0, |reserve| reserve.slots()) {
            let Some(reserve) = reserve else { break };
            let size = core_manifest::limits::SLOT;
            let start = reserve.slots.start() + index as u64 * size;
            let area = PhysicalRange::new(start, size).ok_or("its slots wrap")?;
            machine.add_slot(area, reserve.cpus.iter())?;
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
        // A manager is told what is on the status pages of others, and changes their states.
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

    fn vm_stopped(&self, _machine: &'static Machine, vm: &'static Vm, part: usize) -> bool {
        if part > 0 {
            return false;
        }
        // With the lock held, under which others decide about its end.
        let mut registry = self.registry.lock();
        let event = match vm.end_decided() {
            Some(End::Stop) => Event::Faulted,
            Some(End::Restart) if !vm.is_slot() => return false,
            Some(End::Off | End::Restart) => Event::TurnedOff,
            None => return false,
        };
        if let Some(record) = registry.record_mut(vm.index()) {
            // One that is being restarted or destroyed goes its way.
            let _other = record.apply(event);
        }
        if vm.is_abandoned() {
            // Who had it destroyed did not wait for its last core.
            let _gone = registry.empty(vm.index(), Event::Destroyed);
        }
        false
    }

    fn idle_work(&self, core: &'static Core, vm: &'static Vm) -> bool {
        if !vm.is_slot() {
            return false;
        }
        let Some(site) = self.site(core) else {
            return false;
        };
        let slot = vm.index();
        let own = {
            let mut registry = self.registry.lock();
            registry.record_mut(slot).is_some_and(|record| {
                let over = matches!(record.state, State::Off | State::Stopped);
                let template = matches!(record.subject, Subject::Template(_));
                if over && template && record.work.is_none() {
                    record.state = State::Destroying;
                    record.work = Some((Work::Retiring, Work::Retiring.first()));
                }
                matches!(record.work, Some((Work::Retiring | Work::Making(None), _)))
            })
        };
        own && site.go_on(slot) == Ok(Progress::Again)
    }

    fn instance_requested(&self, machine: &'static Machine, template: usize) {
        let Some(site) = self.site(Core::current()) else {
            return;
        };
        // Described at once, so that it is known on which core it is put together.
        if let Ok(slot) = site.want(template, machine.now()) {
            let described = site.go_on_until(slot, Phase::Map(0));
            match (described, machine.vm(slot)) {
                (Ok(true), Some(vm)) => vm.kick_all(machine),
                _ => {
                    let _given_back = self.registry.lock().empty(slot, Event::Abandon);
                }
            }
        }
    }
}
