//! Address space of a Tenon image.
//!
//! The low 4 GiB are mapped one to one, as in the early table of `hw/arch`, but by pages: code is
//! executable, constants are read-only, all else is writable and never executable. Unused
//! addresses, such as zero, are not mapped. [`Map::guard`] unmaps the page below a stack, so that
//! an overflow faults and does not reach another thread's data.
//!
//! Guarantees: no page is both writable and executable. Tables come from a slice of fixed size in
//! the image, and each is cleared when it is first used, so that the cost of building is that of
//! the mappings: about 256 instructions for each table and 5 for each page. No allocation; guarding
//! is O(1) and possible on any core.
//!
//! ```
//! use tenon_map::{Map, Table, Use};
//!
//! static TABLES: [Table; 3] = [const { Table::new() }; 3];
//! static MAP: Map = Map::new();
//!
//! MAP.pages(&TABLES, 0x4008_0000..0x4008_4000, Use::Code)?;
//! MAP.pages(&TABLES, 0x4008_4000..0x4010_0000, Use::Data)?;
//! MAP.blocks(&TABLES, 0x0800_0000..0x0801_0000, Use::Device)?;
//! MAP.guard(0x4009_0000)?;
//! assert_eq!(MAP.find(0x4008_3fff), Some(Use::Code));
//! assert_eq!(MAP.find(0x4009_0000), None);
//! assert_eq!(MAP.find(0), None);
//! # Ok::<(), tenon_map::Error>(())
//! ```

#![no_std]
#![expect(unsafe_code, reason = "tables are reached by the addresses in them")]

use core::fmt;
use core::ops::Range;
use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use hw_arch::mmu::{self, attributes};
use hw_arch::{El1, ExceptionLevel};

pub use hw_arch::mmu::Use;

/// Size of a page.
pub const PAGE: usize = 1 << 12;
/// Size that a level 2 entry maps.
const BLOCK: usize = 1 << 21;
/// Size that a level 1 entry maps.
const GIB: usize = 1 << 30;
/// Bits of a translated address; the walk starts at level 1, with four entries.
const ADDRESS_BITS: u64 = 32;
const ROOT: usize = (1 << ADDRESS_BITS) / GIB;
const ENTRIES: usize = 512;

/// Fields of descriptors (Arm ARM, D8.3).
mod bits {
    /// A valid block; with the next bit a table, or at level 3 a page.
    pub const VALID: u64 = 1;
    pub const TABLE_OR_PAGE: u64 = 1 << 1;
    pub const ADDRESS: u64 = 0xffff_ffff_f000;
}

/// Error of a mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// All tables are in use.
    Exhausted,
    /// The address is mapped by a block, or exceeds 32 bits.
    Address(usize),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exhausted => f.write_str("the image has too few translation tables"),
            Self::Address(address) => write!(f, "{address:#x} cannot be mapped by pages"),
        }
    }
}

impl core::error::Error for Error {}

/// A table of level 2 or 3, which table walks read concurrently.
#[repr(C, align(4096))]
pub struct Table([AtomicU64; ENTRIES]);

impl Table {
    /// An empty table.
    pub const fn new() -> Self {
        Self([const { AtomicU64::new(0) }; ENTRIES])
    }

    /// The table that an entry points to.
    fn of(entry: u64) -> &'static Self {
        // SAFETY: `Map::lower` stored the address of a `&'static Table`, which is mapped one to
        // one; its words are accessed atomically only.
        unsafe { &*((entry & bits::ADDRESS) as usize as *const Self) }
    }

    fn zero(&'static self) {
        // SAFETY: no entry points to the table yet, and its words may have any value.
        unsafe { hw_arch::cache::zero_page(core::ptr::from_ref(self) as usize) };
    }
}

impl Default for Table {
    fn default() -> Self {
        Self::new()
    }
}

/// The address space of an image, shared by all cores.
#[repr(C, align(64))] // the root is as aligned as its size (Arm ARM, D8.2)
pub struct Map {
    root: [AtomicU64; ROOT],
    /// Number of tables in use, the first ones.
    used: AtomicUsize,
}

impl Map {
    /// An empty map.
    pub const fn new() -> Self {
        Self {
            root: [const { AtomicU64::new(0) }; ROOT],
            used: AtomicUsize::new(0),
        }
    }

    /// Maps a range by pages, rounded outwards. Called on one core, before the map is in use.
    pub fn pages(
        &self,
        tables: &'static [Table],
        range: Range<usize>,
        purpose: Use,
    ) -> Result<(), Error> {
        let mut address = range.start & !(PAGE - 1);
        while address < range.end {
            let block = self.block(tables, address)?;
            let table = self.lower(tables, block, address)?;
            let end = range.end.min((address | (BLOCK - 1)) + 1);
            while address < end {
                let entry = address as u64 | attributes::<El1>(purpose) | bits::TABLE_OR_PAGE;
                set(index(&table.0, address, PAGE), entry);
                address += PAGE;
            }
        }
        Ok(())
    }

    /// Maps a range by blocks of 2 MiB, rounded outwards. Called on one core, before the map is in
    /// use.
    pub fn blocks(
        &self,
        tables: &'static [Table],
        range: Range<usize>,
        purpose: Use,
    ) -> Result<(), Error> {
        let mut address = range.start & !(BLOCK - 1);
        while address < range.end {
            let block = self.block(tables, address)?;
            set(block, address as u64 | attributes::<El1>(purpose));
            address += BLOCK;
        }
        Ok(())
    }

