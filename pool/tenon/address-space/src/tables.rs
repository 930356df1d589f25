//! Translation tables of one address space.
//!
//! An entry of level 3 is empty, or holds a frame. A held frame that the process must not access at
//! all has an entry without the valid bit.

use core::cell::Cell;
use core::num::NonZero;
use core::ops::Range;
use core::sync::atomic::{AtomicU64, Ordering};
use hw_arch::mmu;
use tenon_frames::{Frame, Frames, PAGE};

use crate::{Access, Permissions};

/// Entries of a table.
const ENTRIES: usize = 512;
/// Size that an entry of level 2 maps.
pub const BLOCK: usize = 1 << 21;
/// Size that an entry of level 1 maps.
pub const GIB: usize = 1 << 30;
/// GiB of the kernel, and of what lies beside it.
pub const KERNEL_GIBS: usize = 4;
/// The first address behind the tables.
pub const END: usize = ENTRIES * GIB;

/// Fields of descriptors (Arm ARM, D8.3).
mod bits {
    pub const VALID: u64 = 1;
    pub const TABLE_OR_PAGE: u64 = 1 << 1;
    /// Of an entry that points to a table, ignored by hardware: how many entries that has, beside
    /// the kernel's.
    pub const COUNT: u64 = 0x3ff << 2;
    pub const ONE: u64 = 1 << 2;
    pub const ADDRESS: u64 = 0xffff_ffff_f000;
    /// AP[1]: EL0 has access.
    pub const USER: u64 = 1 << 6;
    /// AP[2].
    pub const READ_ONLY: u64 = 1 << 7;
    pub const INNER_SHAREABLE: u64 = 0b11 << 8;
    pub const ACCESSED: u64 = 1 << 10;
    /// nG: of this ASID only.
    pub const NOT_GLOBAL: u64 = 1 << 11;
    pub const PRIVILEGED_NEVER: u64 = 1 << 53;
    pub const USER_NEVER: u64 = 1 << 54;
}

/// What an entry of level 3 has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    /// The address of the frame.
    pub frame: usize,
    /// Whether EL0 can access it.
    pub accessible: bool,
    /// Whether EL0 can write to it.
    pub writable: bool,
}

impl Page {
    fn of(entry: u64) -> Option<Self> {
        (entry != 0).then_some(Self {
            frame: (entry & bits::ADDRESS) as usize,
            // The kernel's entries are valid, but not for EL0.
            accessible: entry & (bits::VALID | bits::USER) == bits::VALID | bits::USER,
            writable: entry & bits::READ_ONLY == 0,
        })
    }
}

/// The entry of a frame with permissions; `shared` keeps it from being written.
fn page_entry(frame: usize, permissions: Permissions, shared: bool) -> u64 {
    let Permissions {
        read,
        write,
        execute,
    } = permissions;
    let mut entry = frame as u64
        | bits::TABLE_OR_PAGE
        | (mmu::NORMAL as u64) << 2
        | bits::USER
        | bits::INNER_SHAREABLE
        | bits::ACCESSED
        | bits::NOT_GLOBAL
        | bits::PRIVILEGED_NEVER;
    if read || write || execute {
        entry |= bits::VALID;
    }
    if !write || shared {
        entry |= bits::READ_ONLY;
    }
    if !execute {
        entry |= bits::USER_NEVER;
    }
    entry
}

/// The entries of a table.
fn entries(table: &Frame) -> &[AtomicU64; ENTRIES] {
    // SAFETY: a table is a frame that only this module accesses, by these words; any content is
    // valid.
    unsafe { &*(table.address() as *const [AtomicU64; ENTRIES]) }
}

fn entry_of(table: &[AtomicU64; ENTRIES], address: usize, span: usize) -> &AtomicU64 {
    &table[address / span % ENTRIES]
}

fn get(entry: &AtomicU64) -> u64 {
    entry.load(Ordering::Relaxed)
}

fn set(entry: &AtomicU64, value: u64) {
    entry.store(value, Ordering::Relaxed);
}

/// The table that an entry points to.
fn lower(entry: &AtomicU64) -> Option<&[AtomicU64; ENTRIES]> {
    let entry = get(entry);
    (entry & bits::TABLE_OR_PAGE != 0).then(|| {
        // SAFETY: this module writes entries of tables only, each of a frame that it owns.
        unsafe { &*((entry & bits::ADDRESS) as usize as *const [AtomicU64; ENTRIES]) }
    })
}

