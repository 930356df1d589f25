//! The standard streams: lines on the console, and what is typed there for `read`.
//!
//! A line leaves when it is whole, when the buffer is full, or at the end of the program, so that
//! lines of several threads, and of several VMs, do not mix. Every call of the C library on one of
//! these streams is one piece, as POSIX demands (POSIX.1-2017, 2.5): the linker leads it through
//! here, where it takes the streams' lock.

use crate::lock::Lock;
use core::cell::UnsafeCell;
use core::ffi::{c_char, c_int, c_void};
use core::mem::MaybeUninit;
use tenon_thread::input;
use tenon_thread::time::{self, Duration};

/// From one look at what is typed to the next.
const PAUSE: Duration = Duration::from_millis(1);

/// Bytes of the longest line that is not broken.
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

/// `__SRD`, `__SWR`: what a stream is for.
const READ: u8 = 1;
const WRITE: u8 = 2;
/// What `get` returns at the end (`_FDEV_EOF`).
const END: c_int = -2;

/// A stream, which the C library writes to.
struct Stream(UnsafeCell<File>);

// SAFETY: it is used with the streams' lock taken.
unsafe impl Sync for Stream {}

/// The address of a stream, as C has it.
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

/// The lock of all three.
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

    /// Appends a byte; whether there is no room for another.
    fn push(&mut self, byte: u8) -> bool {
        if let Some(place) = self.bytes.get_mut(self.length) {
            *place = byte;
            self.length += 1;
        }
        self.length == LINE
    }

    /// What of it is text.
    fn as_str(&self) -> &str {
        let written = &self.bytes[..self.length];
        match str::from_utf8(written) {
            Ok(text) => text,
            Err(error) => str::from_utf8(&written[..error.valid_up_to()]).unwrap_or(""),
        }
    }

    /// Puts what is no text, byte by byte, into characters that are.
    fn mend(&mut self) {
        while self.as_str().len() < self.length {
            let bad = self.as_str().len();
            self.bytes[bad] = b'?';
        }
    }
}

/// The line that is being written.
struct Buffer(UnsafeCell<Text>);

// SAFETY: used with the streams' lock taken, or at the end, when nothing else runs.
unsafe impl Sync for Buffer {}

static BUFFER: Buffer = Buffer(UnsafeCell::new(Text::new()));

/// Writes out what there is of a line.
fn write_out(text: &mut Text) {
    text.mend();
    core_log::info!("{}", text.as_str());
    text.length = 0;
}

fn write(byte: u8) {
    // SAFETY: whoever calls has the streams' lock.
    let text = unsafe { &mut *BUFFER.0.get() };
    if byte == b'\n' || text.push(byte) {
        write_out(text);
    }
}

/// Writes out a line that was begun: nothing comes after it.
pub(crate) fn end() {
    // SAFETY: nothing else runs any more.
    let text = unsafe { &mut *BUFFER.0.get() };
    if text.length > 0 {
        write_out(text);
    }
}

/// Writes to the console as `write(1, ...)` does.
pub fn write_all(bytes: &[u8]) {
    locked(|| bytes.iter().copied().for_each(write));
}

/// Reads what is typed as `read(0, ...)` does: to the end of a line, or as much as there is room for.
/// Nothing where nothing can be typed.
pub fn read_line(into: &mut [MaybeUninit<u8>]) -> usize {
    let mut length = 0;
    while let (true, Some(place)) = (input::is_available(), into.get_mut(length)) {
        let Some(byte) = input::read_byte() else {
            time::sleep(PAUSE);
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

/// A line that is not whole stays: on this console it could not go on.
extern "C" fn flush(_: *mut File) -> c_int {
    0
}

fn locked<R>(action: impl FnOnce() -> R) -> R {
    LOCK.acquire();
    let result = action();
    LOCK.release();
    result
}

/// `action` in one piece, if it is on one of the streams here.
fn on<R>(file: *const File, action: impl FnOnce() -> R) -> R {
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

/// Leads functions of the C library through the lock. A `va_list` is a pointer here: it is larger
/// than two words (AAPCS64, 6.8.2).
macro_rules! wrapped {
    ($($wrap:ident, $real:ident($($name:ident: $type:ty),*) on $file:expr => $result:ty;)*) => {
        unsafe extern "C" {
            $(fn $real($($name: $type),*) -> $result;)*
        }
        $(
            /// The C library's function, in one piece.
            ///
            /// # Safety
            ///
            /// As the C standard has it.
            #[cfg_attr(target_os = "none", unsafe(no_mangle))]
            pub unsafe extern "C" fn $wrap($($name: $type),*) -> $result {
                // SAFETY: the arguments meet the requirements of `real`, as the caller ensures.
                on($file, || unsafe { $real($($name),*) })
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

/// Takes a stream for the calling thread.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub extern "C" fn flockfile(_: *mut File) {
    LOCK.acquire();
}

/// Takes a stream for the calling thread if nobody else has it.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub extern "C" fn ftrylockfile(_: *mut File) -> c_int {
    c_int::from(!LOCK.try_acquire())
}

/// Gives a stream up.
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
        text.mend();
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
