//! Registry of VM slots: their occupants, owners and memory from the reserve.

use crate::{Error, Operation, Phase};
use core_memory::{Blocks, PhysicalRange};
use mortise_instance::{Authority, Descriptor, Event, Handle, State, Subject};

/// Most VMs at a time.
pub const SLOTS: usize = 16;
/// Most VMs made at boot. Only these may have authority.
pub const MANAGERS: usize = 8;

/// A calling vCPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caller {
    /// Index of its VM.
    pub vm: usize,
    /// Index of the vCPU in the VM.
    pub vcpu: usize,
}

/// State of one slot.
#[derive(Clone, Debug)]
pub struct Record {
    /// Life cycle state.
    pub state: State,
    /// Number of times the slot was filled.
    pub generation: u32,
    /// The VM as authority checks see it.
    pub subject: Subject,
    /// Description of a VM made at run time.
    pub descriptor: Option<Descriptor>,
    /// Memory from the reserve, kept until the slot is emptied.
    pub memory: Option<PhysicalRange>,
    /// Whether that memory was returned to the reserve.
    memory_freed: bool,
    /// The manager, for its share of the reserve; none for VMs made by a rule of the
    /// system.
    pub creator: Option<usize>,
    /// The operation in progress and its phase.
    pub operation: Option<(Operation, Phase)>,
    /// The manager that last called for a start, restart or destruction.
    pub operator: Option<usize>,
    /// Whether the operation is continued by a rule of the system, as its caller has ended.
    pub adopted: bool,
    /// Whether a call is executing on the VM.
    pub held: bool,
    /// Time of creation, in nanoseconds of the counter.
    pub since: u64,
}

impl Record {
    const EMPTY: Self = Self {
        state: State::Empty,
        generation: 0,
        subject: Subject::Boot(usize::MAX),
        descriptor: None,
        memory: None,
        memory_freed: false,
        creator: None,
        operation: None,
        operator: None,
        adopted: false,
        held: false,
        since: 0,
    };

    /// Whether the slot is occupied by this VM.
    fn is(&self, subject: Subject) -> bool {
        self.state != State::Empty && self.subject == subject
    }

    /// Applies an event to the state.
    ///
    /// # Errors
    ///
    /// [`Error::Busy`] if the state does not allow the event.
    pub fn apply(&mut self, event: Event) -> Result<(), Error> {
        self.state = self.state.after(event).ok_or(Error::Busy)?;
        Ok(())
    }
}

/// All slots and the reserve. VMs made at boot occupy the first slots.
#[derive(Clone, Debug)]
pub struct Registry {
    records: [Record; SLOTS],
    boot: usize,
    slots: usize,
    reserve: Option<Blocks>,
    /// Bytes of the reserve charged to each VM made at boot.
    used: [u64; MANAGERS],
    /// Calls denied to each slot's VM.
    denied: [u64; SLOTS],
}

impl Registry {
    /// The initial registry: no slots, no reserve.
    pub const CLOSED: Self = Self {
        records: [const { Record::EMPTY }; SLOTS],
        boot: 0,
        slots: 0,
        reserve: None,
        used: [0; MANAGERS],
        denied: [0; SLOTS],
    };

    /// Initialises the registry with `boot` running VMs and `more` empty slots.
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

    /// The record of a slot, occupied or empty.
    #[must_use]
    pub fn record(&self, slot: usize) -> Option<&Record> {
        self.records.get(slot).filter(|_| slot < self.slots)
    }

    /// The record of a slot, mutable.
    pub fn record_mut(&mut self, slot: usize) -> Option<&mut Record> {
        self.records.get_mut(slot).filter(|_| slot < self.slots)
    }

    /// The handle of a slot's occupant.
    #[must_use]
    pub fn handle(&self, slot: usize) -> Option<Handle> {
        let record = self.record(slot)?;
        (record.state != State::Empty).then_some(Handle {
            slot: u8::try_from(slot).ok()?,
            generation: record.generation,
        })
    }

    /// The record that a handle names, if `caller` has authority over it and no call is executing
    /// on it.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] for a stale handle, [`Error::Denied`] and [`Error::Busy`].
    pub fn find(
        &mut self,
        caller: Caller,
        authority: &Authority,
        handle: Handle,
    ) -> Result<&mut Record, Error> {
        let slot = usize::from(handle.slot);
        let subject = match self.record(slot) {
            Some(record)
                if record.generation == handle.generation
                    && !matches!(record.state, State::Empty | State::Creating) =>
            {
                record.subject
            }
            _ => return Err(Error::NotFound),
        };
        if !authority.covers(caller.vm, subject) {
            return Err(Error::Denied);
        }
        let record = self.record_mut(slot).ok_or(Error::NotFound)?;
        if record.held {
            return Err(Error::Busy);
        }
        Ok(record)
    }

