//! Tables of three levels, which both stages have.

use crate::{Error, Frames};
use core::sync::atomic::{AtomicU64, Ordering};
use core_memory::Frame;

/// Entries of a table.
pub(crate) const ENTRIES: usize = 512;
/// The words of a frame that is a table, which the hardware reads at the same time.
pub type Words = [AtomicU64; ENTRIES];
pub(crate) type Table = &'static Words;

pub(crate) const PAGE: usize = 0x1000;

/// Bit 0 of an entry: it means something (Arm ARM, D8.3).
pub(crate) const VALID: u64 = 1;
/// Bit 1: of levels 1 and 2 it leads to a table, of level 3 to a page.
pub(crate) const TABLE_OR_PAGE: u64 = 0b10;
/// What of an entry is an address.
const ADDRESS: u64 = 0xffff_ffff_f000;

/// The level of roots.
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

/// A table of level 1, of as many entries as there are gibibytes to translate.
pub(crate) trait Root {
    /// Its entries.
    fn entries(&self) -> &[AtomicU64];
}

impl Root for Table {
    fn entries(&self) -> &[AtomicU64] {
        *self
    }
}

/// A root of four entries, aligned as `TTBR0` asks for (Arm ARM, D19.2.145): it takes no frame.
#[repr(C, align(64))]
pub(crate) struct SmallRoot([AtomicU64; 4]);

impl SmallRoot {
    /// Address bits that it translates.
    pub(crate) const ADDRESS_BITS: u64 = 32;

    /// One that leads nowhere.
    pub(crate) const fn new() -> Self {
        Self([const { AtomicU64::new(0) }; 4])
    }
}

impl Root for SmallRoot {
    fn entries(&self) -> &[AtomicU64] {
        &self.0
    }
}

/// The table that an entry of this level leads to, if it leads to one.
#[inline]
fn next(entry: u64, level: usize) -> Option<Table> {
    let leads = level < LAST && entry & (TABLE_OR_PAGE | VALID) == TABLE_OR_PAGE | VALID;
    // SAFETY: only `link` makes such an entry, of a table that stays for good and is mapped one to one.
    leads.then(|| unsafe { &*((entry & ADDRESS) as *const [AtomicU64; ENTRIES]) })
}

/// The tables of a map, from its root on. Those below stay for good.
pub(crate) struct Tables<R: Root> {
    pub(crate) root: R,
    supply: &'static dyn Frames,
}

impl<R: Root> Tables<R> {
    /// Tables that map nothing.
    pub(crate) const fn new(root: R, supply: &'static dyn Frames) -> Self {
        Self { root, supply }
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
        if end > self.root.entries().len() * grain(ROOT) {
            return Err(Error::OutOfRange(end));
        }
        let ahead = target.wrapping_sub(start);
        let root = self.root.entries();
        fill(root, ROOT, (start, end), (ahead, attributes), self.supply)
    }

    /// The last entry of level 2 that is empty among those for the gibibyte of an address, with the
    /// table that leads there, and the address it is for.
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

    /// The entry that maps an address, if it is valid, and how many bytes that maps.
    pub(crate) fn find(&self, address: usize) -> Option<(u64, usize)> {
        let mut level = ROOT;
        let mut found = self.gibibyte(address)?.load(Ordering::Relaxed);
        while let Some(table) = next(found, level) {
            level += 1;
            found = entry(table, level, address).load(Ordering::Relaxed);
        }
        (found & VALID != 0).then_some((found, grain(level)))
    }

    /// The entry of the root for an address, if there is one.
    fn gibibyte(&self, address: usize) -> Option<&AtomicU64> {
        self.root.entries().get(address / grain(ROOT))
    }
}

/// Has an empty entry lead to another table.
fn add(entry: &AtomicU64, supply: &'static dyn Frames) -> Result<Table, Error> {
    let table = take(supply)?;
    entry.store(link(table), Ordering::Release);
    Ok(table)
}

/// Maps what of a range one table is for, to addresses that are `ahead` of those mapped.
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

/// Where an entry that maps so many bytes leads, and with which attributes.
pub(crate) fn parts(entry: u64, grain: usize) -> (usize, u64) {
    let page = if grain == PAGE { TABLE_OR_PAGE } else { 0 };
    ((entry & ADDRESS) as usize, entry & !ADDRESS & !page)
}
