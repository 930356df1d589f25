//! Log ring of a VM.

use crate::options;
use core_manifest::Console as Kind;
use core_ring::{Area, stream::Consumer};

/// Creates the log ring of a VM, empty. With `kick` the VM is asked to make a hypercall after it
/// writes, as no core has a timer to empty the ring.
///
/// # Safety
///
/// Every core that uses the ring maps it.
pub unsafe fn create_log_ring(vm: &core_manifest::Vm, kick: bool) -> Option<Consumer<'static>> {
    let Kind::Ring(range) = vm.console else {
        return None;
    };
    if !options::log_rings() {
        return None;
    }
    // SAFETY: the function's contract requires that the ring is mapped; its words are only accessed
    // atomically, as the guest may write at any time.
    let area = unsafe { Area::from_raw(range.start() as *mut u8, range.size() as usize) }?;
    Consumer::create(area, kick).ok()
}
