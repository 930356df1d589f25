//! A trace ring of one core: what ran there and when, what interrupted it, what it waited for.
//!
//! # Purpose
//!
//! To see what a real-time system did without changing what it does, each core writes 16-byte
//! [`Record`]s into a [`Ring`] of its own, in memory that the outside can read: the host of an
//! emulator, a debugger, another core. The format is the same for threads of Tenon and virtual CPUs
//! of Mortise; the orchestrator reads it (`orchestrator/tenonos/trace`) and writes what timeline
//! viewers open. `docs/tracing.md` has the format byte by byte.
//!
//! # Guarantees
//!
//! - [`Writer::record`] is a fixed sequence of loads and stores: no lock, no loop, no barrier. When
//!   the ring is full it overwrites the oldest record; a reader is told how many it missed.
//! - A reader never takes half of a record for a whole one: both words carry the low bits of how
//!   often the ring went round, and a record counts only if both say what its place in the order
//!   demands. That replaces the barrier by which a writer would announce each overwriting. A reader
//!   that sleeps in the middle of a record for exactly 256 rounds would be fooled: 4 million events.
//! - One writer: the core that owns the ring, with interrupts masked. All readers are outside.
//!
//! # Example
//!
//! ```
//! use core_trace::{Event, Next, Reader, Record, Ring, Writer};
//!
//! static RING: Ring = Ring::new();
//!
//! let writer = Writer::new();
//! writer.start(&RING, 0, 62_500_000);
//! writer.name(0x4008_0000, "control");
//! writer.record(1_000, Event::Run, 0x4008_0000);
//!
//! let mut reader = Reader::new(&RING);
//! let run = Record { time: 1_000, event: Some(Event::Run), subject: 0x4008_0000 };
//! assert_eq!(reader.take(), Next::Record(run));
//! assert_eq!(reader.take(), Next::Empty);
//! ```

#![cfg_attr(not(any(test, loom)), no_std)]
#![forbid(unsafe_code)]

mod event;
#[cfg(all(test, loom))]
mod model;
mod reader;
mod ring;
mod writer;

pub use event::{Event, Record};
pub use reader::{Next, Reader};
pub use ring::{NAMES, RECORDS, Ring, TEXT};
pub use writer::Writer;