/// How many entries the table has to which an entry points.
fn count(entry: &AtomicU64) -> u64 {
    (get(entry) & bits::COUNT) / bits::ONE
}

/// Counts an entry more of the table to which `entry` points.
fn count_up(entry: &AtomicU64) {
    set(entry, get(entry) + bits::ONE);
}

/// Counts an entry less.
fn count_down(entry: &AtomicU64) {
    set(entry, get(entry) - bits::ONE);
}

/// Makes an entry point to a table.
fn set_table(entry: &AtomicU64, table: Frame) {
    set(
        entry,
        table.into_address() as u64 | bits::VALID | bits::TABLE_OR_PAGE,
    );
}

/// Takes a table out of an entry.
fn take_table(entry: &AtomicU64) -> Frame {
    let table = (get(entry) & bits::ADDRESS) as usize;
    set(entry, 0);
    // SAFETY: the entry held the frame since `set_table`.
    unsafe { Frame::from_address(table) }
}

/// The lowest address that the kernel uses, by its descriptor of level 1 for the lowest GiB.
///
/// # Safety
///
/// The descriptor is zero, or valid: a table to which it points is mapped.
pub unsafe fn low_end(kernel: u64) -> usize {
    let shared = AtomicU64::new(kernel);
    let first = lower(&shared).and_then(|table| table.iter().position(|entry| get(entry) != 0));
    first.map_or(GIB, |index| index * BLOCK)
}

/// The tables of a process: level 1, and level 2 of the lowest GiB, whose entries the kernel shares.
#[derive(Debug)]
pub struct Tables {
    root: Frame,
    /// The lowest address that the kernel uses.
    pub low_end: usize,
    /// Tables of level 2 beside that of the lowest GiB.
    count: Cell<usize>,
}

impl Tables {
    /// Tables with the kernel's entries: those of level 1 for its GiBs, the lowest of which is a
    /// table with entries from `low_end` on.
    ///
    /// # Safety
    ///
    /// `kernel` consists of valid descriptors of level 1 without access from EL0.
    pub unsafe fn new(
        (kernel, low_end): (&[u64; KERNEL_GIBS], usize),
        frames: &mut Frames,
    ) -> Option<Self> {
        let root = frames.allocate()?;
        let Some(low) = frames.allocate() else {
            frames.release(root);
            return None;
        };
        let shared = AtomicU64::new(kernel[0]);
        if let Some(table) = lower(&shared) {
            // SAFETY: the kernel's table stays as it is, as the caller promises.
            let bytes = unsafe { core::slice::from_raw_parts(table.as_ptr().cast::<u8>(), PAGE) };
            let from = low_end / BLOCK * size_of::<u64>();
            low.write(from, bytes.get(from..).unwrap_or_default());
        }
        let first = entries(&root);
        set_table(&first[0], low);
        for (own, of_kernel) in first.iter().zip(kernel).skip(1) {
            set(own, *of_kernel);
        }
        Some(Self {
            root,
            low_end,
            count: Cell::new(0),
        })
    }

    /// The address of the root.
    pub fn root(&self) -> usize {
        self.root.address()
    }

    fn top(&self) -> &[AtomicU64; ENTRIES] {
        entries(&self.root)
    }

    /// The entry of a block, if its table exists.
    fn block(&self, address: usize) -> Option<&AtomicU64> {
        let middle = lower(entry_of(self.top(), address, GIB))?;
        Some(entry_of(middle, address, BLOCK))
    }

    /// The entry of a page, if its tables exist.
    fn entry(&self, address: usize) -> Option<&AtomicU64> {
        let last = lower(self.block(address)?)?;
        Some(entry_of(last, address, PAGE))
    }

    /// What a page has.
    pub fn page(&self, address: usize) -> Option<Page> {
        Page::of(get(self.entry(address)?))
    }

    /// The frame of a page, if EL0 can read it or write to it as stated.
    #[inline(always)]
    pub fn accessible(&self, address: usize, access: Access) -> Option<NonZero<usize>> {
        let refused = match access {
            Access::Read => 0,
            Access::Write => bits::READ_ONLY,
            Access::Execute => return None,
        };
        if address >= END {
            return None;
        }
        let entry = get(self.entry(address)?);
        // The kernel's entries are valid, but not for EL0.
        let allowed = entry & (bits::VALID | bits::USER | refused) == bits::VALID | bits::USER;
        NonZero::new((entry & bits::ADDRESS) as usize).filter(|_| allowed)
    }

