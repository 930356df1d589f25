//! Standard streams as files, system name and memory locking (POSIX.1-2017, `write`, `uname`,
//! `mlock`).

use core::ffi::{c_char, c_int, c_void};
use tenon_libc::Errno;
use tenon_libc::errno::report;
use tenon_libc::stream;

/// `MCL_CURRENT` and `MCL_FUTURE` (`<sys/mman.h>`).
const MEMORY_FLAGS: c_int = 3;

/// Checks that a descriptor is one of the standard streams.
fn standard(file: c_int) -> Result<(), Errno> {
    (0..=2).contains(&file).then_some(()).ok_or(Errno::EBADF)
}

/// Writes to the console.
///
/// # Safety
///
/// `data` is valid for reads of `size` bytes.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn write(file: c_int, data: *const c_void, size: usize) -> isize {
    if !(1..=2).contains(&file) {
        return Errno::EBADF.raise() as isize;
    }
    if size > 0 {
        // SAFETY: `data` is valid for reads of `size` bytes, as the caller ensures.
        stream::write_all(unsafe { core::slice::from_raw_parts(data.cast(), size) });
    }
    size as isize
}

/// Reads a line from the console; end of file if the console takes no input.
///
/// # Safety
///
/// `data` is valid for writes of `size` bytes.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn read(file: c_int, data: *mut c_void, size: usize) -> isize {
    if file != 0 {
        return Errno::EBADF.raise() as isize;
    }
    if size == 0 {
        return 0;
    }
    // SAFETY: `data` is valid for writes of `size` bytes, as the caller ensures; the bytes are only
    // written.
    stream::read_line(unsafe { core::slice::from_raw_parts_mut(data.cast(), size) }) as isize
}

/// Opens a file: there are no files.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub extern "C" fn open(_name: *const c_char, _flags: c_int) -> c_int {
    Errno::ENOENT.raise()
}

/// Closes a descriptor; a standard stream stays open.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub extern "C" fn close(file: c_int) -> c_int {
    report(standard(file))
}

/// Synchronises a file: output is not buffered below the C library.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub extern "C" fn fsync(file: c_int) -> c_int {
    report(standard(file).and(Err(Errno::EINVAL)))
}

/// Whether a descriptor is a terminal: the standard streams are line-oriented.
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

/// Moves the position in a file: a stream has none.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub extern "C" fn lseek(file: c_int, _offset: i64, _whence: c_int) -> i64 {
    let error = standard(file).err().unwrap_or(Errno::ESPIPE);
    error.raise().into()
}

/// `struct utsname`.
#[repr(C)]
#[derive(Debug)]
pub struct Name([[u8; 16]; 5]);

/// Reads the name of the system.
///
/// # Safety
///
/// `name` is valid for a write.
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
        // The last byte stays NUL.
        let bytes = text.bytes().zip(field[..15].iter_mut());
        bytes.for_each(|(byte, place)| *place = byte);
    }
    // SAFETY: `name` is valid for a write, as the caller ensures.
    unsafe { name.write(Name(fields)) };
    0
}

/// Locks memory, which is always resident.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub extern "C" fn mlock(_address: *const c_void, _size: usize) -> c_int {
    0
}

/// Locks all memory.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub extern "C" fn mlockall(flags: c_int) -> c_int {
    let right = flags != 0 && flags & !MEMORY_FLAGS == 0;
    report(right.then_some(()).ok_or(Errno::EINVAL))
}

/// Unlocks memory, without effect.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub extern "C" fn munlock(_address: *const c_void, _size: usize) -> c_int {
    0
}

/// Unlocks all memory, without effect.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub extern "C" fn munlockall() -> c_int {
    0
}
