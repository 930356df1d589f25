//! Execution of VM operations in bounded steps. No lock is held between two steps.

mod names;

use crate::{Error, Operation, Phase, Registry, setup::Setup, stop::Progress};
use core_manifest::{Kind, Schedule};
use core_memory::{IntermediateRange, PhysicalRange};
use core_paging::Access;
use core_sync::TicketLock;
use hw_arch::cpu::{self, is_interrupt_pending};
use mortise_instance::{AREAS, BLOCK, Event, Handle, State, Subject};
use mortise_partition::{Machine, SlotConfig, SlotLifecycle, Vm};
use mortise_transfer::Transfer;

/// Bytes per unit of a step's number.
const GRAIN: u64 = 64;
/// Polls of another core's state before the call is repeated.
const POLL_LIMIT: usize = 64;

/// Polls a condition that another core establishes. Bounded; ends early if an interrupt is pending.
pub(crate) fn poll(until: impl Fn() -> bool) -> Progress {
    for _ in 0..POLL_LIMIT {
        if until() {
            return Progress::Done;
        }
        if is_interrupt_pending() {
            break;
        }
        cpu::relax();
    }
    Progress::Again
}

/// Context of VM operations: configuration, registry and memory access.
pub(crate) struct Executor<'a> {
    pub setup: &'a Setup,
    pub registry: &'a TicketLock<Registry>,
    pub transfer: &'a Transfer,
    pub machine: &'static Machine,
}

/// An operation in progress on a VM.
pub(crate) struct VmOperation {
    vm: &'static Vm,
    kind: Operation,
    phase: Phase,
    subject: Subject,
    /// RAM of the VM, in its IPA space.
    ram: IntermediateRange,
    /// Memory from the reserve: the VM's RAM, followed by its shared areas if it has any.
    memory: PhysicalRange,
    pub handle: Handle,
}

impl VmOperation {
    /// Whether a template provides the VM's payload.
    pub const fn has_payload(&self) -> bool {
        matches!(self.subject, Subject::Template(_))
    }

    /// The phase after a step.
    const fn after(&self, step: StepResult) -> Phase {
        match step {
            StepResult::Wait | StepResult::Reject => self.phase,
            StepResult::Continue(phase) => phase,
            StepResult::Complete => self.phase.next(self.kind, self.has_payload()),
        }
    }
}

