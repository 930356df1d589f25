//! Translation tables of three levels, for both stages.

use crate::{Error, Frames};
use core::sync::atomic::{AtomicU64, Ordering};
use core_memory::Frame;

/// Number of entries of a table.
pub(crate) const ENTRIES: usize = 512;
/// Entries of a table, which the hardware walks concurrently.
pub type Words = [AtomicU64; ENTRIES];
pub(crate) type Table = &'static Words;

pub(crate) const PAGE: usize = 0x1000;

/// Bit 0 of an entry: valid (Arm ARM, D8.3).
pub(crate) const VALID: u64 = 1;
/// Bit 1 of an entry: table descriptor at levels 1 and 2, page descriptor at level 3.
pub(crate) const TABLE_OR_PAGE: u64 = 0b10;
/// Address field of an entry.
const ADDRESS: u64 = 0xffff_ffff_f000;

/// Level of the root.
const ROOT: usize = 1;
const LAST: usize = 3;

/// Allocates an empty table.
pub(crate) fn take(supply: &'static dyn Frames) -> Result<Table, Error> {
    let frame: *mut Frame = supply.take().ok_or(Error::Exhausted)?;
    // SAFETY: the frame has the size and alignment of a table and is never freed. After this, it is
    // accessed only as atomic words, by its map and the hardware.
    Ok(unsafe { &*frame.cast() })
}

/// Table descriptor of a table.
pub(crate) fn link(table: Table) -> u64 {
    table.as_ptr() as u64 | TABLE_OR_PAGE | VALID
}

/// Bytes mapped by an entry of a level.
const fn grain(level: usize) -> usize {
    PAGE << (9 * (LAST - level))
}

/// Entry for an address in a table of this level.
#[inline]
fn entry(table: Table, level: usize, address: usize) -> &'static AtomicU64 {
    &table[address / grain(level) % ENTRIES]
}

/// Root table of level 1, with one entry per translated gibibyte.
pub(crate) trait Root {
    /// Entries of the table.
    fn entries(&self) -> &[AtomicU64];
}

impl Root for Table {
    fn entries(&self) -> &[AtomicU64] {
        *self
    }
}

/// Root of four entries, aligned as `TTBR0` requires (Arm ARM, D19.2.145). It is not allocated from
/// the supply.
#[repr(C, align(64))]
pub(crate) struct SmallRoot([AtomicU64; 4]);

impl SmallRoot {
    /// Number of translated address bits.
    pub(crate) const ADDRESS_BITS: u64 = 32;

    /// Empty root.
    pub(crate) const fn new() -> Self {
        Self([const { AtomicU64::new(0) }; 4])
    }
}

impl Root for SmallRoot {
    fn entries(&self) -> &[AtomicU64] {
        &self.0
    }
}

/// Next-level table of an entry of this level, if it is a table descriptor.
#[inline]
fn next(entry: u64, level: usize) -> Option<Table> {
    let leads = level < LAST && entry & (TABLE_OR_PAGE | VALID) == TABLE_OR_PAGE | VALID;
    // SAFETY: only `link` makes table descriptors; their tables are never freed and identity-mapped.
    leads.then(|| unsafe { &*((entry & ADDRESS) as *const [AtomicU64; ENTRIES]) })
}

/// Tables of a map with their root. Tables below the root are never freed.
pub(crate) struct Tables<R: Root> {
    pub(crate) root: R,
    supply: &'static dyn Frames,
}

impl<R: Root> Tables<R> {
    /// Empty map.
    pub(crate) const fn new(root: R, supply: &'static dyn Frames) -> Self {
        Self { root, supply }
    }

