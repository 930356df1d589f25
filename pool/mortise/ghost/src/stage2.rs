//! Rules for stage 2: granted memory, and an incremental walk of the tables.

use crate::Violation;

/// Memory granted to a VM.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grant {
    /// IPA of the first byte.
    pub ipa: u64,
    /// PA of the first byte.
    pub pa: u64,
    /// Size in bytes.
    pub size: u64,
    /// Access rights.
    pub rights: Rights,
}

/// Access rights to a grant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rights {
    /// Private memory: read, write, execute.
    Own,
    /// Shared memory, not executable.
    Shared {
        /// Whether it is writable.
        writable: bool,
    },
    /// Registers of a device, not executable, not cacheable.
    Device,
}

const ENTRIES: u64 = 512;
const PAGE: u64 = 0x1000;
const ADDRESS: u64 = 0xffff_ffff_f000;
const VALID: u64 = 1;
/// Bit 1: a table, or at the last level a page.
const TABLE: u64 = 2;

impl Rights {
    /// Whether a leaf grants no more than these rights: S2AP in bits 7:6, XN in 54:53, MemAttr in 5:2 (Arm
    /// ARM, D8.5).
    const fn allow(self, leaf: u64) -> bool {
        let (write, never) = (leaf >> 7 & 1 != 0, leaf >> 53 & 3 == 2);
        let device = leaf >> 4 & 3 == 0;
        match self {
            Self::Own => !device,
            Self::Shared { writable } => !device && never && (writable || !write),
            Self::Device => device && never,
        }
    }
}

/// Size mapped by an entry of a level: 1 GiB, 2 MiB, 4 KiB.
const fn grain(level: u32) -> u64 {
    PAGE << (9 * (3 - level))
}

/// Position of a walk of one stage 2: the IPA of the next entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Cursor(u64);

impl Cursor {
    /// The start.
    pub const START: Self = Self(0);
}

impl Grant {
    /// An empty grant.
    pub const NONE: Self = Self {
        ipa: 0,
        pa: 0,
        size: 0,
        rights: Rights::Device,
    };
}

/// The stage 2 of one VM.
pub struct Stage2<R> {
    /// The root table.
    pub root: u64,
    /// Address range of all other tables: first byte, and first byte behind.
    pub tables: (u64, u64),
    /// Reads an entry of one of these tables.
    pub read: R,
}

impl<R: Fn(u64, u64) -> u64> Stage2<R> {
    /// Checks `entries` entries from `cursor` on and advances it; at the end it wraps around. Invalid entries
    /// map nothing.
    ///
    /// # Errors
    ///
    /// The first leaf that maps memory not granted to the VM, or table outside `tables`.
    pub fn walk(
        &self,
        cursor: &mut Cursor,
        entries: usize,
        grants: &[Grant],
    ) -> Result<(), Violation> {
        let (mut table, mut level) = (self.root, 1);
        for _ in 0..entries {
            let ipa = cursor.0;
            let entry = (self.read)(table, ipa / grain(level) % ENTRIES);
            if entry & VALID == 0 {
                self.step(cursor, level);
            } else if level < 3 && entry & TABLE != 0 {
                let next = entry & ADDRESS;
                if next < self.tables.0 || next >= self.tables.1 {
                    let descriptor = entry;
                    return Err(Violation::Table { ipa, descriptor });
                }
                (table, level) = (next, level + 1);
                continue;
            } else {
                self.leaf(ipa & !(grain(level) - 1), level, entry, grants)?;
                self.step(cursor, level);
            }
            // After the last entry of a table, restart from the root.
            if cursor.0.is_multiple_of(grain(level) * ENTRIES) {
                (table, level) = (self.root, 1);
            }
        }
        Ok(())
    }

    fn step(&self, cursor: &mut Cursor, level: u32) {
        let next = (cursor.0 & !(grain(level) - 1)) + grain(level);
        cursor.0 = next % (grain(1) * ENTRIES);
    }

    fn leaf(&self, ipa: u64, level: u32, leaf: u64, grants: &[Grant]) -> Result<(), Violation> {
        let (pa, size) = (leaf & ADDRESS & !(grain(level) - 1), grain(level));
        let has = |grant: &&Grant| {
            ipa >= grant.ipa
                && ipa - grant.ipa + size <= grant.size
                && pa == grant.pa + (ipa - grant.ipa)
        };
        match grants.iter().find(has) {
            Some(grant) if grant.rights.allow(leaf) && (level < 3 || leaf & TABLE != 0) => Ok(()),
            _ => Err(Violation::Reach {
                ipa,
                descriptor: leaf,
            }),
        }
    }
}

/// Checks that private memory of one VM is not granted to another: each page of RAM has one owner.
///
/// # Errors
///
/// The first page with two owners.
pub fn check_exclusive(one: &[Grant], other: &[Grant]) -> Result<(), Violation> {
    for own in one.iter().filter(|grant| grant.rights == Rights::Own) {
        for theirs in other {
            let page = own.pa.max(theirs.pa);
            if page < (own.pa + own.size).min(theirs.pa + theirs.size) {
                return Err(Violation::SharedPage { page });
            }
        }
    }
    Ok(())
}
