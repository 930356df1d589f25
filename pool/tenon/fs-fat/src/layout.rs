//! [`Layout`]: where the parts of a volume are, by its boot sector (FATGEN103, BPB).

use crate::Error;
use tenon_block::SECTOR;

/// Bits of an entry of the allocation table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Width {
    Fat12,
    Fat16,
    Fat32,
}

impl Width {
    /// Largest value of an entry.
    pub const fn most(self) -> u32 {
        match self {
            Self::Fat12 => 0xfff,
            Self::Fat16 => 0xffff,
            Self::Fat32 => 0x0fff_ffff,
        }
    }

    /// The offset and the bytes of an entry, and the bits by which it is shifted.
    pub const fn place(self, cluster: u32) -> (u64, usize, u32) {
        let cluster = cluster as u64;
        match self {
            Self::Fat12 => (cluster + cluster / 2, 2, (cluster % 2) as u32 * 4),
            Self::Fat16 => (cluster * 2, 2, 0),
            Self::Fat32 => (cluster * 4, 4, 0),
        }
    }
}

/// The parts of a volume, in sectors from its start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    pub width: Width,
    /// Sectors of a cluster.
    pub cluster: u32,
    /// The first allocation table.
    pub table: u64,
    /// Sectors of a table.
    pub table_sectors: u64,
    /// Number of tables, which are equal.
    pub tables: u64,
    /// The root directory in front of the clusters.
    pub root: u64,
    /// Its sectors; none with FAT32.
    pub root_sectors: u32,
    /// The first cluster of the root directory with FAT32; zero otherwise.
    pub root_cluster: u32,
    /// The first cluster, which has the number 2.
    pub data: u64,
    /// The number behind the last cluster.
    pub end: u32,
    /// The sector with the number of free clusters, with FAT32.
    pub info: Option<u64>,
}

/// A number at an offset of a sector.
pub(crate) fn word(sector: &[u8; SECTOR], at: usize) -> u32 {
    half(sector, at) | half(sector, at + 2) << 16
}

/// As [`word`], of two bytes.
pub(crate) fn half(sector: &[u8; SECTOR], at: usize) -> u32 {
    let byte = |at: usize| u32::from(sector.get(at).copied().unwrap_or_default());
    byte(at) | byte(at + 1) << 8
}

impl Layout {
    /// Parses a boot sector of a device with `sectors`.
    pub fn parse(boot: &[u8; SECTOR], sectors: u64) -> Result<Self, Error> {
        let valid = |valid: bool| valid.then_some(()).ok_or(Error::NotFat);
        valid(half(boot, 510) == 0xaa55 && half(boot, 11) == SECTOR as u32)?;
        let cluster = u32::from(boot[13]);
        let (reserved, tables) = (u64::from(half(boot, 14)), u64::from(boot[16]));
        let root_entries = half(boot, 17);
        valid(cluster.is_power_of_two() && reserved > 0 && (1..=2).contains(&tables))?;
        let either = |short: usize, long: usize| match half(boot, short) {
            0 => u64::from(word(boot, long)),
            number => u64::from(number),
        };
        let total = either(19, 32);
        let is_32 = half(boot, 22) == 0;
        let table_sectors = either(22, 36);
        let root_sectors = root_entries / (SECTOR as u32 / 32);
        let root = reserved + tables * table_sectors;
        let data = root + u64::from(root_sectors);
        valid(table_sectors > 0 && total > data && total <= sectors)?;
        valid(root_entries.is_multiple_of(SECTOR as u32 / 32) && (root_entries == 0) == is_32)?;
        let clusters = (total - data) / u64::from(cluster);
        let width = match clusters {
            0 => return Err(Error::NotFat),
            1..4085 => Width::Fat12,
            4085..65_525 => Width::Fat16,
            65_525..0x0fff_fff5 => Width::Fat32,
            _ => return Err(Error::NotFat),
        };
        valid((width == Width::Fat32) == is_32)?;
        let end = clusters as u32 + 2;
        let bits = match width {
            Width::Fat12 => 12,
            Width::Fat16 => 16,
            Width::Fat32 => 32,
        };
        valid(u64::from(end) * bits <= table_sectors * SECTOR as u64 * 8)?;
        let (mut root_cluster, mut info) = (0, None);
        if is_32 {
            // One active table, or a later version.
            valid(boot[40] & 0x80 == 0 && half(boot, 42) == 0)?;
            root_cluster = word(boot, 44);
            valid((2..end).contains(&root_cluster))?;
            let sector = u64::from(half(boot, 48));
            info = (1..reserved).contains(&sector).then_some(sector);
        }
        Ok(Self {
            width,
            cluster,
            table: reserved,
            table_sectors,
            tables,
            root,
            root_sectors,
            root_cluster,
            data,
            end,
            info,
        })
    }

    /// The first sector of a cluster.
    pub fn sector_of(&self, cluster: u32) -> u64 {
        self.data + u64::from(cluster.saturating_sub(2)) * u64::from(self.cluster)
    }

    /// Bytes of a cluster.
    pub fn cluster_bytes(&self) -> u64 {
        u64::from(self.cluster) * SECTOR as u64
    }
}
