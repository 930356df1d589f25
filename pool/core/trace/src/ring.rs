//! Trace ring in memory.

#[cfg(not(loom))]
use core::sync::atomic::AtomicU64;
#[cfg(loom)]
use loom::sync::atomic::AtomicU64;

/// Capacity in records, a power of two.
pub const RECORDS: usize = if cfg!(loom) { 2 } else { 16384 };
/// Number of subjects with names.
pub const NAMES: usize = if cfg!(loom) { 1 } else { 126 };
/// Size of a name.
pub const TEXT: usize = 24;

pub(crate) const WORD: usize = size_of::<u64>();

/// The name of a subject; the subject is zero in a free entry.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Name {
    pub(crate) subject: AtomicU64,
    pub(crate) text: [AtomicU64; TEXT / WORD],
}

/// The trace of one core. It consists of atomic words in the layout of `docs/tracing.md`, and may
/// be in uninitialised memory.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Ring {
    /// Number of records written; wraps.
    pub(crate) head: AtomicU64,
    pub(crate) identity: AtomicU64,
    pub(crate) core: AtomicU64,
    pub(crate) frequency: AtomicU64,
    pub(crate) capacity: AtomicU64,
    pub(crate) reserved: [AtomicU64; 3],
    pub(crate) names: [Name; NAMES],
    pub(crate) records: [[AtomicU64; 2]; RECORDS],
}

#[cfg(not(loom))]
const _: () = {
    use core::mem::offset_of;
    assert!(cfg!(target_endian = "little"));
    assert!(RECORDS.is_power_of_two());
    assert!(offset_of!(Ring, identity) == 0x08);
    assert!(offset_of!(Ring, core) == 0x10);
    assert!(offset_of!(Ring, frequency) == 0x18);
    assert!(offset_of!(Ring, capacity) == 0x20);
    assert!(offset_of!(Ring, names) == 0x40);
    assert!(offset_of!(Ring, records) == 0x1000);
    assert!(size_of::<Ring>() == 0x1000 + 16 * RECORDS);
};

#[cfg(loom)]
fn zeros<const N: usize>() -> [AtomicU64; N] {
    core::array::from_fn(|_| AtomicU64::new(0))
}

impl Ring {
    /// A ring before its start.
    #[cfg(not(loom))]
    #[expect(
        clippy::declare_interior_mutable_const,
        reason = "each use is a ring's own copy"
    )]
    #[must_use]
    pub const fn new() -> Self {
        const ZERO: AtomicU64 = AtomicU64::new(0);
        const NAME: Name = Name {
            subject: ZERO,
            text: [ZERO; TEXT / WORD],
        };
        Self {
            head: ZERO,
            identity: ZERO,
            core: ZERO,
            frequency: ZERO,
            capacity: ZERO,
            reserved: [ZERO; 3],
            names: [NAME; NAMES],
            records: [const { [ZERO; 2] }; RECORDS],
        }
    }

    /// A ring before its start: loom's atomics cannot be constants.
    #[cfg(loom)]
    pub fn new() -> Self {
        Self {
            head: AtomicU64::new(0),
            identity: AtomicU64::new(0),
            core: AtomicU64::new(0),
            frequency: AtomicU64::new(0),
            capacity: AtomicU64::new(0),
            reserved: zeros(),
            names: core::array::from_fn(|_| Name {
                subject: AtomicU64::new(0),
                text: zeros(),
            }),
            records: core::array::from_fn(|_| zeros()),
        }
    }
}

impl Default for Ring {
    fn default() -> Self {
        Self::new()
    }
}
