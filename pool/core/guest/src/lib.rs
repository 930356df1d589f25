//! The guest header, at the start of a guest's memory.
//!
//! The orchestrator writes it from `system.toml`; x0 holds its address at guest entry. It describes
//! the guest's memory, its shared areas, those of its periodic tasks, and its channel ends. All
//! fields are at fixed offsets, so that reading takes no parser and hardly any code.
//! `docs/formats.md` lists the fields.
//!
//! Guarantees: any bytes yield a [`Guest`] or an [`Error`], never a panic. The ranges of a
//! [`Guest`] consist of whole pages, and no period is zero. Mortise, which maps the ranges, ensures
//! that they do not overlap. No allocation, no copy; time is linear in the number of tasks.
//!
//! ```
//! # fn bytes_at_x0() -> &'static [u8] { &[] }
//! match core_guest::Guest::parse(bytes_at_x0()) {
//!     Ok(guest) => println!("{} has {} cores", guest.name(), guest.cpus()),
//!     Err(error) => println!("on bare metal: {error}"),
//! }
//! ```

#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

use core::fmt;
use core::mem::offset_of;
use core_memory::{IntermediateRange, PAGE_SIZE};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// First field of a header: `TGST`.
pub const MAGIC: u32 = u32::from_le_bytes(*b"TGST");
/// Version of the format.
pub const VERSION: u32 = 1;
/// Bytes of a name, NUL-padded.
pub const NAME_LENGTH: usize = 32;
/// Maximum number of periodic tasks.
pub const TASKS: usize = 8;

/// Maximum number of channel ends.
pub const ENDS: usize = 8;

/// Size of a header.
pub const SIZE: usize = 0x80 + TASKS * 0x40 + ENDS * 0x70;

/// Error of a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// The bytes are not a header, too few, or not aligned to 8.
    Foreign,
    /// The header has another version.
    Version(u32),
    /// The number of tasks exceeds the maximum.
    Tasks(u32),
    /// This range does not consist of whole pages.
    Pages(u64),
    /// A period is zero.
    Period,
    /// The number of channel ends and vLibs exceeds the maximum.
    Ends(u32),
    /// The guest has no end of such a channel.
    NoChannel,
    /// The guest has no such vLib to call.
    NoVlib,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Foreign => f.write_str("there is no guest header"),
            Self::Version(version) => {
                write!(f, "the guest header has version {version}, not {VERSION}")
            }
            Self::Tasks(count) => write!(f, "the guest header has no room for {count} tasks"),
            Self::Pages(start) => write!(f, "the guest's range at {start:#x} is not whole pages"),
            Self::Period => f.write_str("a task of the guest has a period of zero"),
            Self::Ends(count) => write!(f, "the guest header has no room for {count} channels"),
            Self::NoChannel => f.write_str("the system gives the guest no end of such a channel"),
            Self::NoVlib => f.write_str("the system gives the guest no such vLib to call"),
        }
    }
}

impl core::error::Error for Error {}

/// A range in the header; its size is zero if there is none.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
struct Pages {
    start: u64,
    size: u64,
}

impl Pages {
    fn check(self) -> Result<(), Error> {
        let aligned = (self.start | self.size).is_multiple_of(PAGE_SIZE);
        let whole = aligned && self.start.checked_add(self.size).is_some();
        whole.then_some(()).ok_or(Error::Pages(self.start))
    }

    fn range(self) -> Option<IntermediateRange> {
        IntermediateRange::new(self.start, self.size)
    }

    fn part(self) -> Result<IntermediateRange, Error> {
        self.check()?;
        self.range().ok_or(Error::Pages(self.start))
    }
}

/// The header in memory. All fields are little-endian.
#[derive(Debug, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
struct Header {
    magic: u32,
    version: u32,
    tasks: u32,
    cpus: u32,
    name: [u8; NAME_LENGTH],
    /// Memory, status page, log ring, and the range that contains all shared areas.
    ranges: [Pages; 4],
    ends: u32,
    /// The priority of each task; zero if the system states none.
    priorities: [u8; TASKS],
    /// Reserved, zero.
    reserved: u32,
    task: [Task; TASKS],
    end: [End; ENDS],
}

/// A periodic task in the header.
#[derive(Debug, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Task {
    name: [u8; NAME_LENGTH],
    area: Pages,
    /// Period in nanoseconds; not zero.
    pub period_ns: u64,
    /// Deadline of a job's start after its release, in nanoseconds.
    pub deadline_ns: u64,
}

/// A channel end in the header.
#[derive(Debug, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
struct End {
    name: [u8; NAME_LENGTH],
    number: u32,
    role: u32,
    slots: u32,
    size: u32,
    /// The producer's part, the consumer's, the status.
    parts: [Pages; 3],
    interrupt: u32,
    reserved: [u32; 3],
}

/// The guest's end of a channel to or from another VM.
#[derive(Clone, Copy, Debug)]
pub struct Channel {
    /// Its number in hypercalls.
    pub number: u32,
    /// Whether this is the sending end.
    pub sends: bool,
    /// Capacity in messages.
    pub slots: u32,
    /// Maximum size of a message.
    pub size: u32,
    /// The producer's part.
    pub producer: IntermediateRange,
    /// The consumer's part.
    pub consumer: IntermediateRange,
    /// The status of both ends.
    pub status: IntermediateRange,
    /// The doorbell interrupt.
    pub interrupt: u32,
}

