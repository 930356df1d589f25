//! The program: its `main`, its end.

use crate::{heap, stream, tls};
use core::ffi::{c_char, c_int, c_void};
use core::sync::atomic::{AtomicU64, Ordering};
use hw_arch::firmware::{Hvc, system_off};
use tenon_thread::time::Instant;

unsafe extern "C" {
    fn __libc_init_array();
    fn main(count: c_int, arguments: *mut *mut c_char) -> c_int;
    fn exit(status: c_int) -> !;
}

/// When the program began, in nanoseconds of Tenon's clock.
static BEGINNING: AtomicU64 = AtomicU64::new(0);

/// Runs the program in the calling thread, which becomes its main thread, known to the thread library
/// as `owner`. Returns when the program's `main` did, with what that returned.
///
/// # Safety
///
/// To be called once, with what lives as long as the program.
pub unsafe fn run(owner: *const c_void) -> c_int {
    BEGINNING.store(Instant::now().nanoseconds(), Ordering::Relaxed);
    let room = tls::room();
    let Some(block) = heap::allocate(16, room) else {
        panic!("no memory for the main thread's variables: TENON_LIBC_HEAP is too small");
    };
    let mut arguments = [c"main".as_ptr().cast_mut(), core::ptr::null_mut()];
    // SAFETY: the room is ours for good; constructors and `main` are the program's own, and it has
    // begun with this.
    unsafe {
        tls::install(tls::make(block.as_ptr() as usize + room, owner));
        __libc_init_array();
        main(1, arguments.as_mut_ptr())
    }
}

/// Ends the program as a return from `main` does.
pub fn leave(status: c_int) -> ! {
    // SAFETY: the C library's function takes any number.
    unsafe { exit(status) }
}

/// Ends the program at once: says its status and turns the machine off.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub extern "C" fn _exit(status: c_int) -> ! {
    hw_arch::cpu::mask_interrupts();
    stream::end();
    // As the parent process of a program on a bigger system sees it (POSIX, waitpid).
    core_log::info!("exit status {}", status & 0xff);
    system_off::<Hvc>()
}

/// The processor time that the program used, in microseconds (`CLOCKS_PER_SEC`): all that passed since
/// it began, as nobody else has its processor.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub extern "C" fn clock() -> i64 {
    let beginning = Instant::from_nanoseconds(BEGINNING.load(Ordering::Relaxed));
    Instant::now().since(beginning).as_micros() as i64
}

/// The number of the only process there is.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub extern "C" fn getpid() -> c_int {
    1
}
