//! Memory of the cores' stacks, and of the loaded image with its manifest.

use core::ops::Range;
use hw_arch::layout;

/// Bytes of a page.
pub const PAGE: usize = 0x1000;

/// The manifest behind the image: all its pages, or one page if there is no manifest.
pub fn manifest() -> &'static [u8] {
    let start = layout::image_end() as *const u8;
    // SAFETY: the packer puts the manifest there, on its own pages, and it is never written. The
    // image is loaded into RAM that is far larger than the largest manifest.
    unsafe {
        let first = core::slice::from_raw_parts(start, PAGE);
        let size = core_manifest::size(first).next_multiple_of(PAGE).max(PAGE);
        core::slice::from_raw_parts(start, size)
    }
}

/// End of the loaded memory: the image and the manifest behind it.
#[inline]
#[must_use]
pub fn loaded_end() -> usize {
    manifest().as_ptr_range().end as usize
}

/// Content of the guard page while it is still mapped. A stack frame writes other values.
const MARK: u64 = 0x6d61_726b_6d61_726b;

/// Stack of one core with the guard page below it.
///
/// Stacks are elements of an array, so that the guard page of one core's stack is also the end of
/// its neighbour's.
#[repr(C, align(4096))]
pub struct Stack<const SIZE: usize> {
    guard: [u8; PAGE],
    usable: [u8; SIZE],
}

impl<const SIZE: usize> Stack<SIZE> {
    /// An unused stack.
    pub const NEW: Self = Self {
        guard: [0; PAGE],
        usable: [0; SIZE],
    };
}

/// Array of page-aligned areas, one per core; each core maps only its own.
#[derive(Debug, Clone, Copy)]
pub struct PerCore {
    /// First byte of the first core's area, which for stacks is a guard page.
    pub start: usize,
    /// Bytes per core.
    pub stride: usize,
    /// Number of cores.
    pub count: usize,
}

impl PerCore {
    /// The whole array.
    pub const fn all(&self) -> Range<usize> {
        self.start..self.start + self.stride * self.count
    }

    /// Fills the guard page of the first core's stack with the mark. Until that core has its own
    /// map, which leaves the page out, a stack overflow would corrupt Mortise's variables.
    ///
    /// # Safety
    ///
    /// These are the stacks of the cores, and the first core has not activated its own map.
    pub unsafe fn mark(&self) {
        for word in self.marks() {
            // SAFETY: the page is the guard page of the stacks, which is mapped still and which
            // nothing else writes.
            unsafe { word.write_volatile(MARK) };
        }
    }

    /// Whether the guard page still holds the mark.
    ///
    /// # Safety
    ///
    /// As for [`mark`](Self::mark).
    pub unsafe fn is_marked(&self) -> bool {
        // SAFETY: the page is the guard page of the stacks, which is mapped still.
        self.marks()
            .all(|word| unsafe { word.read_volatile() } == MARK)
    }

    fn marks(&self) -> impl Iterator<Item = *mut u64> {
        let page = self.start as *mut u64;
        (0..PAGE / size_of::<u64>()).map(move |word| page.wrapping_add(word))
    }

    /// Area of core `cpu`.
    #[must_use]
    pub const fn of(&self, cpu: usize) -> Range<usize> {
        let start = self.start + self.stride * cpu;
        start..start + self.stride
    }
}
