//! What there is of a system beside threads: the standard streams as files, its name, its memory.

use core::ffi::{c_char, c_int, c_void};
use tenon_libc::Errno;
use tenon_libc::errno::report;
use tenon_libc::stream;

/// `MCL_CURRENT` and `MCL_FUTURE` (`<sys/mman.h>`).
const MEMORY_FLAGS: c_int = 3;

/// Whether a file is one of the standard streams.
fn standard(file: c_int) -> Result<(), Errno> {
    (0..=2).contains(&file).then_some(()).ok_or(Errno::EBADF)
}

/// Writes to the console.
///
/// # Safety
///
/// That many bytes are there.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn write(file: c_int, data: *const c_void, size: usize) -> isize {
    if !(1..=2).contains(&file) {
        return Errno::EBADF.raise() as isize;
    }
    if size > 0 {
        // SAFETY: the caller's contract.
        stream::write_all(unsafe { core::slice::from_raw_parts(data.cast(), size) });
    }
    size as isize
}

/// Reads a line from the console, where there is nothing unless it can be typed to.
///
/// # Safety
///
/// There is room for that many bytes.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn read(file: c_int, data: *mut c_void, size: usize) -> isize {
    if file != 0 {
        return Errno::EBADF.raise() as isize;
    }
    if size == 0 {
        return 0;
    }
    // SAFETY: the caller's contract; what is there need not be anything.
    stream::read_line(unsafe { core::slice::from_raw_parts_mut(data.cast(), size) }) as isize
}

/// Opens a file: there are none.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub extern "C" fn open(_name: *const c_char, _flags: c_int) -> c_int {
    Errno::ENOENT.raise()
}

/// Closes a file, which the standard streams ignore.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub extern "C" fn close(file: c_int) -> c_int {
    report(standard(file))
}

/// Writes out what was written: it is out.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub extern "C" fn fsync(file: c_int) -> c_int {
    report(standard(file).and(Err(Errno::EINVAL)))
}

/// Whether a file is a terminal: the standard streams are lines for people to read.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub extern "C" fn isatty(file: c_int) -> c_int {
    standard(file).map_or_else(
        |error| {
            error.raise();
            0
        },
        |()| 1,
    )
}

/// Moves to a place in a file: a stream has none.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub extern "C" fn lseek(file: c_int, _offset: i64, _whence: c_int) -> i64 {
    let error = standard(file).err().unwrap_or(Errno::ESPIPE);
    error.raise().into()
}

/// `struct utsname`.
#[repr(C)]
#[derive(Debug)]
pub struct Name([[u8; 16]; 5]);

/// Says what the system is called.
///
/// # Safety
///
/// There is a place for the name.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn uname(name: *mut Name) -> c_int {
    let texts = [
        "TenonOS",
        "tenon",
        env!("CARGO_PKG_VERSION"),
        "1",
        "aarch64",
    ];
    let mut fields = [[0; 16]; 5];
    for (field, text) in fields.iter_mut().zip(texts) {
        // The last byte stays zero.
        let bytes = text.bytes().zip(field[..15].iter_mut());
        bytes.for_each(|(byte, place)| *place = byte);
    }
    // SAFETY: the caller's contract.
    unsafe { name.write(Name(fields)) };
    0
}

/// Keeps memory where it is: it always is there.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub extern "C" fn mlock(_address: *const c_void, _size: usize) -> c_int {
    0
}

/// The same for all of it.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub extern "C" fn mlockall(flags: c_int) -> c_int {
    let right = flags != 0 && flags & !MEMORY_FLAGS == 0;
    report(right.then_some(()).ok_or(Errno::EINVAL))
}

/// Lets memory go, which changes nothing.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub extern "C" fn munlock(_address: *const c_void, _size: usize) -> c_int {
    0
}

/// The same for all of it.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub extern "C" fn munlockall() -> c_int {
    0
}