/// A vLib that the guest can call.
#[derive(Clone, Copy, Debug)]
pub struct Vlib {
    /// Its number in hypercalls.
    pub number: u32,
    /// Memory shared by guest and server.
    pub memory: IntermediateRange,
    /// The status of the server.
    pub status: IntermediateRange,
    /// The expiry interrupt.
    pub interrupt: u32,
}

/// The role of a sending end, and of a caller of a vLib.
const SENDS: u32 = 0;
const CALLS: u32 = 2;

const _: () = {
    assert!(offset_of!(Header, name) == 0x10);
    assert!(offset_of!(Header, ranges) == 0x30);
    assert!(offset_of!(Header, task) == 0x80);
    assert!(size_of::<Header>() == SIZE);
    assert!(offset_of!(Header, ends) == 0x70);
    assert!(offset_of!(Header, priorities) == 0x74);
    assert!(offset_of!(Header, end) == 0x280);
    assert!(offset_of!(End, parts) == 0x30);
    assert!(offset_of!(End, interrupt) == 0x60);
    assert!(size_of::<End>() == 0x70);
    assert!(offset_of!(Task, area) == 0x20);
    assert!(size_of::<Task>() == 0x40);
};

impl Task {
    /// Its name.
    pub fn name(&self) -> &str {
        text(&self.name)
    }

    /// The area of its samples, if there is one.
    pub fn area(&self) -> Option<IntermediateRange> {
        self.area.range()
    }
}

/// The guest's own header, validated.
#[derive(Clone, Copy, Debug)]
pub struct Guest<'a>(&'a Header);

impl<'a> Guest<'a> {
    /// Validates the header at the start of `bytes`, which may be longer.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Error> {
        let (header, _) = Header::ref_from_prefix(bytes).map_err(|_| Error::Foreign)?;
        if header.magic != MAGIC {
            return Err(Error::Foreign);
        }
        if header.version != VERSION {
            return Err(Error::Version(header.version));
        }
        let tasks = header.task.get(..header.tasks as usize);
        for pages in &header.ranges {
            pages.check()?;
        }
        for task in tasks.ok_or(Error::Tasks(header.tasks))? {
            task.area.check()?;
            if task.period_ns == 0 {
                return Err(Error::Period);
            }
        }
        Ok(Self(header))
    }

    /// The VM's name.
    pub fn name(&self) -> &'a str {
        text(&self.0.name)
    }

    /// Number of its vCPUs.
    pub fn cpus(&self) -> u32 {
        self.0.cpus
    }

    /// Its memory.
    pub fn memory(&self) -> Option<IntermediateRange> {
        self.range(0)
    }

    /// Its status page, read-only to the guest.
    pub fn status(&self) -> Option<IntermediateRange> {
        self.range(1)
    }

    /// Its log ring.
    pub fn log(&self) -> Option<IntermediateRange> {
        self.range(2)
    }

    /// The range that contains all memory shared with others.
    pub fn shared(&self) -> Option<IntermediateRange> {
        self.range(3)
    }

    fn range(&self, index: usize) -> Option<IntermediateRange> {
        self.0.ranges.get(index)?.range()
    }

    /// Its periodic tasks.
    pub fn tasks(&self) -> &'a [Task] {
        let count = self.0.tasks as usize;
        self.0.task.get(..count).unwrap_or(&[])
    }

    /// The guest's end of the channel of this name. It is validated here, so that a guest without
    /// channels has no code for them.
    pub fn channel(&self, name: &str) -> Result<Channel, Error> {
        let end = self.end(name, |role| role < CALLS)?;
        let end = end.ok_or(Error::NoChannel)?;
        let [producer, consumer, status] = end.parts;
        Ok(Channel {
            number: end.number,
            sends: end.role == SENDS,
            slots: end.slots,
            size: end.size,
            producer: producer.part()?,
            consumer: consumer.part()?,
            status: status.part()?,
            interrupt: end.interrupt,
        })
    }

    /// The vLib of this name that the guest can call, validated as a channel is.
    pub fn vlib(&self, name: &str) -> Result<Vlib, Error> {
        let end = self.end(name, |role| role == CALLS)?;
        let end = end.ok_or(Error::NoVlib)?;
        let [memory, _, status] = end.parts;
        Ok(Vlib {
            number: end.number,
            memory: memory.part()?,
            status: status.part()?,
            interrupt: end.interrupt,
        })
    }

    /// The channel end of this name and role.
    fn end(&self, name: &str, role: impl Fn(u32) -> bool) -> Result<Option<&'a End>, Error> {
        let ends = self.0.end.get(..self.0.ends as usize);
        let ends = ends.ok_or(Error::Ends(self.0.ends))?;
        let mut ends = ends.iter().filter(|end| role(end.role));
        Ok(ends.find(|end| text(&end.name) == name))
    }

    /// The task of this name.
    pub fn task(&self, name: &str) -> Option<&'a Task> {
        self.tasks().iter().find(|task| task.name() == name)
    }

    /// The priority that the system states for the task of this name.
    pub fn task_priority(&self, name: &str) -> Option<u8> {
        let index = self.tasks().iter().position(|task| task.name() == name)?;
        let priority = *self.0.priorities.get(index)?;
        (priority > 0).then_some(priority)
    }
}

/// The text of a field up to its first NUL; empty if it is not UTF-8.
fn text(field: &[u8]) -> &str {
    let mut parts = field.split(|&byte| byte == 0);
    let name = parts.next().and_then(|name| str::from_utf8(name).ok());
    name.unwrap_or("")
}
