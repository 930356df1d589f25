//! Trace writer of the core that owns a ring.

use crate::ring::{Name, WORD};
use crate::{Event, RECORDS, Record, Ring, TEXT};
use core::cell::Cell;
use core::sync::atomic::Ordering;

const MAGIC: u64 = u32::from_le_bytes(*b"TRAC") as u64;
const VERSION: u64 = 1;

/// The writer of a ring. It holds the count of records privately, so that the contents of the ring
/// do not determine where it writes. Zero before the start.
#[derive(Debug, Default)]
pub struct Writer {
    ring: Cell<Option<&'static Ring>>,
    head: Cell<u64>,
}

impl Writer {
    /// A writer without a ring.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            ring: Cell::new(None),
            head: Cell::new(0),
        }
    }

    /// Attaches `ring` as its only writer: empties it and sets the core and the frequency of its
    /// system counter. Data of a former run is cleared before the ring becomes valid.
    pub fn start(&self, ring: &'static Ring, core: u32, hertz: u64) {
        ring.identity.store(0, Ordering::Release);
        for name in &ring.names {
            name.subject.store(0, Ordering::Relaxed);
        }
        ring.head.store(0, Ordering::Relaxed);
        ring.core.store(core.into(), Ordering::Relaxed);
        ring.frequency.store(hertz, Ordering::Relaxed);
        ring.capacity.store(RECORDS as u64, Ordering::Relaxed);
        for word in &ring.reserved {
            word.store(0, Ordering::Relaxed);
        }
        let identity = VERSION << u32::BITS | MAGIC;
        ring.identity.store(identity, Ordering::Release);
        self.head.set(0);
        self.ring.set(Some(ring));
    }

    /// Records one event. The low 48 bits of the subject are stored.
    #[inline(always)]
    pub fn record(&self, time: u64, event: Event, subject: u64) {
        let (ring, head) = (self.ring.get(), self.head.get());
        let Some(ring) = ring else {
            return;
        };
        let [first, second] = Record::words(time, event, subject, head / RECORDS as u64);
        // Always in range: the compiler knows that the remainder is less than the length.
        if let Some([to_first, to_second]) = ring.records.get(head as usize % RECORDS) {
            to_first.store(first, Ordering::Relaxed);
            to_second.store(second, Ordering::Relaxed);
        }
        // A reader that observes this head observes the record, not the earlier contents of the
        // memory.
        self.head.set(head.wrapping_add(1));
        ring.head.store(head.wrapping_add(1), Ordering::Release);
    }

    /// Sets the name of a subject, truncated to the available size; a former name is replaced. When
    /// all entries are in use, further subjects have no name. Not for real-time paths, as it
    /// searches all names.
    pub fn name(&self, subject: u64, text: &str) {
        let Some(ring) = self.ring.get() else {
            return;
        };
        let holds =
            |wanted: u64| move |name: &&Name| name.subject.load(Ordering::Relaxed) == wanted;
        let known = ring.names.iter().find(holds(subject));
        let Some(name) = known.or_else(|| ring.names.iter().find(holds(0))) else {
            return;
        };
        name.subject.store(0, Ordering::Release);
        let mut bytes = [0; TEXT];
        for (to, from) in bytes.iter_mut().zip(text.bytes()) {
            *to = from;
        }
        for (to, from) in name.text.iter().zip(bytes.chunks_exact(WORD)) {
            let word = from
                .iter()
                .rev()
                .fold(0, |word, &byte| word << 8 | u64::from(byte));
            to.store(word, Ordering::Relaxed);
        }
        name.subject.store(subject, Ordering::Release);
    }
}
