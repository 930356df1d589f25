//! [`DeviceMap`]: IOMMU translation of the DMA addresses of a VM.

use crate::guest::{Access, attributes};
use crate::tables::{Table, Tables, VALID, parts, take};
use crate::{Error, Frames};

/// Map of the memory of a VM for its devices behind an IOMMU: read-write, never executable.
pub struct DeviceMap {
    tables: Tables<Table>,
    attributes: u64,
}

/// Attributes of stage 1 (Arm ARM, D8.3.1 and D8.5): attribute index 0, inner shareable, access flag,
/// execute-never, and accessible without privilege, as devices access memory unprivileged. Not global,
/// so that TLB entries can be invalidated by ASID.
const STAGE_1: u64 = {
    let (unprivileged, inner_shareable, accessed) = (1 << 6, 0b11 << 8, 1 << 10);
    let (not_global, never_executed) = (1 << 11, 0b11 << 53);
    VALID | unprivileged | inner_shareable | accessed | not_global | never_executed
};

impl DeviceMap {
    /// Empty stage 1 map that allocates its tables from `supply`.
    ///
    /// # Errors
    ///
    /// If the supply has no frame left.
    pub fn of_stage_1(supply: &'static dyn Frames) -> Result<Self, Error> {
        Self::new(supply, STAGE_1)
    }

    /// Empty stage 2 map that allocates its tables from `supply`.
    ///
    /// # Errors
    ///
    /// If the supply has no frame left.
    pub fn of_stage_2(supply: &'static dyn Frames) -> Result<Self, Error> {
        Self::new(supply, attributes(Access::ReadWrite))
    }

    fn new(supply: &'static dyn Frames, attributes: u64) -> Result<Self, Error> {
        Ok(Self {
            tables: Tables::new(take(supply)?, supply),
            attributes,
        })
    }

    /// Maps `size` bytes at device address `seen` to physical address `pa`.
    pub fn map(&mut self, seen: usize, pa: usize, size: usize) -> Result<(), Error> {
        self.tables.map(seen, pa, size, self.attributes)
    }

    /// Physical address to which `seen` is mapped.
    #[must_use]
    pub fn translate(&self, seen: usize) -> Option<usize> {
        let (entry, grain) = self.tables.find(seen)?;
        Some(parts(entry, grain).0 | seen & (grain - 1))
    }

    /// Physical address of the root table, of level 1.
    #[must_use]
    pub fn root(&self) -> usize {
        self.tables.root.as_ptr() as usize
    }
}

#[cfg(test)]
mod tests {
    use super::DeviceMap;
    use crate::frames::supply;
    use crate::tables::parts;

    #[test]
    fn devices_find_what_is_mapped_and_nothing_beside_it() {
        for new in [DeviceMap::of_stage_1, DeviceMap::of_stage_2] {
            let mut devices = new(supply::<8>()).unwrap();
            devices.map(0x4000_0000, 0x5800_0000, 16 << 20).unwrap();
            assert_eq!(devices.translate(0x40ff_ffff), Some(0x58ff_ffff));
            assert_eq!(devices.translate(0x4100_0000), None);
            assert_eq!(devices.translate(0x3fff_ffff), None);
        }
    }

    #[test]
    fn both_stages_read_and_write_and_never_execute() {
        let attributes = |mut map: DeviceMap| {
            map.map(0, 0, 2 << 20).unwrap();
            let (entry, grain) = map.tables.find(0).unwrap();
            parts(entry, grain).1
        };
        let one = attributes(DeviceMap::of_stage_1(supply::<8>()).unwrap());
        assert_eq!(one >> 6 & 0b11, 0b01, "AP: read and written by all");
        assert_eq!(one >> 2 & 0b111, 0, "AttrIndx");
        assert_eq!(one >> 53, 0b11, "UXN, PXN");
        let two = attributes(DeviceMap::of_stage_2(supply::<8>()).unwrap());
        assert_eq!(two >> 6 & 0b11, 0b11, "S2AP");
        assert_eq!(two >> 54, 1, "XN");
        for each in [one, two] {
            assert_eq!((each >> 8 & 0b11, each >> 10 & 1), (0b11, 1), "SH, AF");
        }
    }
}
