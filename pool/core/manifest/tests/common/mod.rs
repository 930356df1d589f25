//! Golden manifests of the orchestrator, and modifications of them.

// Each test binary uses a part of this module.
#![allow(dead_code)]

use core_manifest::{
    Authority, Channel, Colouring, Disk, Dynamic, Lending, Port, Regulation, Reserve, System,
    Template, Vlib, Vm,
};
use zerocopy::IntoBytes;

/// The demonstration: `motor` with Tenon and direct interrupts, and `linux`.
pub const SYSTEM: &[u8] = include_bytes!("../golden/system.bin");
/// A system with reserve, template, channels and regulation.
pub const DYNAMIC: &[u8] = include_bytes!("../golden/dynamic.bin");
/// A system with a vLib.
pub const VLIB: &[u8] = include_bytes!("../golden/vlib.bin");
/// A system with a VM that lends cores.
pub const LENDING: &[u8] = include_bytes!("../golden/lending.bin");
/// A system with page colours.
pub const COLOURED: &[u8] = include_bytes!("../golden/coloured.bin");

/// A system with networks between its VMs, and a disk.
pub const NETWORK: &[u8] = include_bytes!("../golden/network.bin");
/// A system with virtual disks.
pub const DISK: &[u8] = include_bytes!("../golden/disk.bin");

/// All golden manifests.
pub const ALL: [&[u8]; 7] = [SYSTEM, DYNAMIC, VLIB, LENDING, COLOURED, DISK, NETWORK];

/// Offset of the table locations in the header.
const TABLES: usize = 96;
/// Size in bytes of a record of each table.
const SIZES: [usize; 10] = [
    size_of::<Vm>(),
    size_of::<Lending>(),
    size_of::<Authority>(),
    size_of::<Reserve>(),
    size_of::<Colouring>(),
    size_of::<Regulation>(),
    size_of::<Template>(),
    size_of::<Channel>(),
    size_of::<Vlib>(),
    size_of::<Disk>(),
];

pub const VMS: usize = 0;
pub const LENDINGS: usize = 1;
pub const MANAGERS: usize = 2;
pub const RESERVE: usize = 3;
pub const COLOURING: usize = 4;
pub const REGULATION: usize = 5;
pub const TEMPLATES: usize = 6;
pub const CHANNELS: usize = 7;
pub const VLIBS: usize = 8;
pub const DISKS: usize = 9;

/// A manifest with the alignment that a kernel guarantees.
#[derive(Clone)]
pub struct Manifest {
    words: Vec<u64>,
    size: usize,
}

impl Manifest {
    pub fn new(bytes: &[u8]) -> Self {
        let manifest = Self {
            words: vec![0; bytes.len().div_ceil(8)],
            size: bytes.len(),
        };
        manifest.put(0, bytes)
    }

    pub fn bytes(&self) -> &[u8] {
        &self.words.as_bytes()[..self.size]
    }

    /// Replaces bytes at an offset.
    pub fn put(mut self, at: usize, bytes: &[u8]) -> Self {
        for (index, byte) in bytes.iter().enumerate() {
            let (word, shift) = ((at + index) / 8, (at + index) % 8 * 8);
            self.words[word] &= !(0xff << shift);
            self.words[word] |= u64::from(*byte) << shift;
        }
        self
    }

    /// Offset of a record.
    pub fn record(&self, table: usize, index: usize) -> usize {
        let at = TABLES + 8 * table;
        let start = u32::from_le_bytes(self.bytes()[at..at + 4].try_into().unwrap());
        start as usize + index * SIZES[table]
    }

    /// Number of records of a table.
    pub fn count(&self, table: usize) -> usize {
        let at = TABLES + 8 * table + 4;
        u32::from_le_bytes(self.bytes()[at..at + 4].try_into().unwrap()) as usize
    }

    /// Bytes of a record.
    pub fn bytes_of(&self, table: usize, index: usize) -> Vec<u8> {
        let at = self.record(table, index);
        self.bytes()[at..at + SIZES[table]].to_vec()
    }

    /// Replaces all records of a table.
    pub fn with_table(&self, table: usize, records: &[Vec<u8>]) -> Self {
        let (from, to) = (self.record(table, 0), self.record(table, self.count(table)));
        let bytes = self.bytes();
        let new = [&bytes[..from], &records.concat(), &bytes[to..]].concat();
        let word = |number: usize| (number as u32).to_le_bytes();
        let mut manifest = Self::new(&new).put(8, &word(new.len()));
        manifest = manifest.put(TABLES + 8 * table + 4, &word(records.len()));
        for later in table + 1..SIZES.len() {
            let start = self.record(later, 0) + new.len() - bytes.len();
            manifest = manifest.put(TABLES + 8 * later, &word(start));
        }
        manifest
    }

    /// Replaces bytes of a record.
    pub fn with(self, table: usize, index: usize, field: usize, bytes: &[u8]) -> Self {
        let at = self.record(table, index) + field;
        self.put(at, bytes)
    }
}

/// Bytes of a range.
pub fn range(start: u64, size: u64) -> Vec<u8> {
    [start, size].map(u64::to_le_bytes).concat()
}

/// A name as a record has it.
pub fn name(text: &str) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    bytes.resize(32, 0);
    bytes.extend_from_slice(&(text.len() as u32).to_le_bytes());
    bytes
}

/// Bytes of a number.
pub fn word(number: u64) -> [u8; 8] {
    number.to_le_bytes()
}

/// Parses a manifest as a kernel with all features does.
pub fn parse(bytes: &[u8]) -> Result<(), String> {
    let text = |error: core_manifest::Error<'_>| error.to_string();
    let system = System::parse(bytes).map_err(text)?;
    Dynamic::parse(bytes, &system).map_err(text)?;
    Lending::parse(bytes, &system).map_err(text)?;
    Disk::parse(bytes, &system).map_err(text)?;
    Port::parse(bytes, &system).map_err(text)?.for_each(drop);
    Colouring::parse(bytes).map_err(text)?;
    Regulation::parse(bytes).map_err(text)?;
    Ok(())
}

/// Asserts that each modification is rejected with this error.
pub fn refused(golden: &[u8], table: usize, changes: &[(usize, usize, &[u8], &str)]) {
    let golden = Manifest::new(golden);
    assert_eq!(parse(golden.bytes()), Ok(()));
    for (index, field, bytes, reason) in changes {
        let changed = golden.clone().with(table, *index, *field, bytes);
        let refusal = parse(changed.bytes()).unwrap_err();
        assert_eq!(&refusal, reason);
    }
}
