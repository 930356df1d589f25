//! The header, which says where the tables are.

use crate::{
    Authority, Channel, Colouring, Disk, Error, Lending, Name, Regulation, Reserve, Template, Vlib,
    Vm, limits,
};
use zerocopy::{FromBytes, Immutable, KnownLayout, TryFromBytes};

/// `TSYS`.
const MAGIC: u32 = 0x5359_5354;
const VERSION: u32 = 1;

/// A table: the records of one kind.
#[derive(Clone, Copy, FromBytes, KnownLayout, Immutable)]
#[repr(C)]
pub(crate) struct Extent {
    /// Bytes from the start of the manifest.
    offset: u32,
    /// Records.
    count: u32,
}

/// What each manifest begins with, at a multiple of 8 as the records behind it.
#[derive(Clone, Copy, FromBytes, KnownLayout, Immutable)]
#[repr(C, align(8))]
pub(crate) struct Header {
    magic: u32,
    version: u32,
    /// Bytes of the manifest.
    size: u32,
    pub(crate) mode: u32,
    /// A VM, or [`NONE`].
    pub(crate) console_input: u32,
    zero: u32,
    pub(crate) system: Name,
    pub(crate) board: Name,
    tables: [Extent; TABLES],
}

/// The number of what is not there.
pub(crate) const NONE: u32 = u32::MAX;

/// A number, unless it is [`NONE`].
pub(crate) const fn number(number: u32) -> Option<usize> {
    match number {
        NONE => None,
        number => Some(number as usize),
    }
}

/// A kind of record, which has a table of its own.
pub(crate) trait Record: TryFromBytes + KnownLayout + Immutable {
    /// Its table's place among the others.
    const TABLE: usize;
    /// Its table's name.
    const NAME: &'static str;
}

macro_rules! tables {
    ($($number:literal $record:ident $name:literal)*) => {
        /// The bytes of a record of each table, in their order.
        const SIZES: &[usize] = &[$(size_of::<$record>()),*];

        $(impl Record for $record {
            const TABLE: usize = $number;
            const NAME: &'static str = $name;
        })*
    };
}

tables! {
    0 Vm "vms"
    1 Lending "lendings"
    2 Authority "managers"
    3 Reserve "reserve"
    4 Colouring "colouring"
    5 Regulation "regulation"
    6 Template "templates"
    7 Channel "channels"
    8 Vlib "vlibs"
    9 Disk "disks"
}

const TABLES: usize = SIZES.len();

/// How many bytes the manifest at the start of `bytes` has, by its header; none if it is none, and
/// [`limits::BYTES`] at most.
pub fn size(bytes: &[u8]) -> usize {
    match Header::ref_from_prefix(bytes) {
        Ok((header, _)) if header.magic == MAGIC => (header.size as usize).min(limits::BYTES),
        _ => 0,
    }
}

/// The tables of a manifest: each behind the one before, and nothing behind the last.
#[derive(Clone, Copy)]
pub(crate) struct Tables<'a> {
    bytes: &'a [u8],
    pub(crate) header: &'a Header,
}

impl<'a> Tables<'a> {
    /// Those of the manifest at the start of `bytes`, which may be longer.
    pub(crate) fn open(bytes: &'a [u8]) -> Result<Self, Error<'a>> {
        let header = Header::ref_from_prefix(bytes)
            .map_err(|_| Error::Foreign)?
            .0;
        if (header.magic, header.version, header.zero) != (MAGIC, VERSION, 0) {
            return Err(Error::Foreign);
        }
        let bytes = bytes.get(..header.size as usize).ok_or(Error::Extent)?;
        let mut end = size_of::<Header>();
        for (table, size) in header.tables.iter().zip(SIZES) {
            if table.offset as usize != end {
                return Err(Error::Extent);
            }
            let records = (table.count as usize).checked_mul(*size);
            let next = records.and_then(|records| records.checked_add(end));
            end = next.ok_or(Error::Extent)?;
        }
        match end == bytes.len() {
            true => Ok(Self { bytes, header }),
            false => Err(Error::Extent),
        }
    }

    /// All records of a kind, `limit` at most.
    pub(crate) fn all<T: Record>(&self, limit: usize) -> Result<&'a [T], Error<'a>> {
        let Some(table) = self.header.tables.get(T::TABLE) else {
            return Ok(&[]);
        };
        let count = table.count as usize;
        if count > limit {
            return Err(Error::TooMany {
                table: T::NAME,
                limit,
            });
        }
        let bytes = self.bytes.get(table.offset as usize..).unwrap_or_default();
        let records = <[T]>::try_ref_from_prefix_with_elems(bytes, count);
        let records = records.map_err(|_| Error::Unknown { table: T::NAME })?;
        Ok(records.0)
    }

    /// The record of a kind of which there is one at most.
    pub(crate) fn find<T: Record>(&self) -> Result<Option<&'a T>, Error<'a>> {
        Ok(self.all(1)?.first())
    }

    /// A record of this kind for each VM, or none at all.
    pub(crate) fn of_vms<T: Record>(&self, vms: usize) -> Result<&'a [T], Error<'a>> {
        let records = self.all(vms)?;
        match records.len() == vms || records.is_empty() {
            true => Ok(records),
            false => Err(Error::Invalid {
                of: T::NAME,
                field: "count",
                must: "be that of the VMs",
            }),
        }
    }
}
