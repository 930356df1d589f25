//! Who is in which slot, whose they are, and what of the reserve they have.

use crate::{Failure, Phase, Work};
use core_memory::{Blocks, PhysicalRange};
use mortise_instance::{Authority, Descriptor, Event, Handle, State, Subject};

/// VMs that there may be at a time.
pub const SLOTS: usize = 16;
/// VMs made at boot, the only ones that may have authority.
pub const MANAGERS: usize = 8;

/// A vCPU that calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caller {
    /// The index of its VM.
    pub vm: usize,
    /// Its own index.
    pub vcpu: usize,
}

/// One slot.
#[derive(Clone, Debug)]
pub struct Record {
    /// Where in its life it is.
    pub state: State,
    /// How often the slot was filled.
    pub generation: u32,
    /// What it is to those with authority.
    pub subject: Subject,
    /// What it is like, if it was made at run time.
    pub descriptor: Option<Descriptor>,
    /// What it has of the reserve, or had until that was given back.
    pub memory: Option<PhysicalRange>,
    /// Whether it was.
    given_back: bool,
    /// Who made it, whose part of the reserve that is; nobody if the system's rules did.
    pub maker: Option<usize>,
    /// What is being done to it, and how far that is.
    pub work: Option<(Work, Phase)>,
    /// A call is at it at this moment.
    pub held: bool,
    /// When it was made, in nanoseconds of the counter.
    pub since: u64,
}

impl Record {
    const EMPTY: Self = Self {
        state: State::Empty,
        generation: 0,
        subject: Subject::Boot(usize::MAX),
        descriptor: None,
        memory: None,
        given_back: false,
        maker: None,
        work: None,
        held: false,
        since: 0,
    };

    /// Whether somebody is there who is this one.
    fn is(&self, subject: Subject) -> bool {
        self.state != State::Empty && self.subject == subject
    }

    /// Takes the state to what an event leads to.
    ///
    /// # Errors
    ///
    /// [`Failure::Busy`] if the event does not happen in this state.
    pub fn apply(&mut self, event: Event) -> Result<(), Failure> {
        self.state = self.state.after(event).ok_or(Failure::Busy)?;
        Ok(())
    }
}

/// All slots and the reserve. Those made at boot come first.
#[derive(Clone, Debug)]
pub struct Registry {
    records: [Record; SLOTS],
    boot: usize,
    slots: usize,
    reserve: Option<Blocks>,
    /// What each VM made at boot has taken of the reserve for others.
    used: [u64; MANAGERS],
    /// How often each slot was denied something.
    denied: [u64; SLOTS],
}

impl Registry {
    /// A system before it is opened: no slot, no reserve.
    pub const CLOSED: Self = Self {
        records: [const { Record::EMPTY }; SLOTS],
        boot: 0,
        slots: 0,
        reserve: None,
        used: [0; MANAGERS],
        denied: [0; SLOTS],
    };

    /// A system of so many VMs made at boot, which run, and so many slots beside them.
    pub fn open(&mut self, boot: usize, more: usize, reserve: Option<Blocks>) {
        *self = Self::CLOSED;
        self.boot = boot.min(MANAGERS);
        self.slots = (self.boot + more).min(SLOTS);
        self.reserve = reserve;
        for (index, record) in self.records.iter_mut().take(self.boot).enumerate() {
            record.state = State::Running;
            record.generation = 1;
            record.subject = Subject::Boot(index);
        }
    }

    /// The number of slots.
    #[must_use]
    pub const fn slots(&self) -> usize {
        self.slots
    }

    /// The record of a slot, empty or not.
    #[must_use]
    pub fn record(&self, slot: usize) -> Option<&Record> {
        self.records.get(slot).filter(|_| slot < self.slots)
    }

    /// The same, to change it.
    pub fn record_mut(&mut self, slot: usize) -> Option<&mut Record> {
        self.records.get_mut(slot).filter(|_| slot < self.slots)
    }

