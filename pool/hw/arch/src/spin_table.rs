//! Start of cores by a table in memory, for firmware without PSCI.
//!
//! All cores but the first wait in the firmware until their word of the table is not zero, and branch
//! to the address that it then has (method `spin-table` of Linux's
//! Documentation/arch/arm64/booting.rst). They come with MMU and caches off, at the exception level of
//! the first core, and with no argument: the core's number selects it.

use core::sync::atomic::{AtomicUsize, Ordering};

use crate::entry::SecondaryStart;
use crate::{barrier, cache};

/// The cores that can be started.
const CORES: usize = 8;
const WORD: usize = size_of::<u64>();

/// Contexts of the started cores.
static CONTEXTS: [AtomicUsize; CORES] = [const { AtomicUsize::new(0) }; CORES];

/// Starts the core with this affinity at the image's `secondary_start`. Its number is its Aff0.
///
/// # Safety
///
/// `table` is the address of the firmware's table, mapped as normal memory at that address.
pub unsafe fn start(table: usize, affinity: u64, context: &'static SecondaryStart) {
    let core = (affinity & 0xff) as usize;
    let Some(place) = CONTEXTS.get(core) else {
        return;
    };
    place.store(core::ptr::from_ref(context) as usize, Ordering::Relaxed);
    let word = table + core * WORD;
    // SAFETY: the static is mapped, and so is the table, as the caller states; the firmware only reads
    // the word. The core reads both with its caches off, and sees them in this order.
    unsafe {
        cache::clean_and_invalidate(place.as_ptr() as usize, WORD);
        (word as *mut u64).write_volatile(released_start());
        cache::clean_and_invalidate(word, WORD);
    }
    barrier::dsb_sy();
    #[cfg(target_arch = "aarch64")]
    // SAFETY: SEV only wakes cores that wait for an event.
    unsafe {
        core::arch::asm!("sev", options(nostack, preserves_flags));
    }
}

/// Address at which a released core begins.
fn released_start() -> u64 {
    #[cfg(target_os = "none")]
    {
        released as *const () as u64
    }
    #[cfg(not(target_os = "none"))]
    0
}

/// First instructions of a released core: it loads its context, as if PSCI had passed it.
#[cfg(target_os = "none")]
#[unsafe(naked)]
unsafe extern "C" fn released() -> ! {
    core::arch::naked_asm!(
        "mrs x0, mpidr_el1",
        "and x0, x0, #0xff",
        "adrp x1, {contexts}",
        "add x1, x1, :lo12:{contexts}",
        "ldr x0, [x1, x0, lsl #3]",
        "b secondary_start",
        contexts = sym CONTEXTS,
    )
}
