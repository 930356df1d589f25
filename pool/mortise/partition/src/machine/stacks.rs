//! Per-core stacks, and the loaded image with its manifest.

use core::ops::Range;
use hw_arch::layout;

/// Smallest unit that is mapped.
pub(crate) const PAGE: usize = 0x1000;

/// The manifest behind the image: the pages it has, or the first if there is none.
pub fn manifest() -> &'static [u8] {
    let start = layout::image_end() as *const u8;
    // SAFETY: the packer puts the manifest there, on pages of its own, and nobody writes it. The image
    // is loaded into RAM far larger than what a manifest can have.
    unsafe {
        let first = core::slice::from_raw_parts(start, PAGE);
        let size = core_manifest::size(first).next_multiple_of(PAGE).max(PAGE);
        core::slice::from_raw_parts(start, size)
    }
}

/// The end of what Mortise is loaded with: its image, and the manifest behind it.
#[must_use]
pub fn loaded_end() -> usize {
    manifest().as_ptr_range().end as usize
}

/// What the page below a stack holds while it is still mapped; any frame writes something else.
const MARK: u64 = 0x6d61_726b_6d61_726b;

/// Stack of one core below which a page stays unmapped.
///
/// Stacks stand in an array, so that the guard page of one core's stack is also
/// the end of its neighbour's.
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

/// Whole pages of which each core maps its own alone, in an array.
#[derive(Debug, Clone, Copy)]
pub struct PerCore {
    /// First byte of those of the first core, which of stacks is a guard page.
    pub start: usize,
    /// Bytes that each core has.
    pub stride: usize,
    /// How many cores.
    pub count: usize,
}

impl PerCore {
    /// All of them.
    pub(crate) const fn all(&self) -> Range<usize> {
        self.start..self.start + self.stride * self.count
    }

    /// Marks the page below the first core's stack. Until that core has its own map, in which the
    /// page is not, a stack that overflows would go on in Mortise's variables.
    pub(crate) fn mark(&self) {
        for word in self.marks() {
            // SAFETY: the page is the guard of `MORTISE_STACKS`, which nothing else writes.
            unsafe { word.write_volatile(MARK) };
        }
    }

    /// Whether the marks are still there.
    pub(crate) fn is_marked(&self) -> bool {
        // SAFETY: as in `mark`.
        self.marks()
            .all(|word| unsafe { word.read_volatile() } == MARK)
    }

    fn marks(&self) -> impl Iterator<Item = *mut u64> {
        let page = self.start as *mut u64;
        (0..PAGE / size_of::<u64>()).map(move |word| page.wrapping_add(word))
    }

    /// Those of core `cpu`.
    #[must_use]
    pub const fn of(&self, cpu: usize) -> Range<usize> {
        let start = self.start + self.stride * cpu;
        start..start + self.stride
    }
}