    /// The handle of who is in a slot.
    #[must_use]
    pub fn handle(&self, slot: usize) -> Option<Handle> {
        let record = self.record(slot)?;
        (record.state != State::Empty).then_some(Handle {
            slot: u8::try_from(slot).ok()?,
            generation: record.generation,
        })
    }

    /// The slot that a handle names, of which `caller` may have its way, at which no other call is.
    ///
    /// # Errors
    ///
    /// [`Failure::NotFound`] if the handle names nobody, [`Failure::Denied`] and [`Failure::Busy`].
    pub fn find(
        &mut self,
        caller: Caller,
        authority: &Authority,
        handle: Handle,
    ) -> Result<&mut Record, Failure> {
        let slot = usize::from(handle.slot);
        let subject = match self.record(slot) {
            Some(record)
                if record.generation == handle.generation
                    && !matches!(record.state, State::Empty | State::Creating) =>
            {
                record.subject
            }
            _ => return Err(Failure::NotFound),
        };
        if !authority.covers(caller.vm, subject) {
            return Err(Failure::Denied);
        }
        let record = self.record_mut(slot).ok_or(Failure::NotFound)?;
        if record.held {
            return Err(Failure::Busy);
        }
        Ok(record)
    }

    /// Counts that a caller was denied something.
    pub fn count_denied(&mut self, caller: Caller) {
        if let Some(count) = self.denied.get_mut(caller.vm) {
            *count = count.saturating_add(1);
        }
    }

    /// How often a slot's VM was denied something.
    #[must_use]
    pub fn denied(&self, slot: usize) -> u64 {
        self.denied.get(slot).copied().unwrap_or(0)
    }

    /// Bytes that a caller may still take of the reserve.
    #[must_use]
    pub fn available(&self, caller: Caller, authority: &Authority) -> u64 {
        let used = self.used.get(caller.vm).copied().unwrap_or(u64::MAX);
        let free = self.reserve.as_ref().map_or(0, Blocks::available);
        free.min(authority.memory.saturating_sub(used))
    }

    /// Puts a VM into a free slot, with the memory it takes: [`State::Creating`]. Nothing is taken if
    /// anything is missing. What is missing is found out in steps: `look` says between two of them
    /// whether it goes on.
    ///
    /// # Errors
    ///
    /// [`Failure::Denied`] for cores and priorities that the caller has no authority over, [`Failure::NoMemory`] if
    /// the reserve, the caller's part of it or the slots do not suffice, [`Failure::Busy`] if there
    /// is an instance of the template, and those of `look`.
    pub fn create<E: From<Failure>>(
        &mut self,
        caller: Caller,
        authority: &Authority,
        subject: Subject,
        descriptor: &Descriptor,
        now: u64,
        look: impl Fn() -> Result<(), E>,
    ) -> Result<usize, E> {
        if !self.may_make(caller, authority, subject, descriptor) {
            return Err(Failure::Denied.into());
        }
        let used = self.used.get(caller.vm).copied().unwrap_or(u64::MAX);
        if !authority.allows_memory(used, descriptor.bytes()) {
            return Err(Failure::NoMemory.into());
        }
        look()?;
        self.fill(Some(caller), subject, descriptor, now, look)
    }

    fn may_make(
        &self,
        caller: Caller,
        authority: &Authority,
        subject: Subject,
        descriptor: &Descriptor,
    ) -> bool {
        let allowed = match subject {
            Subject::File(_) => {
                authority.allows_cpus(descriptor.cpu_set())
                    && descriptor.priority <= authority.priority
            }
            // Its cores and its priority are the system's choice.
            Subject::Template(_) => true,
            Subject::Boot(_) => false,
        };
        allowed && authority.covers(caller.vm, subject)
    }

