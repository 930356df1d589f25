//! Tables of three levels, which both stages have.

use crate::{Error, Frames};
use core::sync::atomic::{AtomicU64, Ordering};
use core_memory::Frame;

/// Entries of a table.
pub(crate) const ENTRIES: usize = 512;
/// A table: a frame whose words the hardware reads at the same time.
pub(crate) type Table = &'static [AtomicU64; ENTRIES];

pub(crate) const PAGE: usize = 0x1000;

/// Bit 0 of an entry: it means something (Arm ARM, D8.3).
pub(crate) const VALID: u64 = 1;
/// Bit 1: of levels 1 and 2 it leads to a table, of level 3 to a page.
pub(crate) const TABLE_OR_PAGE: u64 = 0b10;
/// What of an entry is an address.
const ADDRESS: u64 = 0xffff_ffff_f000;

/// Root tables translate 39 bits.
const ROOT: usize = 1;
const LAST: usize = 3;

/// A table of zeros.
pub(crate) fn take(supply: &'static dyn Frames) -> Result<Table, Error> {
    let frame: *mut Frame = supply.take().ok_or(Error::Exhausted)?;
    // SAFETY: the frame is this table for good, aligned and of its size; from here on it is accessed as
    // atomic words only, by its map and the hardware.
    Ok(unsafe { &*frame.cast() })
}

/// What leads to a table.
pub(crate) fn link(table: Table) -> u64 {
    table.as_ptr() as u64 | TABLE_OR_PAGE | VALID
}

/// Bytes that an entry of a level maps.
const fn grain(level: usize) -> usize {
    PAGE << (9 * (LAST - level))
}

/// The entry of a table of this level for an address.
#[inline]
fn entry(table: Table, level: usize, address: usize) -> &'static AtomicU64 {
    &table[address / grain(level) % ENTRIES]
}

/// The table that an entry of this level leads to, if it leads to one.
#[inline]
fn next(entry: u64, level: usize) -> Option<Table> {
    let leads = level < LAST && entry & (TABLE_OR_PAGE | VALID) == TABLE_OR_PAGE | VALID;
    // SAFETY: only `link` makes such an entry, of a table that stays for good and is mapped one to one.
    leads.then(|| unsafe { &*((entry & ADDRESS) as *const [AtomicU64; ENTRIES]) })
}

/// The tables of a map, from its root on. They stay for good.
pub(crate) struct Tables {
    pub(crate) root: Table,
    supply: &'static dyn Frames,
}

impl Tables {
    /// Tables that map nothing.
    pub(crate) fn new(supply: &'static dyn Frames) -> Result<Self, Error> {
        let root = take(supply)?;
        Ok(Self { root, supply })
    }

    /// Maps `size` bytes from `start` on to `target` and what follows, in blocks as large as fit. What
    /// is mapped there already has to be mapped so.
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
        if end > 1 << hw_arch::mmu::ADDRESS_BITS {
            return Err(Error::OutOfRange(end));
        }
        let ahead = target.wrapping_sub(start);
        self.fill(self.root, ROOT, (start, end), ahead, attributes)
    }

    /// Maps what of a range one table is for, to addresses that are `ahead` of those mapped.
    fn fill(
        &self,
        table: Table,
        level: usize,
        (mut at, end): (usize, usize),
        ahead: usize,
        attributes: u64,
    ) -> Result<(), Error> {
        let grain = grain(level);
        let page = if level == LAST { TABLE_OR_PAGE } else { 0 };
        while at < end {
            let stop = ((at | (grain - 1)) + 1).min(end);
            let target = at.wrapping_add(ahead);
            let place = entry(table, level, at);
            let old = place.load(Ordering::Relaxed);
            let leaf = (target & !(grain - 1)) as u64 | attributes | page;
            if let Some(next) = next(old, level) {
                self.fill(next, level + 1, (at, stop), ahead, attributes)?;
            } else if old == 0 && (at | stop | target) & (grain - 1) == 0 {
                place.store(leaf, Ordering::Release);
            } else if old == 0 {
                let next = take(self.supply)?;
                place.store(link(next), Ordering::Release);
                self.fill(next, level + 1, (at, stop), ahead, attributes)?;
            } else if old != leaf || ahead & (grain - 1) != 0 {
                return Err(Error::Live(at));
            }
            at = stop;
        }
        Ok(())
    }

    /// The entry of level 2 for an address, with the tables that lead there.
    pub(crate) fn block(&mut self, address: usize) -> Result<&'static AtomicU64, Error> {
        let place = entry(self.root, ROOT, address);
        let table = match next(place.load(Ordering::Relaxed), ROOT) {
            Some(table) => table,
            None => {
                let table = take(self.supply)?;
                place.store(link(table), Ordering::Release);
                table
            }
        };
        Ok(entry(table, ROOT + 1, address))
    }

    /// The entry that maps an address, if it is valid, and how many bytes that maps.
    pub(crate) fn find(&self, address: usize) -> Option<(u64, usize)> {
        let (mut table, mut level) = (self.root, ROOT);
        if address >> hw_arch::mmu::ADDRESS_BITS != 0 {
            return None;
        }
        loop {
            let found = entry(table, level, address).load(Ordering::Relaxed);
            match next(found, level) {
                Some(next) => (table, level) = (next, level + 1),
                None => return (found & VALID != 0).then_some((found, grain(level))),
            }
        }
    }
}

/// Where an entry that maps so many bytes leads, and with which attributes.
pub(crate) fn parts(entry: u64, grain: usize) -> (usize, u64) {
    let page = if grain == PAGE { TABLE_OR_PAGE } else { 0 };
    ((entry & ADDRESS) as usize, entry & !ADDRESS & !page)
}
