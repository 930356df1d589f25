//! Manifests as the orchestrator writes them, and changes of them.

// Each test binary uses a part of it.
#![allow(dead_code)]

use core_manifest::{
    Authority, Channel, Colouring, Disk, Dynamic, Lending, Regulation, Reserve, System, Template,
    Vlib, Vm,
};
use zerocopy::IntoBytes;

/// The demonstration: `motor` with Tenon, whose interrupts are its own, and `linux`.
pub const SYSTEM: &[u8] = include_bytes!("../golden/system.bin");
/// A reserve, a template, channels, regulation.
pub const DYNAMIC: &[u8] = include_bytes!("../golden/dynamic.bin");
/// A vLib.
pub const VLIB: &[u8] = include_bytes!("../golden/vlib.bin");
/// A VM that lends cores.
pub const LENDING: &[u8] = include_bytes!("../golden/lending.bin");
/// VMs with colours.
pub const COLOURED: &[u8] = include_bytes!("../golden/coloured.bin");

/// A VM with disks.
pub const DISK: &[u8] = include_bytes!("../golden/disk.bin");

/// All of them.
pub const ALL: [&[u8]; 6] = [SYSTEM, DYNAMIC, VLIB, LENDING, COLOURED, DISK];

/// Where the tables stand in the header.
const TABLES: usize = 96;
/// Bytes of a record of each table.
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

/// A manifest at a multiple of 8, as a kernel has it.
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

    /// With these bytes at this offset.
    pub fn put(mut self, at: usize, bytes: &[u8]) -> Self {
        for (index, byte) in bytes.iter().enumerate() {
            let (word, shift) = ((at + index) / 8, (at + index) % 8 * 8);
            self.words[word] &= !(0xff << shift);
            self.words[word] |= u64::from(*byte) << shift;
        }
        self
    }

    /// The offset of a record.
    pub fn record(&self, table: usize, index: usize) -> usize {
        let at = TABLES + 8 * table;
        let start = u32::from_le_bytes(self.bytes()[at..at + 4].try_into().unwrap());
        start as usize + index * SIZES[table]
    }

    /// With these bytes in a record.
    pub fn with(self, table: usize, index: usize, field: usize, bytes: &[u8]) -> Self {
        let at = self.record(table, index) + field;
        self.put(at, bytes)
    }
}

/// A range in bytes.
pub fn range(start: u64, size: u64) -> Vec<u8> {
    [start, size].map(u64::to_le_bytes).concat()
}

/// What a kernel that has all there is makes of a manifest.
pub fn parse(bytes: &[u8]) -> Result<(), String> {
    let text = |error: core_manifest::Error<'_>| error.to_string();
    let system = System::parse(bytes).map_err(text)?;
    Dynamic::parse(bytes, &system).map_err(text)?;
    Lending::parse(bytes, &system).map_err(text)?;
    Disk::parse(bytes, &system).map_err(text)?;
    Colouring::parse(bytes).map_err(text)?;
    Regulation::parse(bytes).map_err(text)?;
    Ok(())
}

/// That each change is refused for this reason.
pub fn refused(golden: &[u8], table: usize, changes: &[(usize, usize, &[u8], &str)]) {
    let golden = Manifest::new(golden);
    assert_eq!(parse(golden.bytes()), Ok(()));
    for (index, field, bytes, reason) in changes {
        let changed = golden.clone().with(table, *index, *field, bytes);
        let refusal = parse(changed.bytes()).unwrap_err();
        assert_eq!(&refusal, reason);
    }
}
