//! Physical disks and their ranges.

use crate::{buffered_io::BufferedIo, range::Range, range::SharedDisk};
use core_manifest::{Disk, Store, limits};
use core_sync::TicketLock;
use hw_arch::mmio::Mmio;
use hw_virtio_blk::{Drive, Frame, Memory, Request, SHARERS};
use mortise_vdev_blk::{Block, DiskAccess, Step, Storage};
use spin::Once;

/// Most physical disks.
pub const DRIVES: usize = 2;

// Each disk of the manifest shares a physical disk under its own number.
const _: () = assert!(limits::DISKS <= SHARERS);

/// DMA memory of the disks.
static MEMORY: [Memory; DRIVES] = [const { Memory::new() }; DRIVES];

/// The open disks.
static OPEN: [Once<Physical>; DRIVES] = [const { Once::new() }; DRIVES];

/// A physical disk.
struct Physical {
    /// Address of its transport.
    registers: u64,
    memory: &'static Memory,
    drive: TicketLock<Drive>,
}

/// The physical disk of a transport, opened at its first use.
fn physical(disk: &Disk) -> Result<&'static Physical, &'static str> {
    let registers = disk.place.start();
    let open = OPEN.iter().filter_map(Once::get);
    if let Some(known) = open.into_iter().find(|open| open.registers == registers) {
        return Ok(known);
    }
    let mut places = OPEN.iter().zip(&MEMORY);
    let free = places.find(|(place, _)| place.get().is_none());
    let (place, memory) = free.ok_or("partitions of more physical disks than there is room for")?;
    // SAFETY: the manifest names the transport, which no VM can access. All device registers of the
    // board are mapped as device memory on each core that executes this at boot.
    let frame = unsafe { Mmio::new(registers as usize, disk.place.size() as usize) };
    let drive = Drive::open(Frame::new(frame), memory).map_err(|error| error.words())?;
    Ok(place.call_once(|| Physical {
        registers,
        memory,
        drive: TicketLock::new(drive),
    }))
}

/// A range of a physical disk.
pub struct Partition {
    physical: &'static Physical,
    sharer: usize,
    /// Address of its buffer.
    buffer: u64,
    range: TicketLock<Range>,
}

impl Storage for Partition {
    const STORE: Store = Store::Drive;

    fn open(disk: &'static Disk, number: usize) -> Result<Self, &'static str> {
        let physical = physical(disk)?;
        let drive = physical.drive.lock();
        let end = disk.first.checked_add(disk.sectors);
        if end.is_none_or(|end| end > drive.sectors()) {
            return Err("a part of a disk ends beyond the disk");
        }
        if drive.is_read_only() && !disk.read_only {
            return Err("a disk cannot be written, and a part of it is to be");
        }
        let buffer = physical.memory.buffer(number);
        Ok(Self {
            physical,
            sharer: number,
            buffer: buffer.ok_or("there are more disks than there is room for")?,
            range: TicketLock::new(Range::new(disk.first, disk.sectors)),
        })
    }

    fn step(&self, block: &mut Block, access: &mut DiskAccess<'_>) -> Step {
        // Only the device of this range takes the lock, so that it is free here.
        let mut range = self.range.lock();
        let mut store = BufferedIo {
            access,
            range: &mut range,
            disk: self,
            buffer: self.buffer,
            waits: false,
        };
        match block.step(&mut store) {
            Step::More if store.waits => Step::Wait,
            step => step,
        }
    }
}

impl SharedDisk for &Partition {
    fn submit(&mut self, request: Request) {
        self.physical.drive.lock().submit(self.sharer, request);
    }

    fn poll(&mut self) -> Option<bool> {
        self.physical.drive.lock().poll(self.sharer)
    }
}
