//! Life cycle hypercalls: execution of a parsed [`Request`].

mod boot_vms;
mod queries;

use crate::{
    Caller, Error, Operation, Request,
    executor::{Executor, poll},
    stop::{Stop, check_pending},
};
use core_memory::{IntermediateRange, PhysicalRange};
use mortise_hypercall::{Call, Outcome, Reply};
use mortise_instance::{Authority, Descriptor, Event, Handle, Name, RawDescriptor, State, Subject};
use mortise_partition::Vm;
use zerocopy::FromZeros;

/// Version of the calls.
const VERSION: u64 = 1;
/// Bytes per unit of progress of LOAD.
const GRAIN: u64 = 64;
/// Progress of PAUSE when it is requested: the call waits for the vCPUs to stop.
const PAUSE_REQUESTED: u32 = 1;
/// Progress of a call that is complete except for its reply.
const COMPLETE: u32 = u32::MAX;
/// Words of a descriptor that are read per step.
const READ_STEP: usize = 16;

/// A call of a VM with authority.
pub(crate) struct CallContext<'a> {
    pub executor: Executor<'a>,
    pub vm: &'static Vm,
    pub caller: Caller,
    pub authority: &'a Authority,
    pub call: &'a Call,
}

impl CallContext<'_> {
    /// Executes a request.
    pub fn execute(&self, request: Request) -> Result<Outcome, Stop> {
        match request {
            Request::Version => self.version(),
            Request::Create(at) => self.create(at),
            Request::Instantiate(name) => self.instantiate(&name),
            Request::Load {
                handle,
                target,
                source,
            } => self.load(handle, target, source),
            Request::Start(handle) => self.once(|| self.start(handle)),
            Request::Pause(handle) => self.once(|| self.pause(handle)),
            Request::Resume(handle) => self.once(|| self.resume(handle)),
            Request::Restart(handle) => self.restart(handle),
            Request::Destroy(handle) => self.once(|| self.destroy(handle)),
            Request::List(slot) => self.list(slot),
            Request::Statistics(handle, to) => self.statistics(handle, to),
            Request::ConsoleRead(handle, to) => self.console_read(handle, to),
        }
    }

    /// Executes `action` and replies success. If an interrupt preempts the reply, the repeated call
    /// does not execute it again.
    fn once(&self, action: impl FnOnce() -> Result<(), Stop>) -> Result<Outcome, Stop> {
        if self.call.progress() != COMPLETE {
            action()?;
            check_pending(COMPLETE)?;
        }
        Ok(Reply::SUCCESS.into())
    }

    fn version(&self) -> Result<Outcome, Stop> {
        let (slots, free) = {
            let registry = self.executor.registry.lock();
            let free = registry.available(self.caller, self.authority);
            (registry.slots() as u64, free)
        };
        // The count above takes as long as a masked section may.
        self.check_pending()?;
        Ok(values([0, VERSION, slots, free]))
    }

    /// The VM in the slot of a handle.
    fn target(&self, handle: Handle) -> Result<&'static Vm, Stop> {
        self.check_pending()?;
        let vm = self.executor.machine.vm(usize::from(handle.slot));
        Ok(vm.ok_or(Error::NotFound)?)
    }

    /// Translates an IPA range of the caller.
    pub(crate) fn translate(&self, range: &IntermediateRange) -> Result<PhysicalRange, Error> {
        let found = self.vm.description().translate(range);
        found.ok_or(Error::Invalid)
    }

    /// Ends this step if an interrupt is pending. The call has changed nothing since it was made.
    pub(crate) fn check_pending(&self) -> Result<(), Stop> {
        check_pending(self.call.progress())
    }

    /// Creates a VM from a descriptor. Between calls, a slot that is being filled waits for the
    /// vCPU that began to fill it.
    fn create(&self, at: IntermediateRange) -> Result<Outcome, Stop> {
        if let Some(outcome) = self.resumed()? {
            return Ok(outcome);
        }
        let from = self.translate(&at)?;
        let mut raw = RawDescriptor::new_zeroed();
        for (at, words) in (from.start()..)
            .step_by(READ_STEP * 8)
            .zip(raw.words_mut().chunks_mut(READ_STEP))
        {
            self.check_pending()?;
            // SAFETY: the descriptor is RAM of the calling VM, which stays mapped while its vCPU makes
            // the call; it lies in one page at a multiple of 8 (`Request::parse`).
            unsafe { self.executor.transfer.read(at, words) };
        }
        self.check_pending()?;
        let descriptor =
            Descriptor::parse(&raw, self.executor.setup.ram_base, || self.check_pending())?;
        self.check_pending()?;
        let subject = Subject::File(self.caller.vm);
        if self.executor.setup.schedule(subject, &descriptor).is_none() {
            return Err(Error::Invalid.into());
        }
        self.put(subject, &descriptor)
    }

    fn instantiate(&self, name: &Name) -> Result<Outcome, Stop> {
        if let Some(outcome) = self.resumed()? {
            return Ok(outcome);
        }
        let setup = self.executor.setup;
        let named = setup.template_named(name);
        self.check_pending()?;
        let template = named.ok_or(Error::NotFound)?;
        let descriptor = setup.template(template).ok_or(Error::NotFound)?;
        self.put(Subject::Template(template), descriptor)
    }

    fn put(&self, subject: Subject, descriptor: &Descriptor) -> Result<Outcome, Stop> {
        self.check_pending()?;
        let (caller, authority) = (self.caller, self.authority);
        let now = self.executor.machine.now();
        let mut registry = self.executor.registry.lock();
        let slot = registry.create(caller, authority, subject, descriptor, now, || {
            self.check_pending()
        })?;
        drop(registry);
        check_pending(slot as u32 + 1)?;
        self.advance_creation(slot)
    }

    /// Resumes a call that creates a VM, if it is repeated. Its progress is a slot number plus one,
    /// or the handle once the VM is created; a handle is larger than any slot number. A new call
    /// first abandons what an earlier one began.
    fn resumed(&self) -> Result<Option<Outcome>, Stop> {
        if let Some(handle) = Handle::from_register(self.call.progress().into()) {
            self.check_pending()?;
            return Ok(Some(values([0, handle.to_register(), 0, 0])));
        }
        if let Some(slot) = self.begun()? {
            return self.advance_creation(slot).map(Some);
        }
        self.abandon()?;
        self.check_pending()?;
        Ok(None)
    }

    /// The slot that this call has begun to fill, if it is repeated.
    fn begun(&self) -> Result<Option<usize>, Error> {
        let Some(slot) = self.call.progress().checked_sub(1) else {
            return Ok(None);
        };
        let own = self.executor.registry.lock().abandoned(self.caller);
        match own == Some(slot as usize) {
            true => Ok(own),
            false => Err(Error::Invalid),
        }
    }

    /// Destroys a VM that an earlier call of this vCPU began to create and did not complete.
    fn abandon(&self) -> Result<(), Stop> {
        let mut registry = self.executor.registry.lock();
        let Some(slot) = registry.abandoned(self.caller) else {
            return Ok(());
        };
        if registry.undo_creation(slot)? {
            return Ok(());
        }
        drop(registry);
        self.executor.advance(slot)?.or_again(0)
    }

    fn advance_creation(&self, slot: usize) -> Result<Outcome, Stop> {
        let handle = self.executor.registry.lock().handle(slot);
        let handle = handle.ok_or(Error::NotFound)?.to_register();
        self.executor.advance(slot)?.or_again(slot as u32 + 1)?;
        if let Ok(progress) = u32::try_from(handle) {
            check_pending(progress)?;
        }
        Ok(values([0, handle, 0, 0]))
    }

    fn load(
        &self,
        handle: Handle,
        target: IntermediateRange,
        source: IntermediateRange,
    ) -> Result<Outcome, Stop> {
        let from = self.translate(&source)?;
        self.check_pending()?;
        let done = u64::from(self.call.progress()) * GRAIN;
        let to = {
            let mut registry = self.executor.registry.lock();
            let record = registry.find(self.caller, self.authority, handle)?;
            record.apply(Event::Load)?;
            let whole = record.descriptor.as_ref().map(|it| it.memory);
            let offset = whole
                .filter(|memory| memory.contains(&target))
                .and_then(|memory| memory.offset_of(target.start()));
            let (Some(offset), Some(memory)) = (offset, record.memory) else {
                return Err(Error::Invalid.into());
            };
            record.held = true;
            memory.start() + offset
        };
        // SAFETY: the source is RAM of the calling VM, which stays mapped during its call. The
        // target is memory of a VM that does not run, and `held` excludes other calls from it.
        let at = unsafe { self.executor.transfer.copy(from, to, done) };
        let mut registry = self.executor.registry.lock();
        let record = registry.record_mut(usize::from(handle.slot));
        record.ok_or(Error::NotFound)?.held = false;
        Ok(match at < from.size() {
            true => Outcome::Again((at / GRAIN) as u32),
            false => Reply::SUCCESS.into(),
        })
    }

    fn start(&self, handle: Handle) -> Result<(), Stop> {
        self.operate(handle, Operation::Start, Event::Start)
    }

    fn pause(&self, handle: Handle) -> Result<(), Stop> {
        let vm = self.target(handle)?;
        if self.call.progress() != PAUSE_REQUESTED {
            self.order(Event::Pause, handle, || {
                vm.hold(self.executor.machine);
                vm.set_state(core_statistics::State::Paused);
            })?;
            check_pending(PAUSE_REQUESTED)?;
        }
        // Another call may have changed the state since the request.
        if self.state(handle)? != State::Paused {
            return Err(Error::Busy.into());
        }
        poll(|| vm.is_held()).or_again(PAUSE_REQUESTED)
    }

    fn resume(&self, handle: Handle) -> Result<(), Stop> {
        let vm = self.target(handle)?;
        self.order(Event::Resume, handle, || {
            vm.set_state(core_statistics::State::Running);
            vm.release(self.executor.machine);
        })
    }

    fn restart(&self, handle: Handle) -> Result<Outcome, Stop> {
        let vm = self.target(handle)?;
        let subject = self.subject(handle)?;
        if let Subject::Boot(_) = subject {
            return self.once(|| self.restart_boot_vm(handle, vm));
        }
        let again = matches!(subject, Subject::Template(_));
        let event = if again { Event::Restart } else { Event::Reload };
        if self.call.progress() != COMPLETE {
            self.operate(handle, Operation::Restart, event)?;
            check_pending(COMPLETE)?;
        }
        Ok(values([0, u64::from(!again), 0, 0]))
    }

    fn destroy(&self, handle: Handle) -> Result<(), Stop> {
        let vm = self.target(handle)?;
        if let Subject::Boot(_) = self.subject(handle)? {
            return self.destroy_boot_vm(handle, vm);
        }
        self.operate(handle, Operation::Destroy, Event::Destroy)
    }

    /// Begins or continues an operation on a VM.
    fn operate(&self, handle: Handle, operation: Operation, event: Event) -> Result<(), Stop> {
        self.check_pending()?;
        let slot = usize::from(handle.slot);
        {
            let mut registry = self.executor.registry.lock();
            let record = registry.find(self.caller, self.authority, handle)?;
            let state = record.state.after(event).ok_or(Error::Busy)?;
            match record.operation {
                Some((own, _)) if own == operation => {}
                // A destruction by a rule of the system continues: its memory may be free already.
                Some((Operation::Retire, _)) if operation == Operation::Destroy => {}
                // DESTROY overrides any other operation.
                Some(_) if operation != Operation::Destroy => return Err(Error::Busy.into()),
                _ => record.operation = Some((operation, operation.first())),
            }
            record.operator = Some(self.caller.vm);
            if operation == Operation::Destroy {
                record.state = state;
            }
        }
        self.executor.advance(slot)?.or_again(1)
    }

    /// Applies an event to a VM without an operation in progress.
    pub(crate) fn event(&self, handle: Handle, event: Event) -> Result<(), Error> {
        let mut registry = self.executor.registry.lock();
        let record = registry.find(self.caller, self.authority, handle)?;
        if record.operation.is_some() {
            return Err(Error::Busy);
        }
        record.apply(event)
    }

    /// Applies an event to a VM without an operation in progress, and executes the actions that it
    /// requires. Both or neither, as the caller may never repeat its call.
    fn order(&self, event: Event, handle: Handle, orders: impl FnOnce()) -> Result<(), Stop> {
        let mut registry = self.executor.registry.lock();
        let record = registry.find(self.caller, self.authority, handle)?;
        if record.operation.is_some() {
            return Err(Error::Busy.into());
        }
        let state = record.state.after(event).ok_or(Error::Busy)?;
        self.check_pending()?;
        record.state = state;
        orders();
        Ok(())
    }

    /// Executes actions on a VM in `state` without an operation in progress, with the registry
    /// locked: an action that overtook a concurrent DESTROY would let the VM run again. If an
    /// interrupt is pending, the call is repeated with progress `again`.
    pub(crate) fn while_in(
        &self,
        state: State,
        handle: Handle,
        again: u32,
        orders: impl FnOnce(),
    ) -> Result<(), Stop> {
        let mut registry = self.executor.registry.lock();
        let record = registry.find(self.caller, self.authority, handle)?;
        if record.operation.is_some() || record.state != state {
            return Err(Error::Busy.into());
        }
        check_pending(again)?;
        orders();
        Ok(())
    }

    pub(crate) fn state(&self, handle: Handle) -> Result<State, Error> {
        let mut registry = self.executor.registry.lock();
        Ok(registry.find(self.caller, self.authority, handle)?.state)
    }

    fn subject(&self, handle: Handle) -> Result<Subject, Error> {
        let mut registry = self.executor.registry.lock();
        Ok(registry.find(self.caller, self.authority, handle)?.subject)
    }
}

/// A reply with these registers.
pub(crate) fn values(registers: [u64; 4]) -> Outcome {
    Outcome::Return(Reply { registers })
}
