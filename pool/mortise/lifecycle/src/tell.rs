//! What is told of a VM.

use crate::{
    Failure,
    calls::{Conversation, values},
    request::DESCRIPTOR,
};
use core_memory::IntermediateRange;
use mortise_hypercall::{Outcome, Reply};
use mortise_instance::{Handle, State};

/// Bytes of a console that are read at a time.
const READ_MOST: usize = 256;

/// Words of the answer to a request for statistics.
const WORDS: usize = DESCRIPTOR as usize / 8;

impl Conversation<'_> {
    /// Who is in a slot; nobody, for those who have no authority over it.
    pub(crate) fn list(&self, slot: usize) -> Result<Outcome, Failure> {
        let registry = self.site.registry.lock();
        let record = registry.record(slot).ok_or(Failure::NotFound)?;
        let vm = self.site.machine.vm(slot).ok_or(Failure::NotFound)?;
        let known = matches!(record.state, State::Empty | State::Creating)
            || !self.authority.covers(self.caller.vm, record.subject);
        let Some(handle) = registry.handle(slot).filter(|_| !known) else {
            return Ok(Reply::SUCCESS.into());
        };
        let description = vm.description();
        let kind = u64::from(description.kind == core_manifest::Kind::Linux);
        let vcpus = description.cpus.len() as u64;
        let memory = description.memory().map(|it| it.physical.size()).sum();
        let what = record.state as u64 | kind << 8 | vcpus << 16;
        Ok(values([0, handle.to_register(), what, memory]))
    }

    pub(crate) fn statistics(
        &self,
        handle: Handle,
        to: IntermediateRange,
    ) -> Result<Outcome, Failure> {
        let to = self.own(&to)?;
        let slot = usize::from(handle.slot);
        let vm = self.site.machine.vm(slot).ok_or(Failure::NotFound)?;
        let mut registry = self.site.registry.lock();
        let record = registry.find(self.caller, &self.authority, handle)?;
        let (state, since) = (record.state as u64, record.since);
        let denied = registry.denied(slot);
        drop(registry);
        let told = vm.summary();
        let memory = vm.description().memory().map(|it| it.physical.size()).sum();
        let mut answer = [0u64; WORDS];
        let [n0, n1, n2, n3] = told.name;
        let [e0, e1, e2, e3, e4, e5] = told.exits;
        let head = [
            handle.to_register() & u64::from(u32::MAX) | state << 32,
            n0,
            n1,
            n2,
            n3,
            u64::from(told.vcpus) | u64::from(told.restarts) << 32,
            memory,
            self.site.machine.now().saturating_sub(since),
            e0,
            e1,
            e2,
            e3,
            e4,
            e5,
            denied,
            u64::from(told.reason),
        ];
        for (word, value) in answer.iter_mut().zip(head.iter().chain(&told.reason_text)) {
            *word = value.to_le();
        }
        // SAFETY: RAM of the caller's, which executes: it stays; all within one page of it.
        unsafe { self.site.transfer.write(to.start(), &answer) };
        Ok(values([0, DESCRIPTOR, 0, 0]))
    }

    pub(crate) fn console_read(
        &self,
        handle: Handle,
        to: IntermediateRange,
    ) -> Result<Outcome, Failure> {
        let whole = self.own(&to)?;
        self.state(handle)?;
        let vm = self.site.machine.vm(usize::from(handle.slot));
        let vm = vm.ok_or(Failure::NotFound)?;
        let mut bytes = [0; READ_MOST];
        // Whole words are written: what is behind the last byte is the caller's too.
        let room = (whole.size() as usize & !7).min(READ_MOST);
        let room = bytes.get_mut(..room).unwrap_or_default();
        let count = vm.read_backlog(room);
        let padded = count.next_multiple_of(8);
        self.write(whole.start(), bytes.get(..padded).unwrap_or_default());
        Ok(values([0, count as u64, 0, 0]))
    }

    /// Writes whole words of the caller's memory.
    fn write(&self, to: u64, bytes: &[u8]) {
        let mut words = [0u64; READ_MOST / 8];
        let whole = bytes.as_chunks::<8>().0;
        for (to, from) in words.iter_mut().zip(whole) {
            *to = u64::from_ne_bytes(*from);
        }
        let words = words.get(..whole.len()).unwrap_or_default();
        // SAFETY: RAM of the caller's, which executes: it stays; all within one page of it.
        unsafe { self.site.transfer.write(to, words) };
    }
}
