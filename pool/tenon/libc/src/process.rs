//! Start and end of the program in C.

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

/// Start time of the program, in nanoseconds of Tenon's clock.
static BEGINNING: AtomicU64 = AtomicU64::new(0);

/// Runs the program in the calling thread, its main thread, with `owner` as the thread library's
/// identification of it. Returns the result of the program's `main`.
///
/// # Safety
///
/// Called once; `owner` is valid as long as the program runs.
pub unsafe fn run(owner: *const c_void) -> c_int {
    BEGINNING.store(Instant::now().nanoseconds(), Ordering::Relaxed);
    let room = tls::room();
    let Some(block) = heap::allocate(16, room) else {
        panic!("no memory for the main thread's variables: TENON_LIBC_HEAP is too small");
    };
    let mut arguments = [c"main".as_ptr().cast_mut(), core::ptr::null_mut()];
    // SAFETY: the room is never freed; constructors and `main` belong to the program, which starts
    // here.
    unsafe {
        tls::install(tls::make(block.as_ptr() as usize + room, owner));
        __libc_init_array();
        main(1, arguments.as_mut_ptr())
    }
}

/// Exits the program, as a return from `main` does.
pub fn end_program(status: c_int) -> ! {
    // SAFETY: the C library's `exit` accepts any status.
    unsafe { exit(status) }
}

/// Ends the program at once: prints its status and turns the machine off.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub extern "C" fn _exit(status: c_int) -> ! {
    hw_arch::cpu::mask_interrupts();
    stream::end();
    // The status as a parent process sees it (POSIX.1-2017, `waitpid`).
    core_log::info!("exit status {}", status & 0xff);
    system_off::<Hvc>()
}

/// Processor time of the program in microseconds (`CLOCKS_PER_SEC`): all time since its start, as
/// it has the processor to itself.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub extern "C" fn clock() -> i64 {
    let beginning = Instant::from_nanoseconds(BEGINNING.load(Ordering::Relaxed));
    Instant::now().since(beginning).as_micros() as i64
}

/// The number of the only process.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub extern "C" fn getpid() -> c_int {
    1
}
