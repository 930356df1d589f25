//! The area of a periodic task.

use crate::{Error, NAME_LENGTH, field, text};
use core::mem::offset_of;
use core::sync::atomic::Ordering::{Acquire, Release};
use core_ring::Area;
use core_ring::journal::{self, Layout, Next};
use zerocopy::{FromBytes, FromZeros, Immutable, IntoBytes, KnownLayout, transmute};

const MAGIC: u32 = u32::from_le_bytes(*b"TASK");
const VERSION: u32 = 1;
/// Offset of the samples, on the page after the header.
const SAMPLES: usize = 0x1000;
const WORDS: usize = size_of::<Sample>() / size_of::<u64>();

/// Layout of the header in memory. All fields are little endian.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct TaskHeader {
    /// `TASK`.
    pub magic: u32,
    /// Version of this format.
    pub version: u32,
    name: [u8; NAME_LENGTH],
    /// The distance from one release to the next.
    pub period_ns: u64,
    /// The latest start relative to the release.
    pub deadline_ns: u64,
    /// Capacity of the journal in samples, a power of two.
    pub capacity: u64,
    /// Number of published samples, free running.
    pub head: u64,
}

/// Sample of one release: taken when the body of the task begins, published when it has ended.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout,
)]
#[repr(C)]
pub struct Sample {
    /// Number of the release; the first is 0.
    pub sequence: u64,
    /// The instant of the release, in nanoseconds of the system counter.
    pub release_ns: u64,
    /// The instant at which the body began.
    pub begin_ns: u64,
    /// Number of exits of its VM up to that instant.
    pub exits: u64,
}

const _: () = {
    assert!(offset_of!(TaskHeader, name) == 0x008);
    assert!(offset_of!(TaskHeader, period_ns) == 0x028);
    assert!(offset_of!(TaskHeader, capacity) == 0x038);
    assert!(offset_of!(TaskHeader, head) == 0x040);
    assert!(size_of::<TaskHeader>() == 0x048);
    assert!(size_of::<Sample>() == 32);
};

const LAYOUT: Layout = Layout {
    capacity: offset_of!(TaskHeader, capacity),
    head: offset_of!(TaskHeader, head),
    records: SAMPLES,
};

impl TaskHeader {
    /// The task's name.
    pub fn name(&self) -> &str {
        text(&self.name)
    }
}

impl From<[u64; WORDS]> for Sample {
    fn from(words: [u64; WORDS]) -> Self {
        transmute!(words)
    }
}

impl From<Sample> for [u64; WORDS] {
    fn from(sample: Sample) -> Self {
        transmute!(sample)
    }
}

/// Writer of the samples: the task.
#[derive(Debug)]
pub struct TaskArea<'a> {
    samples: journal::Writer<'a, Sample, WORDS>,
}

impl<'a> TaskArea<'a> {
    /// Creates an empty journal with its header in `area`.
    pub fn create(
        area: Area<'a>,
        name: &str,
        period_ns: u64,
        deadline_ns: u64,
    ) -> Result<Self, Error> {
        let mut header = TaskHeader::new_zeroed();
        header.version = VERSION;
        header.name = field(name.as_bytes());
        header.period_ns = period_ns;
        header.deadline_ns = deadline_ns;
        // The magic number is cleared first and written last: a reader that finds it finds a
        // complete header.
        area.store_half(0, 0, Release);
        area.write(0, header.as_bytes());
        let samples = journal::Writer::create(area, LAYOUT).map_err(|_| Error::TooSmall)?;
        area.store_half(offset_of!(TaskHeader, magic), MAGIC, Release);
        Ok(Self { samples })
    }

    /// Publishes one sample, in a fixed number of stores.
    #[inline]
    pub fn publish(&mut self, sample: Sample) {
        self.samples.publish(sample);
    }
}

/// Reader of the samples.
#[derive(Debug)]
pub struct TaskReader<'a> {
    area: Area<'a>,
    samples: journal::Reader<'a, Sample, WORDS>,
}

impl<'a> TaskReader<'a> {
    /// Attaches to the journal that a task writes in `area`.
    pub fn attach(area: Area<'a>) -> Result<Self, Error> {
        let magic = area.load_half(offset_of!(TaskHeader, magic), Acquire);
        let version = area.load_half(offset_of!(TaskHeader, version), Acquire);
        if (magic, version) != (MAGIC, VERSION) {
            return Err(Error::Foreign);
        }
        let samples = journal::Reader::attach(area, LAYOUT).map_err(|_| Error::Foreign)?;
        Ok(Self { area, samples })
    }

    /// A copy of the header.
    pub fn header(&self) -> TaskHeader {
        let mut header = TaskHeader::new_zeroed();
        self.area.read(0, header.as_mut_bytes());
        header
    }

    /// Reads the next sample, if there is one.
    pub fn take(&mut self) -> Next<Sample> {
        self.samples.take()
    }
}
