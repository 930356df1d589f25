//! Trace ring of one core: a record of what it ran, when, and what interrupted it.
//!
//! # Purpose
//!
//! To observe a real-time system without changing its behaviour, each core writes 16-byte
//! [`Record`]s into its own [`Ring`], in memory that an observer can read: the host of an emulator,
//! a debugger, another core. Threads of Tenon and vCPUs of Mortise share one format; the
//! orchestrator reads it (`orchestrator/tenonos/trace`) and writes files for timeline viewers.
//! `docs/tracing.md` defines the format byte by byte.
//!
//! # Guarantees
//!
//! - [`Writer::record`] is a fixed sequence of loads and stores: no lock, no loop, no barrier. In a
//!   full ring it overwrites the oldest record; a reader is told how many records it missed.
//! - A reader never accepts a partially written record: both words hold the low bits of the round
//!   of the ring, and a record is valid only if both match its position. This replaces the barrier by
//!   which a writer would announce each overwrite. A reader that stops within a record for exactly
//!   256 rounds would accept a torn one: 4 million events.
//! - There is one writer: the core that owns the ring, with interrupts masked. All readers are
//!   external.
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

pub use event::{Event, Record, of_object, of_priorities};
pub use reader::{Next, Reader};
pub use ring::{NAMES, RECORDS, Ring, TEXT};
pub use writer::Writer;
