//! The guest header: what Mortise assigned to this VM.
//!
//! Mortise passes a guest the address of a header with its log ring, its status page and an area
//! for the samples of each periodic task. On bare metal there is no header and none of these.

use crate::thread::Priority;
use core::fmt;
use core::ops::Range;
pub use core_guest::ENDS;
use core_guest::Guest;
use core_memory::{IntermediateRange, PAGE_SIZE};
use core_ring::Area;
use core_statistics::StatusReader;
use hw_arch::mmio::Mmio;
use tenon_kernel::kernel::Kernel;
use tenon_machine::{address_space, options};

pub use tenon_map::Error as MapError;

/// Size of the header with all its tasks.
const HEADER: usize = PAGE_SIZE as usize;

/// The guest header at the address that the entry code was passed, if there is one. A boot loader
/// passes a device tree or nothing instead.
///
/// # Safety
///
/// `ram` is readable and mapped as normal memory, and no code writes the header in it.
pub(crate) unsafe fn find(argument: usize, ram: core::ops::Range<usize>) -> Option<Guest<'static>> {
    let room = ram.end.checked_sub(argument)?;
    // Address zero is never a header, even if RAM begins there.
    if argument < ram.start.max(HEADER) || room < HEADER {
        return None;
    }
    // SAFETY: the range lies within `ram`, which is readable, and no code writes the header.
    let bytes = unsafe { core::slice::from_raw_parts(argument as *const u8, HEADER) };
    Guest::parse(bytes).ok()
}

/// The guest header; none on bare metal.
pub fn guest() -> Option<Guest<'static>> {
    Kernel::guest()
}

/// The shared memory of a range in the header.
fn area(range: IntermediateRange) -> Option<Area<'static>> {
    let (start, size) = (range.start() as usize, range.size() as usize);
    // SAFETY: Mortise maps the ranges of its header for the whole run of the VM, stage 1 maps them
    // as normal memory, and only `Area` accesses them.
    unsafe { Area::from_raw(start as *mut u8, size) }
}

/// The log ring.
pub(crate) fn log() -> Option<Area<'static>> {
    area(guest()?.log()?)
}

/// The status page of this VM, which counts its exits.
pub fn status() -> Option<StatusReader<'static>> {
    StatusReader::attach(area(guest()?.status()?)?).ok()
}

/// The priority of the periodic task with this name, if the system states one.
pub fn task_priority(name: &str) -> Option<Priority> {
    guest()?.task_priority(name).map(Priority::new)
}

/// Maps the registers of a device for a driver in the application, as the address space contains
/// only the devices of the kernel at first. The mapping is in blocks of 2 MiB.
pub fn map_device(base: usize, size: usize) -> Result<(), MapError> {
    let end = base.checked_add(size).ok_or(MapError::Address(base))?;
    address_space::map_device(base..end)
}

/// Maps memory of the VM beyond the image, for its only user; `None` if there is none. Whole blocks
/// of 2 MiB, between the image and the end of the memory that the guest header or the image states.
pub fn map_spare_memory() -> Result<Option<Range<usize>>, MapError> {
    const BLOCK: usize = 1 << 21;
    let stated = guest().and_then(|guest| guest.memory());
    let bare = || IntermediateRange::new(0, options::memory_end() as u64);
    let Some(memory) = stated.or_else(bare) else {
        return Ok(None);
    };
    let start = hw_arch::layout::image_end().next_multiple_of(BLOCK);
    let end = memory.end() as usize & !(BLOCK - 1);
    if start >= end {
        return Ok(None);
    }
    address_space::map_memory(start..end)?;
    Ok(Some(start..end))
}

/// The kernel's entries of level 1, which the tables of a process have as well. Devices of the image
/// are mapped, so that none is added later.
pub fn kernel_entries() -> Result<[u64; 4], MapError> {
    for &(_, base, size) in TENON_DEVICES {
        map_device(base, size)?;
    }
    Ok(address_space::entries())
}

