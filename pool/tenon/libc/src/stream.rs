//! Standard streams of the C library: lines on the console, and console input for `read`.
//!
//! A line is printed when it is complete, when the buffer is full, or at the end of the program, so
//! that lines of several threads and VMs do not mix. Each call of the C library on one of these
//! streams is atomic, as POSIX requires (POSIX.1-2017, 2.5): the linker redirects it to a wrapper
//! here, which takes the streams' lock.

use crate::lock::Lock;
use core::cell::UnsafeCell;
use core::ffi::{c_char, c_int, c_void};
use core::mem::MaybeUninit;
use tenon_thread::input;
use tenon_thread::time::{self, Duration};

/// Polling interval of console input.
const POLL_INTERVAL: Duration = Duration::from_millis(1);

/// Bytes of the longest line that is printed in one piece.
const LINE: usize = 240;

/// picolibc's `FILE` (`<stdio.h>`, `struct __file`).
#[repr(C)]
pub struct File {
    unget: u16,
    flags: u8,
    put: extern "C" fn(u8, *mut File) -> c_int,
    get: extern "C" fn(*mut File) -> c_int,
    flush: extern "C" fn(*mut File) -> c_int,
}

/// `__SRD`, `__SWR`: direction of a stream.
const READ: u8 = 1;
const WRITE: u8 = 2;
/// Result of `get` at end of file (`_FDEV_EOF`).
const END: c_int = -2;

/// A stream of the C library.
struct Stream(UnsafeCell<File>);

// SAFETY: accessed with the streams' lock held.
unsafe impl Sync for Stream {}

/// Address of a stream for C.
#[repr(transparent)]
struct Address(*const UnsafeCell<File>);

// SAFETY: an address is a number.
unsafe impl Sync for Address {}

const fn stream(flags: u8) -> Stream {
    Stream(UnsafeCell::new(File {
        unget: 0,
        flags,
        put,
        get,
        flush,
    }))
}

static INPUT: Stream = stream(READ);
static OUTPUT: Stream = stream(WRITE);
static ERRORS: Stream = stream(WRITE);

#[cfg_attr(target_os = "none", unsafe(export_name = "stdin"))]
static STDIN: Address = Address(&INPUT.0);
#[cfg_attr(target_os = "none", unsafe(export_name = "stdout"))]
static STDOUT: Address = Address(&OUTPUT.0);
#[cfg_attr(target_os = "none", unsafe(export_name = "stderr"))]
static STDERR: Address = Address(&ERRORS.0);

/// The lock of all three streams.
static LOCK: Lock = Lock::new();

/// A text of bounded length.
struct Text {
    bytes: [u8; LINE],
    length: usize,
}

impl Text {
    const fn new() -> Self {
        Self {
            bytes: [0; LINE],
            length: 0,
        }
    }

    /// Appends a byte; returns whether the buffer is full.
    fn push(&mut self, byte: u8) -> bool {
        if let Some(place) = self.bytes.get_mut(self.length) {
            *place = byte;
            self.length += 1;
        }
        self.length == LINE
    }

    /// The valid UTF-8 part.
    fn as_str(&self) -> &str {
        let written = &self.bytes[..self.length];
        match str::from_utf8(written) {
            Ok(text) => text,
            Err(error) => str::from_utf8(&written[..error.valid_up_to()]).unwrap_or(""),
        }
    }

    /// Replaces invalid bytes by printable characters.
    fn sanitise(&mut self) {
        while self.as_str().len() < self.length {
            let bad = self.as_str().len();
            self.bytes[bad] = b'?';
        }
    }
}

/// The line being written.
struct Buffer(UnsafeCell<Text>);

// SAFETY: accessed with the streams' lock held, or at the end of the program, when no other thread
// runs.
unsafe impl Sync for Buffer {}

static BUFFER: Buffer = Buffer(UnsafeCell::new(Text::new()));

/// Prints the buffered part of a line.
fn flush_line(text: &mut Text) {
    text.sanitise();
    core_log::info!("{}", text.as_str());
    text.length = 0;
}

fn write(byte: u8) {
    // SAFETY: the caller holds the streams' lock.
    let text = unsafe { &mut *BUFFER.0.get() };
    if byte == b'\n' || text.push(byte) {
        flush_line(text);
    }
}