impl Executor<'_> {
    /// Advances the operation on the VM in a slot until it is complete or an interrupt is pending.
    pub fn advance(&self, slot: usize) -> Result<Progress, Error> {
        if is_interrupt_pending() {
            return Ok(Progress::Again);
        }
        let mut operation = self.claim(slot)?;
        let mut pending = is_interrupt_pending();
        let progress = loop {
            if pending {
                break Progress::Again;
            }
            if operation.phase == Phase::Complete {
                break Progress::Done;
            }
            let step = self.step(&operation, is_interrupt_pending);
            // What follows is part of the next masked section.
            pending = is_interrupt_pending();
            operation.phase = operation.after(step);
            match step {
                StepResult::Wait => break Progress::Again,
                StepResult::Reject => {
                    self.registry.lock().empty(slot, Event::Abandon)?;
                    return Err(Error::Invalid);
                }
                StepResult::Complete | StepResult::Continue(_) => {}
            }
        };
        if progress == Progress::Done && self.complete(slot, &operation)? {
            return Ok(Progress::Done);
        }
        self.release(slot, &operation);
        Ok(Progress::Again)
    }

    /// Advances the operation on the VM in a slot until a phase is `reached`, regardless of pending
    /// interrupts. Returns false if it must wait for another core.
    pub fn advance_to(&self, slot: usize, reached: fn(Phase) -> bool) -> Result<bool, Error> {
        let mut operation = self.claim(slot)?;
        let reached = loop {
            if reached(operation.phase) {
                break true;
            }
            let step = self.step(&operation, || false);
            if step == StepResult::Wait {
                break false;
            }
            operation.phase = operation.after(step);
        };
        self.release(slot, &operation);
        Ok(reached)
    }

    /// Claims the VM's record for this core, which excludes other calls from it.
    #[inline(always)] // a operation is large to pass on
    fn claim(&self, slot: usize) -> Result<VmOperation, Error> {
        let vm = self.machine.vm(slot).ok_or(Error::NotFound)?;
        let mut registry = self.registry.lock();
        let handle = registry.handle(slot).ok_or(Error::NotFound)?;
        let record = registry.record_mut(slot).ok_or(Error::NotFound)?;
        if record.held {
            return Err(Error::Busy);
        }
        let (Some((kind, phase)), Some(descriptor), Some(memory)) =
            (record.operation, &record.descriptor, record.memory)
        else {
            return Err(Error::Busy);
        };
        let ram = descriptor.memory;
        record.held = true;
        Ok(VmOperation {
            vm,
            kind,
            phase,
            subject: record.subject,
            ram,
            memory,
            handle,
        })
    }

    /// Releases the VM's record and stores the progress of the operation.
    fn release(&self, slot: usize, operation: &VmOperation) {
        if let Some(record) = self.registry.lock().record_mut(slot) {
            record.held = false;
            if let Some((_, phase)) = &mut record.operation {
                *phase = operation.phase;
            }
        }
    }

    /// Completes an operation. Returns false and changes nothing if an interrupt is pending.
    fn complete(&self, slot: usize, operation: &VmOperation) -> Result<bool, Error> {
        let mut registry = self.registry.lock();
        let record = registry.record_mut(slot).ok_or(Error::NotFound)?;
        if is_interrupt_pending() {
            return Ok(false);
        }
        record.held = false;
        record.operation = None;
        record.adopted = false;
        match (operation.kind, operation.has_payload()) {
            (Operation::Create(_), false) => record.apply(Event::Made)?,
            (Operation::Create(_), true) => {
                record.apply(Event::Made)?;
                record.apply(Event::Start)?;
            }
            (Operation::Start, _) => record.apply(Event::Start)?,
            (Operation::Restart, false) => record.apply(Event::Reload)?,
            (Operation::Restart, true) => record.apply(Event::Restart)?,
            (Operation::Destroy | Operation::Retire, _) => {
                let event = match record.state {
                    State::Creating => Event::Abandon,
                    _ => Event::Destroyed,
                };
                registry.empty(slot, event)?;
            }
        }
        if operation.kind.starts(operation.has_payload()) {
            // Released last, as the run may end at any time and must find the final state. The lock
            // excludes a concurrent DESTROY: this would undo its stop request.
            operation.vm.release(self.machine);
        }
        Ok(true)
    }

    /// Executes one step, or nothing yet if `stop` returns true within it.
    fn step(&self, operation: &VmOperation, stop: fn() -> bool) -> StepResult {
        let vm = operation.vm;
        match operation.phase {
            // A long step gets a masked section of its own.
            Phase::Vacate(_)
            | Phase::Scrub(_)
            | Phase::ScrubLog(_)
            | Phase::ClearStatus(_)
            | Phase::PrepareDevices(_)
            | Phase::FreeMemory(_)
            | Phase::Reject(_)
                if stop() =>
            {
                StepResult::Continue(operation.phase)
            }
            Phase::CheckName(other) => self.check(operation, other, stop),
            Phase::Reject(0) => {
                let slot = usize::from(operation.handle.slot);
                self.registry.lock().free_memory(slot);
                StepResult::Continue(Phase::Reject(1))
            }
            Phase::Reject(_) => StepResult::Reject,
            Phase::Discard => {
                vm.discard(self.machine);
                StepResult::Complete
            }
            Phase::AwaitVcpus => match poll(|| !vm.hold_requested() || vm.is_held()) {
                Progress::Done => StepResult::Complete,
                Progress::Again => StepResult::Wait,
            },
            Phase::Vacate(part) => {
                let next = vm.vacate(self.machine, part);
                if next.is_none() && operation.kind == Operation::Retire {
                    // Cores other than this one may idle with a vCPU of the VM.
                    vm.kick_all(self.machine);
                }
                next.map_or(StepResult::Complete, |part| {
                    StepResult::Continue(Phase::Vacate(part))
                })
            }
            Phase::Scrub(at) => {
                if at == 0 && matches!(operation.kind, Operation::Create(_)) {
                    if self.registry.lock().is_scrubbed(operation.memory) {
                        return StepResult::Complete;
                    }
                    if stop() {
                        return StepResult::Continue(operation.phase);
                    }
                }
                // SAFETY: the memory is from the reserve and belongs to this VM, which is vacant:
                // none of its vCPUs is on a core, and no stage 2 maps the memory.
                let done = unsafe { self.transfer.zero(operation.memory, at * GRAIN) };
                StepResult::until(done >= operation.memory.size(), Phase::Scrub(done / GRAIN))
            }
            Phase::ScrubLog(part) => {
                StepResult::until(!vm.clear_log(part as usize), Phase::ScrubLog(part + 1))
            }
            Phase::ClearStatus(part) => StepResult::until(
                !vm.clear_status(part as usize),
                Phase::ClearStatus(part + 1),
            ),
            Phase::Describe(part) => self.describe(operation, part, stop),
            Phase::Map(block) => match self.place(operation, block) {
                None => StepResult::Complete,
                Some(_) if stop() => StepResult::Continue(operation.phase),
                Some((ipa, pa, access)) => {
                    let _mapped = vm.map(ipa, pa, access);
                    StepResult::Continue(Phase::Map(block + 1))
                }
            },
            Phase::Unmap(block) => match self.place(operation, block) {
                None => {
                    vm.set_state(core_statistics::State::Destroyed);
                    StepResult::Complete
                }
                Some(_) if stop() => StepResult::Continue(operation.phase),
                Some((ipa, ..)) => {
                    let _unmapped = vm.unmap(ipa);
                    StepResult::Continue(Phase::Unmap(block + 1))
                }
            },
            Phase::FreeMemory(0) => {
                self.registry.lock().note_scrubbed(operation.memory);
                StepResult::Continue(Phase::FreeMemory(1))
            }
            Phase::FreeMemory(_) => {
                let slot = usize::from(operation.handle.slot);
                self.registry.lock().free_memory(slot);
                StepResult::Complete
            }
            Phase::AddInterrupts(channel) => {
                if let Some(intid) = self.setup.interrupt(operation.subject, channel) {
                    // The previous VM of the slot may have had the interrupt already.
                    let _given = vm.add_interrupt(intid);
                }
                let over = channel + 1 >= self.setup.channels();
                StepResult::until(over, Phase::AddInterrupts(channel + 1))
            }
            Phase::PrepareDevices(part) => {
                let next = vm.ready(self.machine, part);
                next.map_or(StepResult::Complete, |part| {
                    StepResult::Continue(Phase::PrepareDevices(part))
                })
            }
            Phase::CopyPayload(index, at) => self.fill(operation, index, at, stop),
            Phase::Announce => {
                if stop() {
                    return StepResult::Continue(Phase::Announce);
                }
                let text = " made, on its template's request";
                self.machine.report(vm.name(), text, &[]);
                StepResult::Complete
            }
            Phase::Start => {
                vm.begin(self.machine);
                StepResult::Complete
            }
            Phase::Complete => StepResult::Complete,
        }
    }

    /// Describes a VM to its slot in steps. Stops early, once the description is assembled, if
    /// `stop` returns true.
    fn describe(&self, operation: &VmOperation, part: usize, stop: fn() -> bool) -> StepResult {
        let registry = self.registry.lock();
        let record = registry.record(usize::from(operation.handle.slot));
        let described = record.and_then(|record| record.descriptor.as_ref());
        let physical = PhysicalRange::new(operation.memory.start(), operation.ram.size());
        let (Some(descriptor), Some(physical)) = (described, physical) else {
            return StepResult::Complete;
        };
        let next = Phase::Describe(part + 1);
        let Some(own) = part.checked_sub(1) else {
            let schedule = self.setup.schedule(operation.subject, descriptor);
            if stop() {
                return StepResult::Continue(Phase::Describe(part));
            }
            operation
                .vm
                .set_schedule(schedule.unwrap_or(Schedule::of(Kind::Tenon)));
            return StepResult::Continue(next);
        };
        let config = SlotConfig {
            name: descriptor.name.as_bytes(),
            handle: operation.handle.to_register() as u32,
            cpus: descriptor.cpus(),
            memory: (descriptor.memory, physical),
            entry: descriptor.entry,
            argument: descriptor.argument,
        };
        if stop() {
            return StepResult::Continue(Phase::Describe(part));
        }
        StepResult::until(!operation.vm.describe(&config, own), next)
    }

    /// Block `block` of the VM's memory: its IPA, PA and access.
    fn block(operation: &VmOperation, block: u64) -> Option<(u64, u64, Access)> {
        let offset = block * BLOCK;
        let physical = operation.memory.start() + offset;
        if offset < operation.ram.size() {
            return Some((operation.ram.start() + offset, physical, Access::Full));
        }
        let area = AREAS + offset - operation.ram.size();
        (offset < operation.memory.size()).then_some((area, physical, Access::ReadWrite))
    }

    /// The same, followed by the pages of the VM's channels. `None` after the last one.
    fn place(&self, operation: &VmOperation, block: u64) -> Option<(u64, u64, Access)> {
        Self::block(operation, block).or_else(|| {
            let blocks = operation.memory.size() / BLOCK;
            self.setup
                .page(operation.subject, block.saturating_sub(blocks))
        })
    }

    fn fill(
        &self,
        operation: &VmOperation,
        index: usize,
        at: u64,
        stop: fn() -> bool,
    ) -> StepResult {
        let Some(filling) = self.setup.filling(operation.subject, index) else {
            return StepResult::Complete;
        };
        let offset = filling.target.start() - operation.ram.start();
        let target = operation.memory.start() + offset;
        if stop() {
            return StepResult::Continue(Phase::CopyPayload(index, at));
        }
        // SAFETY: the payload lies in the system image, which is read-only; the target lies in this
        // VM's memory from the reserve, as checked at boot. The VM does not run yet.
        let done = unsafe { self.transfer.copy(filling.source, target, at * GRAIN) };
        match done >= filling.source.size() {
            true => StepResult::Continue(Phase::CopyPayload(index + 1, 0)),
            false => StepResult::Continue(Phase::CopyPayload(index, done / GRAIN)),
        }
    }

    /// Begins to create the VM of a template, by a rule of the system.
    pub fn want(&self, template: usize, now: u64) -> Result<usize, Error> {
        let descriptor = self.setup.template(template).ok_or(Error::NotFound)?;
        let subject = Subject::Template(template);
        let mut registry = self.registry.lock();
        registry.fill(None, subject, descriptor, now, || Ok(()))
    }
}

/// Result of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StepResult {
    /// The phase is complete.
    Complete,
    /// The phase, or one of the same kind, continues here.
    Continue(Phase),
    /// Another core must act first.
    Wait,
    /// The VM is rejected.
    Reject,
}

impl StepResult {
    const fn until(over: bool, phase: Phase) -> Self {
        if over {
            Self::Complete
        } else {
            Self::Continue(phase)
        }
    }
}
