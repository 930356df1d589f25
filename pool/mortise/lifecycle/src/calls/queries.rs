//! Query hypercalls: slots, statistics and console output of a VM.

use crate::{
    Error, Record,
    calls::{CallContext, values},
    request::DESCRIPTOR,
    stop::{Stop, check_pending},
};
use core_memory::IntermediateRange;
use mortise_hypercall::{Outcome, Reply};
use mortise_instance::{Handle, State};
use mortise_partition::Vm;
use zerocopy::IntoBytes;

/// Console bytes that one call reads at most.
const READ_MOST: usize = 256;

/// Words that are written per step.
const LINE: usize = 4;

/// Words of the reply to STATISTICS.
const WORDS: usize = DESCRIPTOR as usize / 8;

impl CallContext<'_> {
    /// Handle and state of a slot's occupant. Zero without authority over it.
    pub(crate) fn list(&self, slot: usize) -> Result<Outcome, Stop> {
        let registry = self.executor.registry.lock();
        let record = registry.record(slot).ok_or(Error::NotFound)?;
        let vm = self.executor.machine.vm(slot).ok_or(Error::NotFound)?;
        let known = matches!(record.state, State::Empty | State::Creating)
            || !self.authority.covers(self.caller.vm, record.subject);
        let handle = registry.handle(slot).filter(|_| !known);
        self.check_pending()?;
        let Some(handle) = handle else {
            return Ok(Reply::SUCCESS.into());
        };
        let description = vm.description();
        let kind = description.kind as u64;
        let vcpus = description.cpus.len() as u64;
        let memory = vm.memory_size();
        let what = reported_state(record, vm) | kind << 8 | vcpus << 16;
        Ok(values([0, handle.to_register(), what, memory]))
    }

    /// Copies a VM's statistics into the caller's memory, line by line. The progress of the call is
    /// the next line.
    pub(crate) fn statistics(
        &self,
        handle: Handle,
        to: IntermediateRange,
    ) -> Result<Outcome, Stop> {
        let to = self.translate(&to)?;
        self.check_pending()?;
        let slot = usize::from(handle.slot);
        let vm = self.executor.machine.vm(slot).ok_or(Error::NotFound)?;
        let mut registry = self.executor.registry.lock();
        let record = registry.find(self.caller, self.authority, handle)?;
        let (state, since) = (reported_state(record, vm), record.since);
        let denied = registry.denied(slot);
        drop(registry);
        let summary = vm.summary();
        let word = |index| match index {
            0 => handle.to_register() & u64::from(u32::MAX) | state << 32,
            1..5 => summary.name(index - 1),
            5 => u64::from(summary.vcpus()) | u64::from(summary.restarts()) << 32,
            6 => vm.memory_size(),
            7 => self.executor.machine.now().saturating_sub(since),
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
                check_pending(line as u32)?;
                *place = word(index).to_le();
            }
            self.write(to.start() + first as u64 * 8, &words);
        }
        check_pending((WORDS / LINE) as u32)?;
        Ok(values([0, DESCRIPTOR, 0, 0]))
    }

    /// Copies a VM's recent console output into the caller's memory. The progress of the call
    /// counts the bytes, as they are consumed once.
    pub(crate) fn console_read(
        &self,
        handle: Handle,
        to: IntermediateRange,
    ) -> Result<Outcome, Stop> {
        let whole = self.translate(&to)?;
        self.state(handle)?;
        let vm = self.executor.machine.vm(usize::from(handle.slot));
        let vm = vm.ok_or(Error::NotFound)?;
        let most = (whole.size() as usize).min(READ_MOST);
        let mut count = self.call.progress() as usize;
        check_pending(count as u32)?;
        // Whole words are written: the padding after the last byte lies in the caller's range too.
        // A short word is the last one.
        while count.is_multiple_of(8) && count < most {
            let mut words = [0u64; LINE];
            let room = LINE.min((most - count) / 8) * 8;
            let room = words.as_mut_bytes().get_mut(..room).unwrap_or_default();
            let read = vm.read_backlog(room);
            let words = words.get(..read.div_ceil(8)).unwrap_or_default();
            self.write(whole.start() + count as u64, words);
            count += read;
            check_pending(count as u32)?;
            if read == 0 {
                break;
            }
        }
        Ok(values([0, count as u64, 0, 0]))
    }

    /// Writes words to the caller's memory.
    fn write(&self, to: u64, words: &[u64]) {
        // SAFETY: the range is RAM of the calling VM, which stays mapped during its call, and lies
        // within one page, at a multiple of 8.
        unsafe { self.executor.transfer.write(to, words) };
    }
}

/// Reported state of a VM: `Lost` if it lost a core, whatever its record says.
fn reported_state(record: &Record, vm: &Vm) -> u64 {
    match vm.is_lost() {
        true => core_statistics::State::Lost as u64,
        false => record.state as u64,
    }
}
