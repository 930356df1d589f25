//! Where this image runs, and what it was given there.
//!
//! Mortise hands a guest the address of a device tree: its log ring, its status page, an area for
//! the samples of each periodic task. On bare metal there is no such tree, and none of these.

use crate::kernel::Kernel;
use core_manifest::Guest;
use core_memory::IntermediateRange;
use core_ring::Area;
use core_statistics::StatusReader;

/// The largest tree the orchestrator writes for a guest.
const TREE_LIMIT: usize = 64 << 10;
/// First word of a flattened device tree (Devicetree Specification, 5.2).
const TREE_MAGIC: u32 = 0xd00d_feed;

/// The guest's tree at the address an image was started with, if there is one.
///
/// # Safety
///
/// `ram` is readable, mapped as normal memory, and nobody writes the tree in it.
pub(crate) unsafe fn find_tree(
    argument: usize,
    ram: core::ops::Range<usize>,
) -> Option<&'static [u8]> {
    let start = argument as *const u32;
    let room = ram.end.checked_sub(argument)?.min(TREE_LIMIT);
    if argument < ram.start || room < size_of::<u32>() || !start.is_aligned() {
        return None;
    }
    // SAFETY: within `ram` and aligned by the checks above.
    if u32::from_be(unsafe { start.read() }) != TREE_MAGIC {
        return None;
    }
    // SAFETY: within `ram` by the choice of `room`; the caller says nobody writes.
    let tree = unsafe { core::slice::from_raw_parts(start.cast::<u8>(), room) };
    // A boot loader's own tree is a tree too, but none of a guest.
    Guest::parse(tree).is_ok().then_some(tree)
}

/// What Mortise told this image, nothing on bare metal. Parsed anew by each call: for set-up only.
pub fn guest() -> Option<Guest<'static>> {
    Guest::parse(Kernel::tree()?).ok()
}

/// The shared memory of a range from the tree.
fn area(range: IntermediateRange) -> Option<Area<'static>> {
    let (start, size) = (range.start() as usize, range.size() as usize);
    // SAFETY: Mortise maps what its tree names for as long as the VM lives, the early table maps it
    // as normal memory, and only `Area` accesses it.
    unsafe { Area::from_raw(start as *mut u8, size) }
}

/// The log ring.
pub(crate) fn log() -> Option<Area<'static>> {
    area(guest()?.log?)
}

/// This VM's status page, which counts its exits.
pub fn status() -> Option<StatusReader<'static>> {
    StatusReader::attach(area(guest()?.status?)?).ok()
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

/// The periodic task of this name, if the system names one.
pub fn task(name: &str) -> Option<Task> {
    let guest = guest()?;
    let task = guest.task(name)?;
    Some(Task {
        period_ns: task.period_ns,
        deadline_ns: task.deadline_ns,
        area: area(task.area)?,
    })
}
