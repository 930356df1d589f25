//! A virtual disk and its virtqueue with arbitrary registers and memory, modified between steps.
#![cfg_attr(fuzzing, no_main)]

#[macro_use]
mod any;

use core_virtq::{Memory, Outside};
use mortise_vdev_blk::{Block, Geometry, IoError, SECTOR, Store};

/// A small disk and the memory of its driver, which is small so that random addresses hit it.
struct SmallDisk {
    memory: [u8; 1024],
    disk: [u8; 2048],
}

impl Memory for SmallDisk {
    fn read(&self, at: u64, bytes: &mut [u8]) -> Result<(), Outside> {
        self.memory.read(at, bytes)
    }

    fn write(&mut self, at: u64, bytes: &[u8]) -> Result<(), Outside> {
        self.memory.write(at, bytes)
    }
}

impl Store for SmallDisk {
    fn load(&mut self, from: u64, to: u64, size: u32) -> Result<u32, IoError> {
        let from = from as usize;
        self.memory
            .write(to, &self.disk[from..from + size as usize])?;
        Ok(size)
    }

    fn store(&mut self, from: u64, to: u64, size: u32) -> Result<u32, IoError> {
        let to = to as usize;
        self.memory
            .read(from, &mut self.disk[to..to + size as usize])?;
        Ok(size)
    }
}

target!(|steps: Vec<(u8, u16, u32)>| {
    let mut disk = SmallDisk {
        memory: [0; 1024],
        disk: [0; 2048],
    };
    let mut block = Block::new(Geometry {
        sectors: 2048 / SECTOR,
        read_only: false,
        name: [b'x'; 20],
    });
    // The state after a driver's setup: descriptors, available ring and used ring in its memory.
    for (at, value) in [
        (0x024, 1),
        (0x020, 1),
        (0x070, 11),
        (0x038, 8),
        (0x090, 128),
        (0x0a0, 256),
        (0x044, 1),
        (0x070, 15),
    ] {
        block.write(at, 4, value);
    }
    for (kind, at, value) in steps {
        let at = usize::from(at);
        match kind % 8 {
            0 => block.write(at % 0x200, 4, value.into()),
            1 => {
                let _ = block.read(at % 0x200, kind >> 4);
            }
            2 | 3 => {
                let _ = disk.write(at as u64 % 1024, &value.to_le_bytes());
            }
            // Extends a chain by one descriptor.
            4 => {
                let count = u16::from_le_bytes([disk.memory[130], disk.memory[131]]);
                disk.memory[130..132].copy_from_slice(&count.wrapping_add(1).to_le_bytes());
                disk.memory[132 + usize::from(count % 8) * 2] = at as u8 % 8;
                block.write(0x050, 4, 0);
            }
            _ => {
                block.step(&mut disk);
            }
        }
    }
});