/// Prints an incomplete line at the end of the program.
pub(crate) fn end() {
    // SAFETY: no other thread runs any more.
    let text = unsafe { &mut *BUFFER.0.get() };
    if text.length > 0 {
        flush_line(text);
    }
}

/// Writes to the console as `write(1, ...)` does.
pub fn write_all(bytes: &[u8]) {
    locked(|| bytes.iter().copied().for_each(write));
}

/// Reads console input as `read(0, ...)` does: up to the end of a line, or to the end of the
/// buffer. Reads nothing if the console takes no input.
pub fn read_line(into: &mut [MaybeUninit<u8>]) -> usize {
    let mut length = 0;
    while let (true, Some(place)) = (input::is_available(), into.get_mut(length)) {
        let Some(byte) = input::read_byte() else {
            time::sleep(POLL_INTERVAL);
            continue;
        };
        let ends = matches!(byte, b'\r' | b'\n');
        place.write(if ends { b'\n' } else { byte });
        length += 1;
        if ends {
            break;
        }
    }
    length
}

extern "C" fn put(byte: u8, _: *mut File) -> c_int {
    write(byte);
    c_int::from(byte)
}

extern "C" fn get(_: *mut File) -> c_int {
    END
}

/// An incomplete line stays buffered: the console cannot continue it.
extern "C" fn flush(_: *mut File) -> c_int {
    0
}

fn locked<R>(action: impl FnOnce() -> R) -> R {
    LOCK.acquire();
    let result = action();
    LOCK.release();
    result
}

/// Runs `action` with the streams' lock held if `file` is one of the streams here.
fn with_lock<R>(file: *const File, action: impl FnOnce() -> R) -> R {
    let ours = [&INPUT, &OUTPUT, &ERRORS];
    if ours
        .iter()
        .any(|stream| stream.0.get().cast_const() == file)
    {
        locked(action)
    } else {
        action()
    }
}

/// Generates wrappers that take the streams' lock. A `va_list` is passed as a pointer: it is larger
/// than two words (AAPCS64, 6.8.2).
macro_rules! wrapped {
    ($($wrap:ident, $real:ident($($name:ident: $type:ty),*) on $file:expr => $result:ty;)*) => {
        unsafe extern "C" {
            $(fn $real($($name: $type),*) -> $result;)*
        }
        $(
            /// The C library's function with the streams' lock held.
            ///
            /// # Safety
            ///
            /// The requirements of the C standard for this function.
            #[cfg_attr(target_os = "none", unsafe(no_mangle))]
            pub unsafe extern "C" fn $wrap($($name: $type),*) -> $result {
                // SAFETY: the caller ensures the same of the arguments as the wrapped function
                // requires.
                with_lock($file, || unsafe { $real($($name),*) })
            }
        )*
    };
}

wrapped! {
    __wrap_vfprintf, __real_vfprintf(
        file: *mut File, format: *const c_char, list: *mut c_void
    ) on file => c_int;
    __wrap_fputc, __real_fputc(byte: c_int, file: *mut File) on file => c_int;
    __wrap_fputs, __real_fputs(text: *const c_char, file: *mut File) on file => c_int;
    __wrap_puts, __real_puts(text: *const c_char) on OUTPUT.0.get() => c_int;
    __wrap_fwrite, __real_fwrite(
        data: *const c_void, size: usize, count: usize, file: *mut File
    ) on file => usize;
}

/// Locks a stream for the calling thread.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub extern "C" fn flockfile(_: *mut File) {
    LOCK.acquire();
}

/// Locks a stream for the calling thread unless another thread owns it.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub extern "C" fn ftrylockfile(_: *mut File) -> c_int {
    c_int::from(!LOCK.try_acquire())
}

/// Unlocks a stream.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub extern "C" fn funlockfile(_: *mut File) {
    LOCK.release();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_text_becomes_text() {
        let mut text = Text::new();
        for &byte in b"a\xc3\xa4\xffb\xc3" {
            text.push(byte);
        }
        text.sanitise();
        assert_eq!(text.as_str(), "a\u{e4}?b?");
    }

    #[test]
    fn a_line_ends_where_its_room_does() {
        let mut text = Text::new();
        assert!((1..LINE).all(|_| !text.push(b'x')));
        assert!(text.push(b'x') && text.push(b'y'));
        assert_eq!(text.as_str().len(), LINE);
    }
}