    /// Puts a VM into a free slot for a caller that may, or by the system's own rules.
    ///
    /// # Errors
    ///
    /// [`Failure::NoMemory`] and [`Failure::Busy`] as for [`create`](Self::create), and those of `look`.
    pub fn fill<E: From<Failure>>(
        &mut self,
        maker: Option<Caller>,
        subject: Subject,
        descriptor: &Descriptor,
        now: u64,
        look: impl Fn() -> Result<(), E>,
    ) -> Result<usize, E> {
        let slot = self.vacancy(subject)?;
        look()?;
        let reserve = self.reserve.as_mut().ok_or(Failure::NoMemory)?;
        let memory = reserve.find(descriptor.bytes());
        look()?;
        let memory = memory.filter(|memory| reserve.take(*memory));
        let memory = memory.ok_or(Failure::NoMemory)?;
        if let Some(used) = maker.and_then(|maker| self.used.get_mut(maker.vm)) {
            *used += memory.size();
        }
        let record = self.records.get_mut(slot).ok_or(Failure::NoMemory)?;
        // Field by field: a record is large to be moved.
        record.state = State::Creating;
        record.generation = Handle::next_generation(record.generation);
        record.subject = subject;
        record.descriptor = Some(*descriptor);
        record.memory = Some(memory);
        record.given_back = false;
        record.maker = maker.map(|maker| maker.vm);
        record.work = Some((Work::Making(maker), Work::Making(maker).first()));
        record.held = false;
        record.since = now;
        Ok(slot)
    }

    /// A free slot for another VM.
    fn vacancy(&self, subject: Subject) -> Result<usize, Failure> {
        let one_of = matches!(subject, Subject::Template(_));
        let slots = self.records.get(self.boot..self.slots).unwrap_or_default();
        if one_of && slots.iter().any(|record| record.is(subject)) {
            return Err(Failure::Busy);
        }
        let mut slots = slots.iter();
        let empty = slots.position(|record| record.state == State::Empty);
        Ok(self.boot + empty.ok_or(Failure::NoMemory)?)
    }

    /// Empties a slot whose VM is taken apart ([`Event::Destroyed`]) or was never put together
    /// ([`Event::Abandon`]), and gives back all that it had.
    ///
    /// # Errors
    ///
    /// [`Failure::Busy`] in other states.
    pub fn empty(&mut self, slot: usize, event: Event) -> Result<(), Failure> {
        let record = self.record_mut(slot).ok_or(Failure::NotFound)?;
        if !matches!(event, Event::Abandon | Event::Destroyed) {
            return Err(Failure::Busy);
        }
        record.apply(event)?;
        self.give_back(slot);
        let record = self.record_mut(slot).ok_or(Failure::NotFound)?;
        record.memory = None;
        record.descriptor = None;
        record.maker = None;
        record.work = None;
        record.held = false;
        Ok(())
    }

    /// Gives back what a slot has of the reserve, if it has not been: for who [empties](Self::empty) it
    /// behind a look at what is pending.
    pub fn give_back(&mut self, slot: usize) {
        let Some(record) = self.record_mut(slot).filter(|record| !record.given_back) else {
            return;
        };
        let Some(memory) = record.memory else { return };
        record.given_back = true;
        let maker = record.maker;
        let ours = self
            .reserve
            .as_mut()
            .is_some_and(|reserve| reserve.give_back(memory));
        debug_assert!(ours, "what a VM has came from the reserve");
        if let Some(used) = maker.and_then(|maker| self.used.get_mut(maker)) {
            *used = used.saturating_sub(memory.size());
        }
    }

    /// A slot that this vCPU began to fill and never came back to, as its call was not made again.
    #[must_use]
    pub fn forsaken(&self, caller: Caller) -> Option<usize> {
        (self.boot..self.slots).find(|&slot| {
            self.record(slot).is_some_and(|record| {
                record.state == State::Creating
                    && record
                        .work
                        .is_some_and(|(work, _)| work == Work::Making(Some(caller)))
            })
        })
    }
}

#[cfg(test)]
mod tests;
