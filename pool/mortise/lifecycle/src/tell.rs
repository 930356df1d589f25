//! What is told of a VM.

use crate::{
    Failure, Record,
    calls::{Conversation, values},
    request::DESCRIPTOR,
    stop::{Stop, look},
};
use core_memory::IntermediateRange;
use mortise_hypercall::{Outcome, Reply};
use mortise_instance::{Handle, State};
use mortise_partition::Vm;
use zerocopy::IntoBytes;

/// Bytes of a console that are read at a time.
const READ_MOST: usize = 256;

/// Words that are written at a time.
const LINE: usize = 4;

/// Words of the answer to a request for statistics.
const WORDS: usize = DESCRIPTOR as usize / 8;

impl Conversation<'_> {
    /// Who is in a slot; nobody, for those who have no authority over it.
    pub(crate) fn list(&self, slot: usize) -> Result<Outcome, Stop> {
        let registry = self.site.registry.lock();
        let record = registry.record(slot).ok_or(Failure::NotFound)?;
        let vm = self.site.machine.vm(slot).ok_or(Failure::NotFound)?;
        let known = matches!(record.state, State::Empty | State::Creating)
            || !self.authority.covers(self.caller.vm, record.subject);
        let handle = registry.handle(slot).filter(|_| !known);
        self.look()?;
        let Some(handle) = handle else {
            return Ok(Reply::SUCCESS.into());
        };
        let description = vm.description();
        let kind = description.kind as u64;
        let vcpus = description.cpus.len() as u64;
        let memory = vm.memory_size();
        let what = told(record, vm) | kind << 8 | vcpus << 16;
        Ok(values([0, handle.to_register(), what, memory]))
    }

    /// What a VM is and did, into the caller's memory, line by line: which is next is the call's
    /// progress.
    pub(crate) fn statistics(
        &self,
        handle: Handle,
        to: IntermediateRange,
    ) -> Result<Outcome, Stop> {
        let to = self.own(&to)?;
        self.look()?;
        let slot = usize::from(handle.slot);
        let vm = self.site.machine.vm(slot).ok_or(Failure::NotFound)?;
        let mut registry = self.site.registry.lock();
        let record = registry.find(self.caller, self.authority, handle)?;
        let (state, since) = (told(record, vm), record.since);
        let denied = registry.denied(slot);
        drop(registry);
        let summary = vm.summary();
        let word = |index| match index {
            0 => handle.to_register() & u64::from(u32::MAX) | state << 32,
            1..5 => summary.name(index - 1),
            5 => u64::from(summary.vcpus()) | u64::from(summary.restarts()) << 32,
            6 => vm.memory_size(),
            7 => self.site.machine.now().saturating_sub(since),
            8..14 => summary.exits(index - 8),
            14 => denied,
            15 => u64::from(summary.reason()),
            16..28 => summary.reason_text(index - 16),
            _ => 0,
        };
        let next = self.call.progress() as usize;
        for line in next..WORDS / LINE {
            let first = line * LINE;
            let mut words = [0; LINE];
            for (index, place) in (first..).zip(&mut words) {
                look(line as u32)?;
                *place = word(index).to_le();
            }
            self.write(to.start() + first as u64 * 8, &words);
        }
        look((WORDS / LINE) as u32)?;
        Ok(values([0, DESCRIPTOR, 0, 0]))
    }

    /// What a VM printed lately, into the caller's memory. What was read before an interrupt is the
    /// call's progress: it is read once.
    pub(crate) fn console_read(
        &self,
        handle: Handle,
        to: IntermediateRange,
    ) -> Result<Outcome, Stop> {
        let whole = self.own(&to)?;
        self.state(handle)?;
        let vm = self.site.machine.vm(usize::from(handle.slot));
        let vm = vm.ok_or(Failure::NotFound)?;
        let most = (whole.size() as usize).min(READ_MOST);
        let mut count = self.call.progress() as usize;
        look(count as u32)?;
        // Whole words are written: what is behind the last byte is the caller's too, and ends it.
        while count.is_multiple_of(8) && count < most {
            let mut words = [0u64; LINE];
            let room = LINE.min((most - count) / 8) * 8;
            let room = words.as_mut_bytes().get_mut(..room).unwrap_or_default();
            let read = vm.read_backlog(room);
            let words = words.get(..read.div_ceil(8)).unwrap_or_default();
            self.write(whole.start() + count as u64, words);
            count += read;
            look(count as u32)?;
            if read == 0 {
                break;
            }
        }
        Ok(values([0, count as u64, 0, 0]))
    }

    /// Writes words of the caller's memory.
    fn write(&self, to: u64, words: &[u64]) {
        // SAFETY: RAM of the caller's, which executes: it stays; all within one page of it.
        unsafe { self.site.transfer.write(to, words) };
    }
}

/// The state of a VM as it is told: one that lost a core is that, whatever is to become of it.
fn told(record: &Record, vm: &Vm) -> u64 {
    match vm.is_lost() {
        true => core_statistics::State::Lost as u64,
        false => record.state as u64,
    }
}
