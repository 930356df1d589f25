//! Memory allocation of the C library, in constant time.
//!
//! `malloc` and its relatives allocate from a heap of Tenon's, the size of which comes from
//! Kconfig. A header in front of each block holds its size and origin. Blocks are aligned to 16
//! bytes, the largest alignment of C's types (C17, 7.22.3). No function blocks: a signal handler
//! may allocate too.

use crate::errno::Errno;
use core::alloc::Layout;
use core::ffi::{c_int, c_void};
use core::ptr::{self, NonNull};
pub use tenon_memory::Heap;

/// Alignment of each block.
const ALIGN: usize = 16;

/// A heap of any size.
pub trait Source: Sync {
    /// Allocates a block, aligned to 16 bytes.
    fn allocate_bytes(&'static self, size: usize) -> Option<NonNull<u8>>;

    /// Frees a block.
    ///
    /// # Safety
    ///
    /// The block was allocated from this source and is not used any more.
    unsafe fn free_bytes(&'static self, block: NonNull<u8>);
}

impl<const SIZE: usize> Source for Heap<SIZE> {
    fn allocate_bytes(&'static self, size: usize) -> Option<NonNull<u8>> {
        let layout = Layout::from_size_align(size, ALIGN).ok()?;
        self.allocate(layout).ok()
    }

    unsafe fn free_bytes(&'static self, block: NonNull<u8>) {
        // SAFETY: the block is from this heap and unused, as the caller ensures; it was allocated
        // with this alignment.
        unsafe { self.free(block, ALIGN) };
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

/// A small heap for tests on the host.
#[cfg(not(target_os = "none"))]
fn source() -> &'static dyn Source {
    static HEAP: Heap<65536> = Heap::new();
    &HEAP
}

/// Header in front of a block.
#[repr(C, align(16))]
struct Header {
    /// Size of the block.
    size: usize,
    /// The allocation that contains header and block.
    allocation: NonNull<u8>,
}

/// Allocates a block of `size` bytes, aligned to `align`, a power of two of at least 16.
pub(crate) fn allocate(align: usize, size: usize) -> Option<NonNull<u8>> {
    let room = size.checked_add(size_of::<Header>())?;
    let allocation = source().allocate_bytes(room.checked_add(align - ALIGN)?)?;
    let first = allocation.as_ptr() as usize + size_of::<Header>();
    let place = allocation
        .as_ptr()
        .wrapping_add(first.next_multiple_of(align) - allocation.as_ptr() as usize);
    // SAFETY: the allocation has room for the header in front of the place and the block behind it.
    unsafe {
        place
            .cast::<Header>()
            .sub(1)
            .write(Header { size, allocation });
    }
    NonNull::new(place)
}

/// The header of a block.
///
/// # Safety
///
/// The block is from [`allocate`] and was not freed.
unsafe fn header(block: NonNull<u8>) -> *mut Header {
    // SAFETY: `allocate` wrote a header in front of each block.
    unsafe { block.as_ptr().cast::<Header>().sub(1) }
}

/// A block for C; null and `ENOMEM` if the heap is exhausted.
fn allocate_or_errno(align: usize, size: usize) -> *mut c_void {
    match allocate(align, size) {
        Some(block) => block.as_ptr().cast(),
        None => {
            Errno::ENOMEM.raise();
            ptr::null_mut()
        }
    }
}

/// `malloc`.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub extern "C" fn malloc(size: usize) -> *mut c_void {
    allocate_or_errno(ALIGN, size)
}

/// `calloc`.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub extern "C" fn calloc(count: usize, size: usize) -> *mut c_void {
    let Some(size) = count.checked_mul(size) else {
        Errno::ENOMEM.raise();
        return ptr::null_mut();
    };
    let block = allocate_or_errno(ALIGN, size);
    if !block.is_null() {
        // SAFETY: the block has `size` bytes.
        unsafe { block.cast::<u8>().write_bytes(0, size) };
    }
    block
}

/// `free`.
///
/// # Safety
///
/// `block` is null, or a block of this allocator that was not freed.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn free(block: *mut c_void) {
    if let Some(block) = NonNull::new(block.cast()) {
        // SAFETY: the block is from this allocator and not freed, as the caller ensures, so that it
        // has a header.
        unsafe { source().free_bytes((*header(block)).allocation) };
    }
}

/// `realloc`.
///
/// # Safety
///
/// `block` is null, or a block of this allocator that was not freed.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn realloc(block: *mut c_void, size: usize) -> *mut c_void {
    let Some(old) = NonNull::new(block.cast::<u8>()) else {
        return malloc(size);
    };
    let new = malloc(size);
    if !new.is_null() {
        // SAFETY: `old` is a block of this allocator, as the caller ensures; both blocks have at
        // least the number of bytes that is copied.
        unsafe {
            let common = (*header(old)).size.min(size);
            new.cast::<u8>()
                .copy_from_nonoverlapping(old.as_ptr(), common);
            free(block);
        }
    }
    new
}

/// `memalign`, on which the C library builds `valloc`.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub extern "C" fn memalign(align: usize, size: usize) -> *mut c_void {
    if !align.is_power_of_two() {
        Errno::EINVAL.raise();
        return ptr::null_mut();
    }
    allocate_or_errno(align.max(ALIGN), size)
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
/// `place` is valid for a write.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn posix_memalign(
    place: *mut *mut c_void,
    align: usize,
    size: usize,
) -> c_int {
    if !align.is_power_of_two() || align < size_of::<*mut c_void>() {
        return Errno::EINVAL.0;
    }
    let Some(block) = allocate(align.max(ALIGN), size) else {
        return Errno::ENOMEM.0;
    };
    // SAFETY: `place` is valid for a write, as the caller ensures.
    unsafe { place.write(block.as_ptr().cast()) };
    0
}

/// `malloc_usable_size`.
///
/// # Safety
///
/// `block` is null, or a block of this allocator that was not freed.
#[cfg_attr(target_os = "none", unsafe(no_mangle))]
pub unsafe extern "C" fn malloc_usable_size(block: *mut c_void) -> usize {
    // SAFETY: the block is from this allocator and not freed, as the caller ensures, so that it has
    // a header.
    NonNull::new(block.cast()).map_or(0, |block| unsafe { (*header(block)).size })
}
