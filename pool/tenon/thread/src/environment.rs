//! Where this image runs, and what it was given there.
//!
//! Mortise hands a guest the address of a header: its log ring, its status page, an area for the
//! samples of each periodic task. On bare metal there is no such header, and none of these.

use crate::kernel::Kernel;
use crate::space;
use core::fmt;
pub use core_guest::ENDS;
use core_guest::Guest;
use core_memory::{IntermediateRange, PAGE_SIZE};
use core_ring::Area;
use core_statistics::StatusReader;
use hw_arch::mmio::Mmio;

pub use tenon_map::Error as MapError;

/// Room for the header and all its tasks.
const HEADER: usize = PAGE_SIZE as usize;

/// The header at the address an image was started with, if there is one: a boot loader gives a
/// device tree, or nothing.
///
/// # Safety
///
/// `ram` is readable, mapped as normal memory, and nobody writes the header in it.
pub(crate) unsafe fn find(argument: usize, ram: core::ops::Range<usize>) -> Option<Guest<'static>> {
    let room = ram.end.checked_sub(argument)?;
    // At address zero there is nothing, wherever RAM begins.
    if argument < ram.start.max(HEADER) || room < HEADER {
        return None;
    }
    // SAFETY: within `ram`; the caller says nobody writes.
    let bytes = unsafe { core::slice::from_raw_parts(argument as *const u8, HEADER) };
    Guest::parse(bytes).ok()
}

/// What Mortise told this image, nothing on bare metal.
pub fn guest() -> Option<Guest<'static>> {
    Kernel::guest()
}

/// The shared memory of a range from the header.
fn area(range: IntermediateRange) -> Option<Area<'static>> {
    let (start, size) = (range.start() as usize, range.size() as usize);
    // SAFETY: Mortise maps what its header names for as long as the VM lives, the early table maps
    // it as normal memory, and only `Area` accesses it.
    unsafe { Area::from_raw(start as *mut u8, size) }
}

/// The log ring.
pub(crate) fn log() -> Option<Area<'static>> {
    area(guest()?.log()?)
}

/// This VM's status page, which counts its exits.
pub fn status() -> Option<StatusReader<'static>> {
    StatusReader::attach(area(guest()?.status()?)?).ok()
}

/// Maps the registers of a device that this VM or machine has, for a driver of the application's own;
/// in blocks of 2 MiB, as the address space of an image has only what is known to be used.
pub fn map_device(base: usize, size: usize) -> Result<(), MapError> {
    let end = base.checked_add(size).ok_or(MapError::Address(base))?;
    space::map_device(base..end)
}

/// A device of the image's own: its kind, the address of its registers, and how many bytes these are.
#[doc(hidden)]
pub type Device = (&'static str, usize, usize);

#[cfg(target_os = "none")]
unsafe extern "Rust" {
    // SAFETY: `image!` defines it by the same type, and nothing writes it.
    safe static TENON_DEVICES: &'static [Device];
}

/// There is no image on the host.
#[cfg(not(target_os = "none"))]
static TENON_DEVICES: &[Device] = &[];

/// Why the registers of a device cannot be reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceError {
    /// The image has none of that kind.
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

/// The registers of the first device of a kind that is this VM's own, or this machine's: of those
/// alone that a library of the image says it `drives`.
pub fn device(kind: &str) -> Result<Mmio, DeviceError> {
    let found = TENON_DEVICES.iter().find(|device| device.0 == kind);
    let &(_, base, size) = found.ok_or(DeviceError::Absent)?;
    map_device(base, size).map_err(DeviceError::Map)?;
    // SAFETY: the board has the device's registers there and they stay mapped; drivers are for devices
    // that leave memory alone.
    Ok(unsafe { Mmio::new(base, size) })
}

/// What the system says of a periodic task, and where its samples go.
#[derive(Clone, Copy, Debug)]
pub struct Task {
    /// From one release to the next.
    pub period_ns: u64,
    /// From a release to the latest start that counts as in time.
    pub deadline_ns: u64,
    /// Where its samples go.
    pub area: Area<'static>,
}

/// This VM's end of a channel to or from another one.
#[derive(Clone, Copy, Debug)]
pub struct ChannelEnd {
    /// What hypercalls name the channel by.
    pub number: u32,
    /// Whether this is the end that sends.
    pub sends: bool,
    /// How many messages it holds.
    pub slots: u32,
    /// Bytes of a message at most.
    pub size: u32,
    /// The producer's part.
    pub producer: Area<'static>,
    /// The consumer's part.
    pub consumer: Area<'static>,
    /// Where it says who is there.
    pub status: Area<'static>,
    /// The interrupt by which the other end calls.
    pub interrupt: u32,
}

/// This VM's end of the channel of this name, if the system gives it one.
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

/// A vLib that this VM may call.
#[derive(Clone, Copy, Debug)]
pub struct VlibEnd {
    /// What hypercalls name it by.
    pub number: u32,
    /// What is shared with the server.
    pub memory: Area<'static>,
    /// Where Mortise says how far the server is.
    pub status: Area<'static>,
    /// The interrupt by which this VM is told of an end.
    pub interrupt: u32,
}

/// The vLib of this name, if the system gives this VM one to call.
pub fn vlib(name: &str) -> Option<VlibEnd> {
    let vlib = guest()?.vlib(name).ok()?;
    Some(VlibEnd {
        number: vlib.number,
        memory: area(vlib.memory)?,
        status: area(vlib.status)?,
        interrupt: vlib.interrupt,
    })
}

/// The periodic task of this name, if the system names one.
pub fn task(name: &str) -> Option<Task> {
    let guest = guest()?;
    let task = guest.task(name)?;
    Some(Task {
        period_ns: task.period_ns,
        deadline_ns: task.deadline_ns,
        area: area(task.area()?)?,
    })
}