    /// Maps the registers of a device by blocks while the map is in use; existing device mappings
    /// stay. One call at a time.
    pub fn device(&self, tables: &'static [Table], range: Range<usize>) -> Result<(), Error> {
        let mut address = range.start & !(BLOCK - 1);
        while address < range.end {
            let block = self.block(tables, address)?;
            let entry = address as u64 | attributes::<El1>(Use::Device);
            match get(block) {
                0 => set(block, entry),
                mapped if mapped == entry => {}
                _ => return Err(Error::Address(address)),
            }
            address += BLOCK;
        }
        // The TLB holds no invalid entries, but table walks must observe the new one (Arm ARM,
        // D8.17).
        hw_arch::barrier::dsb_ish();
        hw_arch::barrier::isb();
        Ok(())
    }

    /// Unmaps the page at `address` on all cores. After the return an access to it faults.
    pub fn guard(&self, address: usize) -> Result<(), Error> {
        let entry = self.page(address).ok_or(Error::Address(address))?;
        if entry.swap(0, Ordering::Relaxed) != 0 {
            hw_arch::mmu::invalidate_page(address);
        }
        Ok(())
    }

    /// Maps a page of data again that [`guard`](Self::guard) unmapped.
    pub fn unguard(&self, address: usize) -> Result<(), Error> {
        let entry = self.page(address).ok_or(Error::Address(address))?;
        set(
            entry,
            address as u64 | attributes::<El1>(Use::Data) | bits::TABLE_OR_PAGE,
        );
        // The TLB holds no invalid entries; table walks must observe the new one (Arm ARM, D8.14).
        hw_arch::barrier::dsb_ish();
        hw_arch::barrier::isb();
        Ok(())
    }

    /// The use of the page at `address`, if it is mapped.
    #[must_use]
    pub fn find(&self, address: usize) -> Option<Use> {
        let root = get(self.root.get(address / GIB)?);
        if root == 0 {
            return None;
        }
        let block = get(index(&Table::of(root).0, address, BLOCK));
        let entry = match self.page(address) {
            Some(page) => get(page) & !bits::TABLE_OR_PAGE,
            None => block,
        };
        let mapped = Use::ALL
            .into_iter()
            .find(|purpose| entry & !bits::ADDRESS == attributes::<El1>(*purpose));
        mapped.filter(|_| entry & bits::ADDRESS <= address as u64)
    }

    /// Makes this the active map of the running core, with W^X enforced.
    ///
    /// # Safety
    ///
    /// The map contains the running code, its constants, variables and stacks, and the devices that
    /// it uses.
    pub unsafe fn activate(&self) {
        hw_arch::barrier::dsb_ish();
        // SAFETY: the map contains all that the running code uses, as the caller ensures; the root
        // is a static table of level 1.
        unsafe { mmu::activate::<El1>(self.root.as_ptr() as usize, ADDRESS_BITS) }
    }

    /// The entries of level 1, for translation tables that contain this map.
    #[must_use]
    pub fn entries(&self) -> [u64; ROOT] {
        core::array::from_fn(|gib| get(&self.root[gib]))
    }

    /// Whether the running core uses its own map and not the early table.
    #[must_use]
    pub fn is_active(&self) -> bool {
        El1::read_ttbr0() == self.root.as_ptr() as u64
    }

    /// The level 2 entry of an address.
    fn block(&self, tables: &'static [Table], address: usize) -> Result<&AtomicU64, Error> {
        let root = self.root.get(address / GIB);
        let root = root.ok_or(Error::Address(address))?;
        let table = self.lower(tables, root, address)?;
        Ok(index(&table.0, address, BLOCK))
    }

    /// The level 3 entry of an address, if it is mapped by pages.
    fn page(&self, address: usize) -> Option<&AtomicU64> {
        let is_table = |entry: &u64| entry & bits::TABLE_OR_PAGE != 0;
        let root = Some(get(self.root.get(address / GIB)?)).filter(is_table)?;
        let block = get(index(&Table::of(root).0, address, BLOCK));
        let table = Table::of(Some(block).filter(is_table)?);
        Some(index(&table.0, address, PAGE))
    }

    /// The table that an entry points to, allocated if it is invalid.
    #[inline(never)]
    fn lower(
        &self,
        tables: &'static [Table],
        entry: &AtomicU64,
        address: usize,
    ) -> Result<&'static Table, Error> {
        const LEADS_ON: u64 = bits::VALID | bits::TABLE_OR_PAGE;
        match get(entry) {
            0 => {
                let used = self.used.load(Ordering::Relaxed);
                let table = tables.get(used).ok_or(Error::Exhausted)?;
                self.used.store(used + 1, Ordering::Relaxed);
                table.zero();
                set(entry, core::ptr::from_ref(table) as u64 | LEADS_ON);
                Ok(table)
            }
            block if block & bits::TABLE_OR_PAGE == 0 => Err(Error::Address(address)),
            table => Ok(Table::of(table)),
        }
    }
}

impl Default for Map {
    fn default() -> Self {
        Self::new()
    }
}

/// The entry of an address in a table; each entry maps `span` bytes.
fn index(table: &[AtomicU64; ENTRIES], address: usize, span: usize) -> &AtomicU64 {
    &table[address / span % ENTRIES]
}

fn get(entry: &AtomicU64) -> u64 {
    entry.load(Ordering::Relaxed)
}

fn set(entry: &AtomicU64, value: u64) {
    entry.store(value, Ordering::Relaxed);
}

#[cfg(test)]
mod tests;