    /// Makes the tables of a page; returns whether there was memory.
    pub fn prepare(&self, address: usize, frames: &mut Frames) -> bool {
        let first = entry_of(self.top(), address, GIB);
        let (middle, is_new) = match lower(first) {
            Some(middle) => (middle, false),
            None => {
                let Some(table) = frames.allocate() else {
                    return false;
                };
                set_table(first, table);
                let Some(middle) = lower(first) else {
                    return false;
                };
                (middle, true)
            }
        };
        let second = entry_of(middle, address, BLOCK);
        let mut made = true;
        if lower(second).is_none() {
            match frames.allocate() {
                Some(table) => {
                    set_table(second, table);
                    count_up(first);
                }
                None => made = false,
            }
        }
        if is_new {
            self.count.set(self.count.get() + 1);
        }
        made
    }

    /// Puts a frame in an empty entry, whose tables exist.
    pub fn put(&mut self, address: usize, frame: Frame, permissions: Permissions, shared: bool) {
        if let Some(second) = self.block(address)
            && let Some(last) = lower(second)
        {
            let entry = page_entry(frame.into_address(), permissions, shared);
            set(entry_of(last, address, PAGE), entry);
            count_up(second);
        }
    }

    /// Puts frames in the empty entries of a range, read-only; all its entries are in one table. The
    /// frames are those that `frame_of` has for the number of a page in the range.
    pub fn fill(
        &mut self,
        range: &Range<usize>,
        permissions: Permissions,
        mut frame_of: impl FnMut(usize) -> Option<Frame>,
    ) {
        let Some(second) = self.block(range.start) else {
            return;
        };
        let common = page_entry(0, permissions, true);
        let first = range.start / PAGE % ENTRIES;
        let pages = lower(second).and_then(|last| last.get(first..first + range.len() / PAGE));
        let mut added = 0;
        for (place, entry) in pages.unwrap_or_default().iter().enumerate() {
            if get(entry) == 0
                && let Some(frame) = frame_of(place)
            {
                set(entry, frame.into_address() as u64 | common);
                added += bits::ONE;
            }
        }
        set(second, get(second) + added);
    }

    /// Changes the permissions of a page that has a frame.
    pub fn set_permissions(&mut self, address: usize, permissions: Permissions, shared: bool) {
        if let Some(entry) = self.entry(address)
            && let Some(page) = Page::of(get(entry))
        {
            set(entry, page_entry(page.frame, permissions, shared));
        }
    }

    /// Takes the frame out of a page's entry. The TLB may still have the entry.
    pub fn take(&mut self, address: usize) -> Option<Frame> {
        let second = self.block(address)?;
        let entry = entry_of(lower(second)?, address, PAGE);
        let page = Page::of(get(entry))?;
        set(entry, 0);
        count_down(second);
        // SAFETY: the entry held the frame since `put`.
        Some(unsafe { Frame::from_address(page.frame) })
    }

    /// A further reference to the frame of a page.
    pub fn share(&self, address: usize, frames: &mut Frames) -> Option<Frame> {
        let page = self.page(address)?;
        // SAFETY: the entry holds the frame; the second `Frame` of it is not kept.
        let held = unsafe { Frame::from_address(page.frame) };
        let shared = frames.share(&held);
        let _ = held.into_address();
        Some(shared)
    }

    /// The first page at or behind `address`, below `end`, that has a frame. Ranges without tables
    /// are skipped.
    pub fn next(&self, mut address: usize, end: usize) -> Option<usize> {
        while address < end {
            let Some(middle) = lower(entry_of(self.top(), address, GIB)) else {
                address = (address | (GIB - 1)) + 1;
                continue;
            };
            let second = entry_of(middle, address, BLOCK);
            let behind = ((address | (BLOCK - 1)) + 1).min(end);
            if let Some(last) = lower(second).filter(|_| count(second) > 0) {
                let first = address / PAGE % ENTRIES;
                let pages = &last[first..first + (behind - address).div_ceil(PAGE)];
                if let Some(index) = pages.iter().position(|entry| get(entry) != 0) {
                    return Some(address + index * PAGE);
                }
            }
            address = behind;
        }
        None
    }

