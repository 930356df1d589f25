//! `malloc` and its like, of constant time: a heap of Tenon's, its size from Kconfig.
//!
//! Before each piece stands how large it is and where it came from. Pieces are aligned to 16 bytes,
//! as any type of C may need (C17, 7.22.3). Nothing waits: a handler of a signal may allocate too.

use crate::errno::Errno;
use core::alloc::Layout;
use core::ffi::{c_int, c_void};
use core::ptr::{self, NonNull};
pub use tenon_memory::Heap;

/// Alignment of every piece.
const ALIGN: usize = 16;

/// What gives memory: a heap of whatever size.
pub trait Source: Sync {
    /// A piece, aligned to 16 bytes.
    fn take(&'static self, size: usize) -> Option<NonNull<u8>>;

    /// Takes a piece back.
    ///
    /// # Safety
    ///
    /// It is from this source, and nobody's any more.
    unsafe fn give(&'static self, piece: NonNull<u8>);
}

impl<const SIZE: usize> Source for Heap<SIZE> {
    fn take(&'static self, size: usize) -> Option<NonNull<u8>> {
        let layout = Layout::from_size_align(size, ALIGN).ok()?;
        self.allocate(layout).ok()
    }

    unsafe fn give(&'static self, piece: NonNull<u8>) {
        // SAFETY: the arguments meet the requirements of `free`, as the caller ensures; the layout
        // above had this alignment.
        unsafe { self.free(piece, ALIGN) };
    }
}

/// Defines the heap of an image: `define_heap!(1 << 20);`
#[macro_export]
macro_rules! define_heap {
    ($size:expr) => {
        static HEAP: $crate::heap::Heap<{ $size }> = $crate::heap::Heap::new();
        #[unsafe(no_mangle)]
        static TENON_LIBC_HEAP: &dyn $crate::heap::Source = &HEAP;
    };
}

#[cfg(target_os = "none")]
fn source() -> &'static dyn Source {
    unsafe extern "Rust" {
        // SAFETY: `define_heap!` defines it.
        safe static TENON_LIBC_HEAP: &'static dyn Source;
    }
    TENON_LIBC_HEAP
}

/// On the host there is a small one, for tests.
#[cfg(not(target_os = "none"))]
fn source() -> &'static dyn Source {
    static HEAP: Heap<65536> = Heap::new();
    &HEAP
}

/// What stands before a piece.
#[repr(C, align(16))]
struct Header {
    /// Its bytes.
    size: usize,
    /// What the source gave.
    whole: NonNull<u8>,
}

/// A piece of `size` bytes, aligned to `align`, a power of two from 16 on.
pub(crate) fn allocate(align: usize, size: usize) -> Option<NonNull<u8>> {
    let room = size.checked_add(size_of::<Header>())?;
    let whole = source().take(room.checked_add(align - ALIGN)?)?;
    let first = whole.as_ptr() as usize + size_of::<Header>();
    let place = whole
        .as_ptr()
        .wrapping_add(first.next_multiple_of(align) - whole.as_ptr() as usize);
    // SAFETY: the room was asked for: the header before the place, the piece behind it.
    unsafe {
        place.cast::<Header>().sub(1).write(Header { size, whole });
    }
    NonNull::new(place)
}

/// The header of a piece.
///
/// # Safety
///
/// [`allocate`] gave it, and it was not given back.
unsafe fn header(piece: NonNull<u8>) -> *mut Header {
    // SAFETY: the arguments meet the requirements of `as_ptr`, as the caller ensures.
    unsafe { piece.as_ptr().cast::<Header>().sub(1) }
}

/// A piece for C; null and `ENOMEM` if there is none.
fn given(align: usize, size: usize) -> *mut c_void {
    match allocate(align, size) {
        Some(piece) => piece.as_ptr().cast(),
        None => {
            Errno::ENOMEM.raise();
            ptr::null_mut()
        }
    }
}

/// `malloc`.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub extern "C" fn malloc(size: usize) -> *mut c_void {
    given(ALIGN, size)
}

/// `calloc`.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub extern "C" fn calloc(count: usize, size: usize) -> *mut c_void {
    let Some(size) = count.checked_mul(size) else {
        Errno::ENOMEM.raise();
        return ptr::null_mut();
    };
    let piece = given(ALIGN, size);
    if !piece.is_null() {
        // SAFETY: that many bytes are there.
        unsafe { piece.cast::<u8>().write_bytes(0, size) };
    }
    piece
}

/// `free`.
///
/// # Safety
///
/// The piece is null, or from a function here and not given back.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn free(piece: *mut c_void) {
    if let Some(piece) = NonNull::new(piece.cast()) {
        // SAFETY: the arguments meet the requirements of `source`, as the caller ensures.
        unsafe { source().give((*header(piece)).whole) };
    }
}

/// `realloc`.
///
/// # Safety
///
/// As for `free`.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn realloc(piece: *mut c_void, size: usize) -> *mut c_void {
    let Some(old) = NonNull::new(piece.cast::<u8>()) else {
        return malloc(size);
    };
    let new = malloc(size);
    if !new.is_null() {
        // SAFETY: the arguments meet the requirements of `header`, as the caller ensures; both
        // have as many bytes as are copied.
        unsafe {
            let common = (*header(old)).size.min(size);
            new.cast::<u8>()
                .copy_from_nonoverlapping(old.as_ptr(), common);
            free(piece);
        }
    }
    new
}

/// `memalign`, of which the C library makes `valloc`.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub extern "C" fn memalign(align: usize, size: usize) -> *mut c_void {
    if !align.is_power_of_two() {
        Errno::EINVAL.raise();
        return ptr::null_mut();
    }
    given(align.max(ALIGN), size)
}

/// `aligned_alloc`.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub extern "C" fn aligned_alloc(align: usize, size: usize) -> *mut c_void {
    memalign(align, size)
}

/// `posix_memalign`.
///
/// # Safety
///
/// There is a place for the piece.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn posix_memalign(
    place: *mut *mut c_void,
    align: usize,
    size: usize,
) -> c_int {
    if !align.is_power_of_two() || align < size_of::<*mut c_void>() {
        return Errno::EINVAL.0;
    }
    let Some(piece) = allocate(align.max(ALIGN), size) else {
        return Errno::ENOMEM.0;
    };
    // SAFETY: `place` is valid for a write, as the caller ensures.
    unsafe { place.write(piece.as_ptr().cast()) };
    0
}

/// `malloc_usable_size`.
///
/// # Safety
///
/// As for `free`.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn malloc_usable_size(piece: *mut c_void) -> usize {
    // SAFETY: the arguments meet the requirements of `header`, as the caller ensures.
    NonNull::new(piece.cast()).map_or(0, |piece| unsafe { (*header(piece)).size })
}