/// A device assigned to this image: its kind, the address of its registers, and their size.
#[doc(hidden)]
pub type Device = (&'static str, usize, usize);

#[cfg(target_os = "none")]
unsafe extern "Rust" {
    // SAFETY: `image!` defines this static with the same type, and no code writes it.
    safe static TENON_DEVICES: &'static [Device];
}

/// The host has no devices.
#[cfg(not(target_os = "none"))]
static TENON_DEVICES: &[Device] = &[];

/// Error of an access to the registers of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceError {
    /// No device of that kind is assigned to the image.
    Absent,
    /// They cannot be mapped.
    Map(MapError),
}

impl fmt::Display for DeviceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent => f.write_str("its system gives this image no such device"),
            Self::Map(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for DeviceError {}

/// The registers of the first device of a kind that is assigned to this VM or present in this
/// machine. Only kinds that a library of the image declares in `drives` are known.
pub fn device(kind: &str) -> Result<Mmio, DeviceError> {
    let found = TENON_DEVICES.iter().find(|device| device.0 == kind);
    let &(_, base, size) = found.ok_or(DeviceError::Absent)?;
    map_device(base, size).map_err(DeviceError::Map)?;
    // SAFETY: the board has the registers of the device at this address, and they stay mapped. A
    // device with DMA accesses the memory that its driver in `hw` gives it, which is of atomics.
    Ok(unsafe { Mmio::new(base, size) })
}

/// Parameters of a periodic task, and the area for its samples.
#[derive(Clone, Copy, Debug)]
pub struct Task {
    /// The distance from one release to the next.
    pub period_ns: u64,
    /// The latest start relative to the release.
    pub deadline_ns: u64,
    /// The area for its samples.
    pub area: Area<'static>,
}

/// The end of a channel that this VM uses.
#[derive(Clone, Copy, Debug)]
pub struct ChannelEnd {
    /// The number of the channel in hypercalls.
    pub number: u32,
    /// Whether this end sends.
    pub sends: bool,
    /// The capacity in messages.
    pub slots: u32,
    /// The maximum size of a message.
    pub size: u32,
    /// The memory of the producer.
    pub producer: Area<'static>,
    /// The memory of the consumer.
    pub consumer: Area<'static>,
    /// The state of both ends.
    pub status: Area<'static>,
    /// The doorbell interrupt.
    pub interrupt: u32,
}

/// The end of the channel with this name, if this VM has one.
pub fn channel(name: &str) -> Option<ChannelEnd> {
    let channel = guest()?.channel(name).ok()?;
    Some(ChannelEnd {
        number: channel.number,
        sends: channel.sends,
        slots: channel.slots,
        size: channel.size,
        producer: area(channel.producer)?,
        consumer: area(channel.consumer)?,
        status: area(channel.status)?,
        interrupt: channel.interrupt,
    })
}

/// A vLib that this VM can call.
#[derive(Clone, Copy, Debug)]
pub struct VlibEnd {
    /// The number of the vLib in hypercalls.
    pub number: u32,
    /// The memory shared with the server.
    pub memory: Area<'static>,
    /// The state of the server, written by Mortise.
    pub status: Area<'static>,
    /// The interrupt at the end of a call.
    pub interrupt: u32,
}

/// The vLib with this name, if this VM can call one.
pub fn vlib(name: &str) -> Option<VlibEnd> {
    let vlib = guest()?.vlib(name).ok()?;
    Some(VlibEnd {
        number: vlib.number,
        memory: area(vlib.memory)?,
        status: area(vlib.status)?,
        interrupt: vlib.interrupt,
    })
}

/// The periodic task with this name, if the system defines one.
pub fn task(name: &str) -> Option<Task> {
    let guest = guest()?;
    let task = guest.task(name)?;
    Some(Task {
        period_ns: task.period_ns,
        deadline_ns: task.deadline_ns,
        area: area(task.area()?)?,
    })
}
