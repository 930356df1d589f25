//! Which frames a stage 2 may reach, and a walk through it in pieces.

use crate::Broken;

/// What a VM has: where it sees it, where it is, how much, and with which rights.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grant {
    /// First byte as the VM sees it.
    pub ipa: u64,
    /// First byte where it is.
    pub pa: u64,
    /// Bytes.
    pub size: u64,
    /// With which rights.
    pub rights: Rights,
}

/// Rights to a grant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rights {
    /// Memory of its own: read, written, executed.
    Own,
    /// Shared memory, never executed.
    Shared {
        /// Whether it may be written.
        writable: bool,
    },
    /// Registers of a device, never executed, never cached.
    Device,
}

const ENTRIES: u64 = 512;
const PAGE: u64 = 0x1000;
const ADDRESS: u64 = 0xffff_ffff_f000;
const VALID: u64 = 1;
/// Bit 1: a table, or at the last level a page.
const TABLE: u64 = 2;

impl Rights {
    /// Whether a leaf gives no more than that: S2AP in bits 7:6, XN in 54:53, MemAttr in 5:2 (Arm ARM,
    /// D8.5).
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

/// Bytes that an entry of a level maps: 1 GiB, 2 MiB, 4 KiB.
const fn grain(level: u32) -> u64 {
    PAGE << (9 * (3 - level))
}

/// Where a walk through one stage 2 has come to: the address whose entry is next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Cursor(u64);

impl Cursor {
    /// At the beginning.
    pub const START: Self = Self(0);
}

impl Grant {
    /// Nothing.
    pub const NONE: Self = Self {
        ipa: 0,
        pa: 0,
        size: 0,
        rights: Rights::Device,
    };
}

/// The stage 2 of one VM: its root, and where its other tables may be.
pub struct Stage2<R> {
    /// The root table.
    pub root: u64,
    /// First byte of the tables, and first behind.
    pub tables: (u64, u64),
    /// Reads an entry of a table, which is one of those.
    pub read: R,
}

impl<R: Fn(u64, u64) -> u64> Stage2<R> {
    /// Looks at so many entries from `cursor` on, which it moves; at the end it begins again. What is not
    /// valid leads nowhere.
    ///
    /// # Errors
    ///
    /// The first leaf that leads to what the VM does not have, or table that is none.
    pub fn walk(
        &self,
        cursor: &mut Cursor,
        entries: usize,
        grants: &[Grant],
    ) -> Result<(), Broken> {
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
                    return Err(Broken::Table { ipa, descriptor });
                }
                (table, level) = (next, level + 1);
                continue;
            } else {
                self.leaf(ipa & !(grain(level) - 1), level, entry, grants)?;
                self.step(cursor, level);
            }
            // Behind the last entry of a table the way is from the root.
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

    fn leaf(&self, ipa: u64, level: u32, leaf: u64, grants: &[Grant]) -> Result<(), Broken> {
        let (pa, size) = (leaf & ADDRESS & !(grain(level) - 1), grain(level));
        let has = |grant: &&Grant| {
            ipa >= grant.ipa
                && ipa - grant.ipa + size <= grant.size
                && pa == grant.pa + (ipa - grant.ipa)
        };
        match grants.iter().find(has) {
            Some(grant) if grant.rights.allow(leaf) && (level < 3 || leaf & TABLE != 0) => Ok(()),
            _ => Err(Broken::Reach {
                ipa,
                descriptor: leaf,
            }),
        }
    }
}

/// Whether the own memory of nobody is reached by another: each page of RAM has one owner.
///
/// # Errors
///
/// The first page that has two.
pub fn check_owners(one: &[Grant], other: &[Grant]) -> Result<(), Broken> {
    for own in one.iter().filter(|grant| grant.rights == Rights::Own) {
        for theirs in other {
            let page = own.pa.max(theirs.pa);
            if page < (own.pa + own.size).min(theirs.pa + theirs.size) {
                return Err(Broken::Owners { page });
            }
        }
    }
    Ok(())
}
