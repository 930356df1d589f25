//! Log ring of a VM.

use super::options;
use core_manifest::Console as Kind;
use core_ring::{Area, stream::Consumer};

/// Makes the log ring of a virtual machine, empty. It is asked to call when it
/// has written only if no core can be disturbed by a timer instead.
pub(crate) fn open_ring(vm: &core_manifest::Vm, kick: bool) -> Option<Consumer<'static>> {
    let Kind::Ring(range) = vm.console else {
        return None;
    };
    if !options::log_rings() {
        return None;
    }
    // SAFETY: the ring is mapped on every core that comes here, and words of it
    // are accessed atomically only, as the guest may write there at any time.
    let area = unsafe { Area::from_raw(range.start() as *mut u8, range.size() as usize) }?;
    Consumer::create(area, kick).ok()
}
