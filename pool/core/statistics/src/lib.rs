//! Statistics that Mortise and the VMs write to shared memory: status page and task area.
//!
//! # Purpose
//!
//! Two formats, read by other cores and by the host while the writer runs:
//!
//! - the [`StatusPage`] of a VM, 4 KiB, written by Mortise only and mapped read-only into the VM:
//!   its state, the registers of its last fault, its exits by kind, the use of its budgets;
//! - the [`TaskArea`] of a periodic task, written by the VM: a header and a journal with one
//!   [`Sample`] for each release.
//!
//! Both are described once, as `repr(C)` types with offsets checked when this crate compiles;
//! the orchestrator reads the same bytes. Both sides have a golden-bytes test.
//!
//! # Guarantees
//!
//! Every update is a fixed number of stores; none blocks, allocates or panics.
//! Counters have one writer each (the core that runs the vCPU), so counting needs no atomic
//! read-modify-write. A reader may observe fields of different moments, but no torn field.
//!
//! # Example
//!
//! ```
//! use core::sync::atomic::AtomicU64;
//! use core_ring::Area;
//! use core_statistics::{ExitKind, State, StatusReader, StatusWriter};
//!
//! let memory: [AtomicU64; 512] = [const { AtomicU64::new(0) }; 512];
//! let status = StatusWriter::create(Area::new(&memory), "motor", 1).unwrap();
//! status.set_state(State::Running);
//! status.count_exit(0, ExitKind::Hypercall);
//!
//! let reader = StatusReader::attach(Area::new(&memory)).unwrap();
//! assert_eq!(reader.exits(), 1);
//! assert_eq!(reader.snapshot().name(), "motor");
//! ```

#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

mod budget;
mod count;
mod status;
mod summary;
mod task;

pub use budget::{BudgetCount, BudgetCounters};
pub use count::ExitCount;
pub use status::{
    ExitKind, FaultRegisters, MAX_VCPUS, REASON_WORDS, Reason, State, StatusPage, StatusReader,
    StatusWriter,
};
pub use summary::Summary;
pub use task::{Sample, TaskArea, TaskHeader, TaskReader};

use core::fmt;

// The types below are copied byte by byte, in the byte order of the machine.
const _: () = assert!(cfg!(target_endian = "little"));

/// Bytes of a name field; shorter names are padded with NUL.
pub const NAME_LENGTH: usize = 32;

/// Error of an access to an area.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// The area is too small for the format.
    TooSmall,
    /// The area has another content or another version of the format.
    Foreign,
    /// The VM has more vCPUs than the format has counters for.
    TooManyVcpus,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TooSmall => "the shared area is too small for its statistics",
            Self::Foreign => "the shared area holds no statistics of this version",
            Self::TooManyVcpus => "the status page counts for eight vCPUs at most",
        })
    }
}

impl core::error::Error for Error {}

/// The text of a field up to its first NUL; empty if it is not UTF-8.
fn text(field: &[u8]) -> &str {
    let length = field
        .iter()
        .position(|&byte| byte == 0)
        .unwrap_or(field.len());
    field
        .get(..length)
        .and_then(|bytes| str::from_utf8(bytes).ok())
        .unwrap_or("")
}

/// `text` as a NUL-padded field, truncated at a character boundary.
fn field<const N: usize>(text: &[u8]) -> [u8; N] {
    let mut field = [0; N];
    let mut length = text.len().min(N);
    while length > 0 && text.get(length).is_some_and(|byte| byte & 0xc0 == 0x80) {
        length -= 1;
    }
    if let Some((to, from)) = field.get_mut(..length).zip(text.get(..length)) {
        to.copy_from_slice(from);
    }
    field
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_cut_between_characters() {
        assert_eq!(text(&field::<4>(b"abcdef")), "abcd");
        assert_eq!(text(&field::<4>("abcé".as_bytes())), "abc");
        assert_eq!(text(b"ab\xff"), "");
    }
}
