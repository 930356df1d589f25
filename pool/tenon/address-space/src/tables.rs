//! Translation tables of one address space.
//!
//! An entry of level 3 is empty, or holds a frame. A held frame that the process must not access at
//! all has an entry without the valid bit.

use core::sync::atomic::{AtomicU64, Ordering};
use hw_arch::mmu;
use tenon_frames::{Frame, Frames, PAGE};

use crate::Permissions;

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
            accessible: entry & bits::VALID != 0,
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

/// The tables of a process: level 1, and level 2 of the lowest GiB, whose entries the kernel shares.
#[derive(Debug)]
pub struct Tables {
    root: Frame,
    /// The lowest address that the kernel uses.
    pub low_end: usize,
}

impl Tables {
    /// Tables with the kernel's entries: those of level 1 for its GiBs, the lowest of which is a
    /// table.
    ///
    /// # Safety
    ///
    /// `kernel` consists of valid descriptors of level 1 without access from EL0.
    pub unsafe fn new(kernel: &[u64; KERNEL_GIBS], frames: &mut Frames) -> Option<Self> {
        let root = frames.allocate()?;
        let Some(low) = frames.allocate() else {
            frames.release(root);
            return None;
        };
        let mut low_end = GIB;
        let shared = AtomicU64::new(kernel[0]);
        if let Some(table) = lower(&shared) {
            for (index, (own, of_kernel)) in entries(&low).iter().zip(table).enumerate() {
                let entry = get(of_kernel);
                set(own, entry);
                if entry != 0 {
                    low_end = low_end.min(index * BLOCK);
                }
            }
        }
        let first = entries(&root);
        set_table(&first[0], low);
        for (own, of_kernel) in first.iter().zip(kernel).skip(1) {
            set(own, *of_kernel);
        }
        Some(Self { root, low_end })
    }

    /// The address of the root.
    pub fn root(&self) -> usize {
        self.root.address()
    }

    fn top(&self) -> &[AtomicU64; ENTRIES] {
        entries(&self.root)
    }

    /// The entry of a page, if its tables exist.
    fn entry(&self, address: usize) -> Option<&AtomicU64> {
        let middle = lower(entry_of(self.top(), address, GIB))?;
        let last = lower(entry_of(middle, address, BLOCK))?;
        Some(entry_of(last, address, PAGE))
    }

    /// What a page has.
    pub fn page(&self, address: usize) -> Option<Page> {
        Page::of(get(self.entry(address)?))
    }

    /// Makes the tables of a page; returns whether there was memory.
    pub fn prepare(&mut self, address: usize, frames: &mut Frames) -> bool {
        let first = entry_of(self.top(), address, GIB);
        if lower(first).is_none() {
            let Some(table) = frames.allocate() else {
                return false;
            };
            set_table(first, table);
        }
        let second = lower(first).map(|table| entry_of(table, address, BLOCK));
        let Some(second) = second else { return false };
        if lower(second).is_none() {
            let Some(table) = frames.allocate() else {
                return false;
            };
            set_table(second, table);
        }
        true
    }

    /// Puts a frame in an empty entry, whose tables exist.
    pub fn put(&mut self, address: usize, frame: Frame, permissions: Permissions, shared: bool) {
        if let Some(entry) = self.entry(address) {
            set(entry, page_entry(frame.into_address(), permissions, shared));
        }
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
        let entry = self.entry(address)?;
        let page = Page::of(get(entry))?;
        set(entry, 0);
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
            let Some(last) = lower(entry_of(middle, address, BLOCK)) else {
                address = (address | (BLOCK - 1)) + 1;
                continue;
            };
            if get(entry_of(last, address, PAGE)) != 0 {
                return Some(address);
            }
            address += PAGE;
        }
        None
    }

    /// Releases the table of level 3 of a block, in which no page has a frame.
    pub fn release_block(&mut self, address: usize, frames: &mut Frames) {
        if let Some(middle) = lower(entry_of(self.top(), address, GIB)) {
            let entry = entry_of(middle, address, BLOCK);
            if lower(entry).is_some() {
                frames.release(take_table(entry));
            }
        }
    }

    /// Releases all tables. No page has a frame, and no core uses them.
    pub fn release(self, frames: &mut Frames) {
        for (gib, entry) in self.top().iter().enumerate() {
            if (1..KERNEL_GIBS).contains(&gib) {
                continue;
            }
            let Some(middle) = lower(entry) else { continue };
            let own = if gib == 0 {
                self.low_end / BLOCK
            } else {
                ENTRIES
            };
            for entry in middle.iter().take(own) {
                if lower(entry).is_some() {
                    frames.release(take_table(entry));
                }
            }
            frames.release(take_table(entry));
        }
        frames.release(self.root);
    }
}
