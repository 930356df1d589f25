//! Header and tables of a manifest.

use crate::{Error, Name, limits};
use zerocopy::{FromBytes, Immutable, KnownLayout, TryFromBytes};

/// `TSYS`.
const MAGIC: u32 = 0x5359_5354;
const VERSION: u32 = 1;

/// Location of a table in the manifest.
#[derive(Clone, Copy, FromBytes, KnownLayout, Immutable)]
#[repr(C)]
pub(crate) struct Extent {
    /// Offset in bytes from the start of the manifest.
    offset: u32,
    /// Number of records.
    count: u32,
}

/// Header of a manifest, aligned to 8 as are the records behind it.
#[derive(Clone, Copy, FromBytes, KnownLayout, Immutable)]
#[repr(C, align(8))]
pub(crate) struct Header {
    magic: u32,
    version: u32,
    /// Size of the manifest in bytes.
    size: u32,
    pub(crate) mode: u32,
    /// Index of a VM, or [`NONE`].
    pub(crate) console_input: u32,
    zero: u32,
    pub(crate) system: Name,
    pub(crate) board: Name,
    tables: [Extent; TABLES],
}

/// Number that stands for an absent value.
pub(crate) const NONE: u32 = u32::MAX;

/// The number as an index, unless it is [`NONE`].
pub(crate) const fn number(number: u32) -> Option<usize> {
    match number {
        NONE => None,
        number => Some(number as usize),
    }
}

/// Record type; each has a table of its own.
pub(crate) trait Record: TryFromBytes + KnownLayout + Immutable {
    /// Index of its table.
    const TABLE: usize;
    /// Name of its table.
    const NAME: &'static str;
}

/// Size in bytes of a record of each table (`docs/formats.md`); checked against the types in
/// [`records`](crate::records).
pub(crate) const SIZES: [usize; TABLES] = [1056, 48, 40, 40, 112, 16, 904, 104, 80, 48];

const TABLES: usize = 10;

/// Size of the manifest at the start of `bytes` by its header, at most [`limits::BYTES`]; 0 if there
/// is no manifest.
pub fn size(bytes: &[u8]) -> usize {
    match Header::ref_from_prefix(bytes) {
        Ok((header, _)) if header.magic == MAGIC => (header.size as usize).min(limits::BYTES),
        _ => 0,
    }
}

/// Tables of a manifest: contiguous, with nothing behind the last one.
#[derive(Clone, Copy)]
pub(crate) struct Tables<'a> {
    bytes: &'a [u8],
    pub(crate) header: &'a Header,
}

impl<'a> Tables<'a> {
    /// Tables of the manifest at the start of `bytes`, which may be longer.
    pub(crate) fn open(bytes: &'a [u8]) -> Result<Self, Error<'a>> {
        let header = Header::ref_from_prefix(bytes)
            .map_err(|_| Error::Foreign)?
            .0;
        if (header.magic, header.version, header.zero) != (MAGIC, VERSION, 0) {
            return Err(Error::Foreign);
        }
        let bytes = bytes.get(..header.size as usize).ok_or(Error::Extent)?;
        let mut end = size_of::<Header>();
        for (table, size) in header.tables.iter().zip(&SIZES) {
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

    /// All records of a type, at most `limit`.
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

    /// The record of a type with at most one record.
    pub(crate) fn find<T: Record>(&self) -> Result<Option<&'a T>, Error<'a>> {
        Ok(self.all(1)?.first())
    }

    /// The records of a type with one record per VM, or no records.
    pub(crate) fn of_vms<T: Record>(&self, vms: usize) -> Result<&'a [T], Error<'a>> {
        let records = self.all(vms)?;
        match records.len() == vms || records.is_empty() {
            true => Ok(records),
            false => Err(Error::invalid(T::NAME, "count", "be that of the VMs")),
        }
    }
}