    /// Calls `action` with each entry of a range that has a frame, and with the entry of its block,
    /// until that returns false; returns whether it did not. The last pages come first, and a table
    /// is left as soon as none of its entries remains: a stack has its pages at its end.
    fn each(
        &self,
        range: &Range<usize>,
        mut action: impl FnMut(usize, &AtomicU64, &AtomicU64) -> bool,
    ) -> bool {
        let mut end = range.end;
        while end > range.start {
            let Some(middle) = lower(entry_of(self.top(), end - 1, GIB)) else {
                end = (end - 1) & !(GIB - 1);
                continue;
            };
            let block = (end - 1) & !(BLOCK - 1);
            let start = block.max(range.start);
            let second = entry_of(middle, block, BLOCK);
            if let Some(last) = lower(second) {
                let mut rest = count(second);
                let first = (start - block) / PAGE;
                let pages = &last[first..(end - block).div_ceil(PAGE)];
                for (index, entry) in pages.iter().enumerate().rev() {
                    if rest == 0 {
                        break;
                    }
                    if get(entry) != 0 {
                        rest -= 1;
                        if !action(start + index * PAGE, second, entry) {
                            return false;
                        }
                    }
                }
            }
            end = start;
        }
        true
    }

    /// Gives other tables, which have no page in a range, the frames of that range, from now on
    /// read-only in both; returns whether there was memory.
    pub fn share_range(&mut self, range: &Range<usize>, other: &Self, frames: &mut Frames) -> bool {
        // The table of the block that is shared, with its entry.
        let (mut block, mut table) = (usize::MAX, None);
        self.each(range, |address, _, entry| {
            if address & !(BLOCK - 1) != block {
                if !other.prepare(address, frames) {
                    return false;
                }
                block = address & !(BLOCK - 1);
                let second = other.block(address);
                table = second.and_then(|second| Some((second, lower(second)?)));
            }
            let Some((second, last)) = table else {
                return false;
            };
            let page = get(entry) | bits::READ_ONLY;
            // SAFETY: the entry holds the frame; this `Frame` of it is not kept.
            let held = unsafe { Frame::from_address((page & bits::ADDRESS) as usize) };
            // The entry of the other tables holds it.
            let _ = frames.share(&held).into_address();
            let _ = held.into_address();
            set(entry, page);
            set(entry_of(last, address, PAGE), page);
            count_up(second);
            true
        })
    }

    /// Releases the frames of a range. The TLB may still have its entries.
    pub fn release_range(&mut self, range: &Range<usize>, frames: &mut Frames) {
        self.each(range, |_, second, entry| {
            let page = (get(entry) & bits::ADDRESS) as usize;
            set(entry, 0);
            count_down(second);
            // SAFETY: the entry held the frame since `put` or `share_range`.
            frames.release(unsafe { Frame::from_address(page) });
            true
        });
    }

    /// Releases the tables of level 3 of a range, as far as no page has a frame there.
    pub fn release_empty(&mut self, range: &Range<usize>, frames: &mut Frames) {
        let mut address = range.start & !(BLOCK - 1);
        while address < range.end {
            let first = entry_of(self.top(), address, GIB);
            let Some(middle) = lower(first).filter(|_| count(first) > 0) else {
                address = (address | (GIB - 1)) + 1;
                continue;
            };
            let second = entry_of(middle, address, BLOCK);
            if count(second) == 0 && lower(second).is_some() {
                frames.release(take_table(second));
                count_down(first);
            }
            address += BLOCK;
        }
    }

    /// Releases all tables. No page has a frame, and no core uses them.
    pub fn release(self, frames: &mut Frames) {
        let top = self.top();
        if let Some(low) = lower(&top[0]) {
            release_tables(&low[..self.low_end / BLOCK], count(&top[0]), frames);
            frames.release(take_table(&top[0]));
        }
        let mut rest = self.count.get();
        for entry in top[KERNEL_GIBS..].iter().rev() {
            if rest == 0 {
                break;
            }
            if let Some(middle) = lower(entry) {
                rest -= 1;
                release_tables(middle, count(entry), frames);
                frames.release(take_table(entry));
            }
        }
        frames.release(self.root);
    }
}

/// Releases the tables of level 3, as many as are counted. The last ones come first, as stacks and
/// mappings are at the end of all addresses.
fn release_tables(middle: &[AtomicU64], mut rest: u64, frames: &mut Frames) {
    for entry in middle.iter().rev() {
        if rest == 0 {
            break;
        }
        if lower(entry).is_some() {
            rest -= 1;
            frames.release(take_table(entry));
        }
    }
}
