//! Memory that an SMMU accesses: stream table, context descriptor and queues.

use crate::command::Command;
use crate::context::{ABORT, Descriptor, Entry};
use crate::event::Record;
use core::sync::atomic::{AtomicU64, Ordering};
use hw_arch::dma::address;

/// Streams in the table: of PCI, all functions on bus 0.
pub const STREAMS: usize = 256;

/// Log2 of the number of entries of the queues.
pub(crate) const COMMANDS: u32 = 4;
pub(crate) const EVENTS: u32 = 6;

/// Memory of an SMMU: stream table, command queue and event queue. Each part is aligned to its size
/// (IHI 0070, 6.3.24, 6.3.26 and 6.3.29).
#[derive(Debug)]
#[repr(C, align(0x4000))]
pub struct Memory {
    streams: [[AtomicU64; 8]; STREAMS],
    events: [[AtomicU64; 4]; 1 << EVENTS],
    commands: [[AtomicU64; 2]; 1 << COMMANDS],
    descriptor: [AtomicU64; 8],
}

const _: () =
    assert!(core::mem::offset_of!(Memory, events) % size_of::<[Record; 1 << EVENTS]>() == 0);
const _: () =
    assert!(core::mem::offset_of!(Memory, commands) % size_of::<[Command; 1 << COMMANDS]>() == 0);
const _: () = assert!(core::mem::offset_of!(Memory, descriptor) % size_of::<Descriptor>() == 0);

impl Default for Memory {
    fn default() -> Self {
        Self::new()
    }
}

impl Memory {
    /// Memory that no SMMU uses yet.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            streams: [const { [const { AtomicU64::new(0) }; 8] }; STREAMS],
            events: [const { [const { AtomicU64::new(0) }; 4] }; 1 << EVENTS],
            commands: [const { [const { AtomicU64::new(0) }; 2] }; 1 << COMMANDS],
            descriptor: [const { AtomicU64::new(0) }; 8],
        }
    }

    pub(crate) fn table(&self) -> u64 {
        address(&self.streams)
    }

    pub(crate) fn command_queue(&self) -> u64 {
        address(&self.commands)
    }

    pub(crate) fn event_queue(&self) -> u64 {
        address(&self.events)
    }

    pub(crate) fn descriptor(&self) -> u64 {
        address(&self.descriptor)
    }

    /// Sets the first word of every entry, which aborts or translates the stream, by one store each, as
    /// the SMMU may read an entry at any time (3.21.3).
    pub(crate) fn begin_all(&self, first: u64) {
        for entry in &self.streams {
            entry[0].store(first, Ordering::Release);
        }
    }

    /// Writes the other words of each entry, while all streams are aborted.
    pub(crate) fn prepare_all(&self, entry: &Entry, descriptor: &Descriptor) {
        for place in &self.streams {
            debug_assert_eq!(place[0].load(Ordering::Relaxed), ABORT);
            for (word, value) in place.iter().zip(entry).skip(1) {
                word.store(*value, Ordering::Relaxed);
            }
        }
        for (word, value) in self.descriptor.iter().zip(descriptor) {
            word.store(*value, Ordering::Relaxed);
        }
    }

    pub(crate) fn put(&self, index: u32, command: Command) {
        if let Some(place) = self.commands.get(index as usize % (1 << COMMANDS)) {
            for (word, value) in place.iter().zip(command) {
                word.store(value, Ordering::Release);
            }
        }
    }

    pub(crate) fn record(&self, index: u32) -> Record {
        let mut record = Record::default();
        if let Some(place) = self.events.get(index as usize % (1 << EVENTS)) {
            for (value, word) in record.iter_mut().zip(place) {
                *value = word.load(Ordering::Acquire);
            }
        }
        record
    }

    #[cfg(test)]
    pub(crate) fn entry(&self, stream: usize) -> Entry {
        core::array::from_fn(|word| self.streams[stream][word].load(Ordering::Relaxed))
    }

    #[cfg(test)]
    pub(crate) fn command(&self, index: usize) -> Command {
        core::array::from_fn(|word| self.commands[index][word].load(Ordering::Relaxed))
    }

    #[cfg(test)]
    pub(crate) fn set_record(&self, index: usize, record: Record) {
        for (word, value) in self.events[index].iter().zip(record) {
            word.store(value, Ordering::Relaxed);
        }
    }
}