    /// Maps `size` bytes at `start` to `target`, in the largest blocks that fit. Existing mappings in the
    /// range must be identical.
    pub(crate) fn map(
        &mut self,
        start: usize,
        target: usize,
        size: usize,
        attributes: u64,
    ) -> Result<(), Error> {
        for value in [start, size, target] {
            if !value.is_multiple_of(PAGE) {
                return Err(Error::Unaligned(value));
            }
        }
        let end = start.checked_add(size).ok_or(Error::OutOfRange(start))?;
        if end > self.root.entries().len() * grain(ROOT) {
            return Err(Error::OutOfRange(end));
        }
        let ahead = target.wrapping_sub(start);
        let root = self.root.entries();
        fill(root, ROOT, (start, end), (ahead, attributes), self.supply)
    }

    /// The last empty level 2 entry in the gibibyte of an address, and the address that it maps. The
    /// level 2 table is allocated if there is none.
    pub(crate) fn empty_block(
        &mut self,
        address: usize,
    ) -> Result<(&'static AtomicU64, usize), Error> {
        let gibibyte = self.gibibyte(address).ok_or(Error::OutOfRange(address))?;
        let table = match gibibyte.load(Ordering::Relaxed) {
            0 => add(gibibyte, self.supply)?,
            old => next(old, ROOT).ok_or(Error::Live(address))?,
        };
        let is_empty = |entry: &AtomicU64| entry.load(Ordering::Relaxed) == 0;
        let index = table.iter().rposition(is_empty);
        let index = index.ok_or(Error::Live(address))?;
        let base = address & !(grain(ROOT) - 1);
        Ok((&table[index], base + index * grain(ROOT + 1)))
    }

    /// The valid leaf entry of an address, and the number of bytes that it maps.
    pub(crate) fn find(&self, address: usize) -> Option<(u64, usize)> {
        let mut level = ROOT;
        let mut found = self.gibibyte(address)?.load(Ordering::Relaxed);
        while let Some(table) = next(found, level) {
            level += 1;
            found = entry(table, level, address).load(Ordering::Relaxed);
        }
        (found & VALID != 0).then_some((found, grain(level)))
    }

    /// The root entry of an address, if there is one.
    fn gibibyte(&self, address: usize) -> Option<&AtomicU64> {
        self.root.entries().get(address / grain(ROOT))
    }
}

/// Allocates a table for an empty entry.
fn add(entry: &AtomicU64, supply: &'static dyn Frames) -> Result<Table, Error> {
    let table = take(supply)?;
    entry.store(link(table), Ordering::Release);
    Ok(table)
}

/// Maps a range within one table; each target address is `ahead` of its source.
fn fill(
    table: &[AtomicU64],
    level: usize,
    (mut at, end): (usize, usize),
    (ahead, attributes): (usize, u64),
    supply: &'static dyn Frames,
) -> Result<(), Error> {
    let grain = grain(level);
    let page = if level == LAST { TABLE_OR_PAGE } else { 0 };
    while at < end {
        let stop = ((at | (grain - 1)) + 1).min(end);
        let target = at.wrapping_add(ahead);
        let place = table.get(at / grain % ENTRIES);
        let place = place.ok_or(Error::OutOfRange(at))?;
        let old = place.load(Ordering::Relaxed);
        let leaf = (target & !(grain - 1)) as u64 | attributes | page;
        if let Some(next) = next(old, level) {
            fill(next, level + 1, (at, stop), (ahead, attributes), supply)?;
        } else if old == 0 && (at | stop | target) & (grain - 1) == 0 {
            place.store(leaf, Ordering::Release);
        } else if old == 0 {
            let next = add(place, supply)?;
            fill(next, level + 1, (at, stop), (ahead, attributes), supply)?;
        } else if old != leaf || ahead & (grain - 1) != 0 {
            return Err(Error::Live(at));
        }
        at = stop;
    }
    Ok(())
}

/// Target address and attributes of an entry that maps `grain` bytes.
pub(crate) fn parts(entry: u64, grain: usize) -> (usize, u64) {
    let page = if grain == PAGE { TABLE_OR_PAGE } else { 0 };
    ((entry & ADDRESS) as usize, entry & !ADDRESS & !page)
}