    /// Counts a denied call.
    pub fn count_denied(&mut self, caller: Caller) {
        if let Some(count) = self.denied.get_mut(caller.vm) {
            *count = count.saturating_add(1);
        }
    }

    /// Number of calls denied to a slot's VM.
    #[must_use]
    pub fn denied(&self, slot: usize) -> u64 {
        self.denied.get(slot).copied().unwrap_or(0)
    }

    /// Bytes of the reserve that a caller may still use.
    #[must_use]
    pub fn available(&self, caller: Caller, authority: &Authority) -> u64 {
        let used = self.used.get(caller.vm).copied().unwrap_or(u64::MAX);
        let free = self.reserve.as_ref().map_or(0, Blocks::available);
        free.min(authority.memory.saturating_sub(used))
    }

    /// Allocates a free slot and memory for a VM, in state [`State::Creating`]. Nothing is taken if
    /// anything is missing. `check_pending` is called between steps and ends the call early.
    ///
    /// # Errors
    ///
    /// [`Error::Denied`] for cores and priorities outside the caller's authority,
    /// [`Error::NoMemory`] if the reserve, the caller's share or the slots do not suffice,
    /// [`Error::Busy`] if the template has an instance, and those of `check_pending`.
    pub fn create<E: From<Error>>(
        &mut self,
        caller: Caller,
        authority: &Authority,
        subject: Subject,
        descriptor: &Descriptor,
        now: u64,
        check_pending: impl Fn() -> Result<(), E>,
    ) -> Result<usize, E> {
        if !self.may_make(caller, authority, subject, descriptor) {
            return Err(Error::Denied.into());
        }
        let used = self.used.get(caller.vm).copied().unwrap_or(u64::MAX);
        if !authority.allows_memory(used, descriptor.bytes()) {
            return Err(Error::NoMemory.into());
        }
        check_pending()?;
        self.fill(Some(caller), subject, descriptor, now, check_pending)
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
            // The system chose its cores and its priority.
            Subject::Template(_) => true,
            Subject::Boot(_) => false,
        };
        allowed && authority.covers(caller.vm, subject)
    }

    /// Allocates a slot for a caller that is authorised, or for a rule of the system.
    ///
    /// # Errors
    ///
    /// [`Error::NoMemory`] and [`Error::Busy`] as for [`create`](Self::create), and those of `check_pending`.
    pub fn fill<E: From<Error>>(
        &mut self,
        creator: Option<Caller>,
        subject: Subject,
        descriptor: &Descriptor,
        now: u64,
        check_pending: impl Fn() -> Result<(), E>,
    ) -> Result<usize, E> {
        let slot = self.free_slot(subject)?;
        check_pending()?;
        let reserve = self.reserve.as_mut().ok_or(Error::NoMemory)?;
        let memory = reserve.find(descriptor.bytes());
        check_pending()?;
        let memory = memory.filter(|memory| reserve.take(*memory));
        let memory = memory.ok_or(Error::NoMemory)?;
        if let Some(used) = creator.and_then(|creator| self.used.get_mut(creator.vm)) {
            *used += memory.size();
        }
        let record = self.records.get_mut(slot).ok_or(Error::NoMemory)?;
        // Field by field, as a whole record is large to move.
        record.state = State::Creating;
        record.generation = Handle::next_generation(record.generation);
        record.subject = subject;
        record.descriptor = Some(*descriptor);
        record.memory = Some(memory);
        record.memory_freed = false;
        record.creator = creator.map(|creator| creator.vm);
        record.operation = Some((
            Operation::Create(creator),
            Operation::Create(creator).first(),
        ));
        record.operator = None;
        record.adopted = false;
        record.held = false;
        record.since = now;
        Ok(slot)
    }

    /// A free slot.
    fn free_slot(&self, subject: Subject) -> Result<usize, Error> {
        let one_of = matches!(subject, Subject::Template(_));
        let slots = self.records.get(self.boot..self.slots).unwrap_or_default();
        if one_of && slots.iter().any(|record| record.is(subject)) {
            return Err(Error::Busy);
        }
        let mut slots = slots.iter();
        let empty = slots.position(|record| record.state == State::Empty);
        Ok(self.boot + empty.ok_or(Error::NoMemory)?)
    }

    /// Empties the slot of a VM that is destroyed ([`Event::Destroyed`]) or was never completed
    /// ([`Event::Abandon`]), and returns its memory to the reserve.
    ///
    /// # Errors
    ///
    /// [`Error::Busy`] in other states.
    pub fn empty(&mut self, slot: usize, event: Event) -> Result<(), Error> {
        let record = self.record_mut(slot).ok_or(Error::NotFound)?;
        if !matches!(event, Event::Abandon | Event::Destroyed) {
            return Err(Error::Busy);
        }
        record.apply(event)?;
        self.free_memory(slot);
        let record = self.record_mut(slot).ok_or(Error::NotFound)?;
        record.memory = None;
        record.descriptor = None;
        record.creator = None;
        record.operation = None;
        record.held = false;
        Ok(())
    }

    /// Returns a slot's memory to the reserve, once. Separate from [`empty`](Self::empty), so that
    /// pending interrupts can be checked between the two.
    pub fn free_memory(&mut self, slot: usize) {
        let Some(record) = self.record_mut(slot).filter(|record| !record.memory_freed) else {
            return;
        };
        let Some(memory) = record.memory else { return };
        record.memory_freed = true;
        let creator = record.creator;
        let ours = self
            .reserve
            .as_mut()
            .is_some_and(|reserve| reserve.give_back(memory));
        debug_assert!(ours, "what a VM has came from the reserve");
        if let Some(used) = creator.and_then(|creator| self.used.get_mut(creator)) {
            *used = used.saturating_sub(memory.size());
        }
    }

    /// Notes that memory of the reserve was filled with zeros.
    pub fn note_scrubbed(&mut self, memory: PhysicalRange) {
        if let Some(reserve) = &mut self.reserve {
            reserve.note_scrubbed(memory);
        }
    }

    /// Whether memory of the reserve is all zero: nothing was written since it was scrubbed.
    #[must_use]
    pub fn is_scrubbed(&self, memory: PhysicalRange) -> bool {
        (self.reserve.as_ref()).is_some_and(|reserve| reserve.is_scrubbed(memory))
    }

    /// Undoes a creation that is not complete. In the phases in which nothing is mapped and nothing but
    /// zeros was written, the slot is emptied at once; in others the VM is to be destroyed. Returns whether
    /// the slot is empty.
    ///
    /// # Errors
    ///
    /// [`Error::Busy`] if the VM in the slot is complete.
    pub fn undo_creation(&mut self, slot: usize) -> Result<bool, Error> {
        let record = self.record_mut(slot).ok_or(Error::NotFound)?;
        match record.operation {
            Some((
                Operation::Create(_),
                Phase::CheckName(_)
                | Phase::Reject(_)
                | Phase::AwaitVcpus
                | Phase::ClearStatus(_)
                | Phase::Describe(_)
                | Phase::Scrub(_),
            )) => {
                self.empty(slot, Event::Abandon)?;
                Ok(true)
            }
            _ if record.state != State::Creating => Err(Error::Busy),
            _ => {
                record.operation = Some((Operation::Destroy, Operation::Destroy.first()));
                Ok(false)
            }
        }
    }

    /// A slot of which a vCPU of this VM began the creation, or its undoing after that. Once the run of
    /// the VM is over, nothing else continues it: no handle names a VM that is not complete.
    #[must_use]
    pub fn orphan(&self, vm: usize) -> Option<usize> {
        (self.boot..self.slots).find(|&slot| {
            self.record(slot).is_some_and(|record| {
                let by_call = match record.operation {
                    Some((Operation::Create(caller), _)) => caller.is_some(),
                    Some((Operation::Destroy, _)) => true,
                    _ => false,
                };
                record.state == State::Creating && by_call && record.creator == Some(vm)
            })
        })
    }

    /// A VM that a manager made, with a destruction in progress that is not executing. It is continued
    /// by a rule of the system from here on, so that it ends without its manager.
    pub fn retire_destroyed(&mut self, manager: usize) -> Option<usize> {
        let (slot, record) = (self.records.iter_mut().enumerate()).find(|(_, record)| {
            let destroyed = matches!(record.operation, Some((Operation::Destroy, _)));
            destroyed
                && record.state == State::Destroying
                && record.creator == Some(manager)
                && !record.held
        })?;
        if let Some((operation, _)) = &mut record.operation {
            *operation = Operation::Retire;
        }
        Some(slot)
    }

    /// A VM with a start or restart in progress that this manager called for and that is not
    /// executing. It is continued by a rule of the system from here on, on the core of the VM.
    pub fn adopt_start(&mut self, manager: usize) -> Option<usize> {
        let (slot, record) = (self.records.iter_mut().enumerate()).find(|(_, record)| {
            let starts = matches!(
                record.operation,
                Some((Operation::Start | Operation::Restart, _))
            );
            starts && record.operator == Some(manager) && !record.held && !record.adopted
        })?;
        record.adopted = true;
        Some(slot)
    }

    /// A slot that this vCPU began to fill with a call that it did not repeat.
    #[must_use]
    pub fn abandoned(&self, caller: Caller) -> Option<usize> {
        (self.boot..self.slots).find(|&slot| {
            self.record(slot).is_some_and(|record| {
                record.state == State::Creating
                    && record
                        .operation
                        .is_some_and(|(operation, _)| operation == Operation::Create(Some(caller)))
            })
        })
    }
}

#[cfg(test)]
mod tests;
