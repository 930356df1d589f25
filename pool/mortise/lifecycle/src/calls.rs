//! Calls carried out.

use crate::{
    Caller, Failure, Phase, Request, Work,
    carry::{Site, wait},
    stop::{Stop, look},
};
use core_memory::{IntermediateRange, PhysicalRange};
use mortise_hypercall::{Call, Outcome, Reply};
use mortise_instance::{Authority, Descriptor, Event, Handle, Name, RawDescriptor, State, Subject};
use mortise_partition::Vm;
use zerocopy::FromZeros;

/// Version of these calls.
const VERSION: u64 = 1;
/// Bytes that are loaded in one unit of progress.
const GRAIN: u64 = 64;
/// How far PAUSE is whose order is given: its vCPUs are waited for.
const OBEYED: u32 = 1;
/// How far a call is that has done all it was to do: only the answer is missing.
const OVER: u32 = u32::MAX;
/// Words that are read of a descriptor in a step.
const READ_STEP: usize = 16;

/// A call of somebody with authority.
pub(crate) struct Conversation<'a> {
    pub site: Site<'a>,
    pub vm: &'static Vm,
    pub caller: Caller,
    pub authority: &'a Authority,
    pub call: &'a Call,
}

impl Conversation<'_> {
    /// Does what is asked for.
    pub fn answer(&self, request: Request) -> Result<Outcome, Stop> {
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
            Request::ConsoleWrite(..) => Err(Failure::NotSupported.into()),
        }
    }

    /// Answers that something is done, which is not done again if an interrupt goes before the answer.
    fn once(&self, action: impl FnOnce() -> Result<(), Stop>) -> Result<Outcome, Stop> {
        if self.call.progress() != OVER {
            action()?;
            look(OVER)?;
        }
        Ok(Reply::SUCCESS.into())
    }

    fn version(&self) -> Result<Outcome, Stop> {
        let (slots, free) = {
            let registry = self.site.registry.lock();
            let free = registry.available(self.caller, self.authority);
            (registry.slots() as u64, free)
        };
        // It is as much as a section may be to find that out.
        self.look()?;
        Ok(values([0, VERSION, slots, free]))
    }

    /// The VM of a slot.
    fn other(&self, handle: Handle) -> Result<&'static Vm, Stop> {
        self.look()?;
        let vm = self.site.machine.vm(usize::from(handle.slot));
        Ok(vm.ok_or(Failure::NotFound)?)
    }

    /// Where memory of the caller's is.
    pub(crate) fn own(&self, range: &IntermediateRange) -> Result<PhysicalRange, Failure> {
        let found = self.vm.description().translate(range);
        found.ok_or(Failure::Invalid)
    }

    /// Whether it goes on: it has changed nothing since it came, and an interrupt goes first.
    pub(crate) fn look(&self) -> Result<(), Stop> {
        look(self.call.progress())
    }

    /// Makes a VM from a descriptor. Between calls, what was begun waits for the vCPU that began it.
    fn create(&self, at: IntermediateRange) -> Result<Outcome, Stop> {
        if let Some(outcome) = self.resumed()? {
            return Ok(outcome);
        }
        let from = self.own(&at)?;
        let mut raw = RawDescriptor::new_zeroed();
        for (at, words) in (from.start()..)
            .step_by(READ_STEP * 8)
            .zip(raw.words_mut().chunks_mut(READ_STEP))
        {
            self.look()?;
            // SAFETY: RAM of the caller's, which executes: it stays.
            unsafe { self.site.transfer.read(at, words) };
        }
        self.look()?;
        let descriptor = Descriptor::parse(&raw, self.site.setup.ram_base, || self.look())?;
        self.look()?;
        let subject = Subject::File(self.caller.vm);
        if self.site.setup.schedule(subject, &descriptor).is_none() {
            return Err(Failure::Invalid.into());
        }
        self.put(subject, &descriptor)
    }

    fn instantiate(&self, name: &Name) -> Result<Outcome, Stop> {
        if let Some(outcome) = self.resumed()? {
            return Ok(outcome);
        }
        let setup = self.site.setup;
        let named = setup.template_named(name);
        self.look()?;
        let template = named.ok_or(Failure::NotFound)?;
        let descriptor = setup.template(template).ok_or(Failure::NotFound)?;
        self.put(Subject::Template(template), descriptor)
    }

    fn put(&self, subject: Subject, descriptor: &Descriptor) -> Result<Outcome, Stop> {
        self.look()?;
        let (caller, authority) = (self.caller, self.authority);
        let now = self.site.machine.now();
        let mut registry = self.site.registry.lock();
        let slot = registry.create(caller, authority, subject, descriptor, now, || self.look())?;
        drop(registry);
        look(slot as u32 + 1)?;
        self.go_on_making(slot)
    }

    /// What comes of a call that makes a VM, if it is made again: its progress is a handle once it has one
    /// to answer, which is larger than any slot's number. A new one takes down first what an earlier one
    /// began.
    fn resumed(&self) -> Result<Option<Outcome>, Stop> {
        if let Some(handle) = Handle::from_register(self.call.progress().into()) {
            self.look()?;
            return Ok(Some(values([0, handle.to_register(), 0, 0])));
        }
        if let Some(slot) = self.begun()? {
            return self.go_on_making(slot).map(Some);
        }
        self.abandon()?;
        self.look()?;
        Ok(None)
    }

    /// The slot that this call has begun to fill, if it is made again.
    fn begun(&self) -> Result<Option<usize>, Failure> {
        let Some(slot) = self.call.progress().checked_sub(1) else {
            return Ok(None);
        };
        let own = self.site.registry.lock().forsaken(self.caller);
        match own == Some(slot as usize) {
            true => Ok(own),
            false => Err(Failure::Invalid),
        }
    }

    /// Takes down what an earlier call of this vCPU began and was never made again for.
    fn abandon(&self) -> Result<(), Stop> {
        let mut registry = self.site.registry.lock();
        let Some(slot) = registry.forsaken(self.caller) else {
            return Ok(());
        };
        let record = registry.record_mut(slot).ok_or(Failure::NotFound)?;
        // What is mapped goes; nothing was filled.
        match record.work {
            Some((
                Work::Making(_),
                Phase::Check(_)
                | Phase::Refused(_)
                | Phase::Await
                | Phase::Status(_)
                | Phase::Describe(_),
            )) => {
                return Ok(registry.empty(slot, Event::Abandon)?);
            }
            _ => record.work = Some((Work::Destroying, Work::Destroying.first())),
        }
        drop(registry);
        self.site.go_on(slot)?.or_again(0)
    }

    fn go_on_making(&self, slot: usize) -> Result<Outcome, Stop> {
        let handle = self.site.registry.lock().handle(slot);
        let handle = handle.ok_or(Failure::NotFound)?.to_register();
        self.site.go_on(slot)?.or_again(slot as u32 + 1)?;
        if let Ok(progress) = u32::try_from(handle) {
            look(progress)?;
        }
        Ok(values([0, handle, 0, 0]))
    }

    fn load(
        &self,
        handle: Handle,
        target: IntermediateRange,
        source: IntermediateRange,
    ) -> Result<Outcome, Stop> {
        let from = self.own(&source)?;
        self.look()?;
        let done = u64::from(self.call.progress()) * GRAIN;
        let to = {
            let mut registry = self.site.registry.lock();
            let record = registry.find(self.caller, self.authority, handle)?;
            record.apply(Event::Load)?;
            let whole = record.descriptor.as_ref().map(|it| it.memory);
            let offset = whole
                .filter(|memory| memory.contains(&target))
                .and_then(|memory| memory.offset_of(target.start()));
            let (Some(offset), Some(memory)) = (offset, record.memory) else {
                return Err(Failure::Invalid.into());
            };
            record.held = true;
            memory.start() + offset
        };
        // SAFETY: the caller executes, so that its RAM stays; the target is memory of the reserve that a
        // VM has which does not run yet, and at which no other call is.
        let at = unsafe { self.site.transfer.copy(from, to, done) };
        let mut registry = self.site.registry.lock();
        let record = registry.record_mut(usize::from(handle.slot));
        record.ok_or(Failure::NotFound)?.held = false;
        Ok(match at < from.size() {
            true => Outcome::Again((at / GRAIN) as u32),
            false => Reply::SUCCESS.into(),
        })
    }

    fn start(&self, handle: Handle) -> Result<(), Stop> {
        self.work(handle, Work::Starting, Event::Start)
    }

    fn pause(&self, handle: Handle) -> Result<(), Stop> {
        let vm = self.other(handle)?;
        if self.call.progress() != OBEYED {
            self.order(Event::Pause, handle, || {
                vm.hold(self.site.machine);
                vm.note_state(core_statistics::State::Paused);
            })?;
            look(OBEYED)?;
        }
        // It goes on with what it began, if nobody had its way in between.
        if self.state(handle)? != State::Paused {
            return Err(Failure::Busy.into());
        }
        wait(|| vm.is_held()).or_again(OBEYED)
    }

    fn resume(&self, handle: Handle) -> Result<(), Stop> {
        let vm = self.other(handle)?;
        self.order(Event::Resume, handle, || {
            vm.note_state(core_statistics::State::Running);
            vm.release(self.site.machine);
        })
    }

    fn restart(&self, handle: Handle) -> Result<Outcome, Stop> {
        let vm = self.other(handle)?;
        let subject = self.subject(handle)?;
        if let Subject::Boot(_) = subject {
            return self.once(|| self.restart_resident(handle, vm));
        }
        let again = matches!(subject, Subject::Template(_));
        let event = if again { Event::Restart } else { Event::Reload };
        if self.call.progress() != OVER {
            self.work(handle, Work::Restarting, event)?;
            look(OVER)?;
        }
        Ok(values([0, u64::from(!again), 0, 0]))
    }

    fn destroy(&self, handle: Handle) -> Result<(), Stop> {
        let vm = self.other(handle)?;
        if let Subject::Boot(_) = self.subject(handle)? {
            return self.destroy_resident(handle, vm);
        }
        self.work(handle, Work::Destroying, Event::Destroy)
    }

    /// Begins work on a VM, or goes on with it.
    fn work(&self, handle: Handle, work: Work, event: Event) -> Result<(), Stop> {
        self.look()?;
        let slot = usize::from(handle.slot);
        {
            let mut registry = self.site.registry.lock();
            let record = registry.find(self.caller, self.authority, handle)?;
            let state = record.state.after(event).ok_or(Failure::Busy)?;
            match record.work {
                Some((own, _)) if own == work => {}
                // Whatever else was under way, what is destroyed is destroyed.
                Some(_) if work != Work::Destroying => return Err(Failure::Busy.into()),
                _ => record.work = Some((work, work.first())),
            }
            if work == Work::Destroying {
                record.state = state;
            }
        }
        self.site.go_on(slot)?.or_again(1)
    }

    /// Applies an event to a VM on which no work is.
    pub(crate) fn event(&self, handle: Handle, event: Event) -> Result<(), Failure> {
        let mut registry = self.site.registry.lock();
        let record = registry.find(self.caller, self.authority, handle)?;
        if record.work.is_some() {
            return Err(Failure::Busy);
        }
        record.apply(event)
    }

    /// Applies an event to a VM on which no work is, and gives the orders that it leads to. Both or neither:
    /// who calls may never come back.
    fn order(&self, event: Event, handle: Handle, orders: impl FnOnce()) -> Result<(), Stop> {
        let mut registry = self.site.registry.lock();
        let record = registry.find(self.caller, self.authority, handle)?;
        if record.work.is_some() {
            return Err(Failure::Busy.into());
        }
        let state = record.state.after(event).ok_or(Failure::Busy)?;
        self.look()?;
        record.state = state;
        orders();
        Ok(())
    }

    /// Gives orders to a VM in a state on which no work is, and which nobody takes to another meanwhile:
    /// an order that came behind that of who destroys it would let it run again. If an interrupt goes
    /// first, the call is made `again`, with this as its progress.
    pub(crate) fn while_in(
        &self,
        state: State,
        handle: Handle,
        again: u32,
        orders: impl FnOnce(),
    ) -> Result<(), Stop> {
        let mut registry = self.site.registry.lock();
        let record = registry.find(self.caller, self.authority, handle)?;
        if record.work.is_some() || record.state != state {
            return Err(Failure::Busy.into());
        }
        look(again)?;
        orders();
        Ok(())
    }

    pub(crate) fn state(&self, handle: Handle) -> Result<State, Failure> {
        let mut registry = self.site.registry.lock();
        Ok(registry.find(self.caller, self.authority, handle)?.state)
    }

    fn subject(&self, handle: Handle) -> Result<Subject, Failure> {
        let mut registry = self.site.registry.lock();
        Ok(registry.find(self.caller, self.authority, handle)?.subject)
    }
}

/// A reply of these registers.
pub(crate) fn values(registers: [u64; 4]) -> Outcome {
    Outcome::Return(Reply { registers })
}
