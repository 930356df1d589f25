//! [`Frame`]: references to page frames, and their [`Allocator`].

use core::ops::Range;

/// Size of a frame.
pub const PAGE: usize = 1 << 12;

/// A reference to a frame. It keeps the frame allocated until [`Allocator::release`], so it is moved
/// and never copied; one that is dropped leaks the frame.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "a frame that is not released is lost"]
#[repr(transparent)]
pub struct Frame(usize);

impl Frame {
    /// The physical address of the frame.
    pub fn address(&self) -> usize {
        self.0
    }

    /// The reference as a number, for a translation table, which holds it from now on.
    pub fn into_address(self) -> usize {
        self.0
    }

    /// The reference that [`into_address`](Self::into_address) turned into a number.
    ///
    /// # Safety
    ///
    /// The address is of that function, and of no other `Frame` since.
    pub unsafe fn from_address(address: usize) -> Self {
        Self(address)
    }

    /// A page of the image, if it is aligned: it is never free and never exclusive.
    #[must_use]
    pub fn of_image(page: &'static [u8; PAGE]) -> Option<Self> {
        let address = page.as_ptr() as usize;
        address.is_multiple_of(PAGE).then_some(Self(address))
    }

    /// Copies bytes out of the frame, from `offset` on; bytes beyond the frame are not copied.
    pub fn read(&self, offset: usize, to: &mut [u8]) {
        let length = to.len().min(PAGE.saturating_sub(offset));
        // SAFETY: the source lies within the frame, which is mapped and allocated; nothing has a
        // Rust reference to it. What others write at the same time is copied or not.
        unsafe {
            core::ptr::copy_nonoverlapping((self.0 + offset) as *const u8, to.as_mut_ptr(), length);
        }
    }

    /// Copies bytes into the frame, from `offset` on; bytes beyond the frame are not copied.
    pub fn write(&self, offset: usize, from: &[u8]) {
        let length = from.len().min(PAGE.saturating_sub(offset));
        // SAFETY: the target lies within the frame, which is mapped and allocated; nothing has a
        // Rust reference to it.
        unsafe {
            core::ptr::copy_nonoverlapping(from.as_ptr(), (self.0 + offset) as *mut u8, length);
        }
    }

    /// The eight bytes around an offset, from a multiple of eight on, as a little-endian word; those at
    /// the end of the frame for an offset beyond.
    #[inline]
    #[must_use]
    pub fn word(&self, offset: usize) -> u64 {
        // SAFETY: the bytes lie within the frame, which is mapped and allocated; nothing has a Rust
        // reference to them.
        u64::from_le(unsafe { self.place_of_word(offset).read() })
    }

    /// Sets the eight bytes that [`word`](Self::word) has.
    #[inline]
    pub fn set_word(&self, offset: usize, word: u64) {
        // SAFETY: as for `word`.
        unsafe { self.place_of_word(offset).write(word.to_le()) }
    }

    fn place_of_word(&self, offset: usize) -> *mut u64 {
        (self.0 + (offset.min(PAGE - 8) & !7)) as *mut u64
    }

    /// Whether the frame has these bytes at an offset, all of them.
    #[must_use]
    pub fn has(&self, offset: usize, bytes: &[u8]) -> bool {
        // SAFETY: the bytes lie within the frame, which is mapped and allocated, and the slice is not
        // kept; whoever writes files has exclusive access.
        offset
            .checked_add(bytes.len())
            .is_some_and(|end| end <= PAGE)
            && unsafe {
                core::slice::from_raw_parts((self.0 + offset) as *const u8, bytes.len()) == bytes
            }
    }

    /// Fills a range with zeros, as far as it is in the frame.
    pub fn clear(&self, offset: usize, length: usize) {
        let length = length.min(PAGE.saturating_sub(offset));
        // SAFETY: the range lies within the frame, which is mapped and allocated; nothing has a Rust
        // reference to it.
        unsafe { core::ptr::write_bytes((self.0 + offset) as *mut u8, 0, length) };
    }
}

/// A function that copies bytes between frames.
#[derive(Clone, Copy, Debug)]
pub struct Copier(pub(crate) unsafe fn(*const u8, *mut u8, usize));

impl Copier {
    /// Copies bytes of a frame from an offset on into another one, from `at` on; bytes beyond either
    /// frame are not copied.
    pub fn copy(self, (from, start): (&Frame, usize), (to, at): (&Frame, usize), length: usize) {
        let length = length.min(PAGE.saturating_sub(start.max(at)));
        // SAFETY: both places lie within their frames, which are mapped and allocated; nothing has a
        // Rust reference to either.
        unsafe {
            (self.0)(
                (from.0 + start) as *const u8,
                (to.0 + at) as *mut u8,
                length,
            )
        };
    }

    /// Copies bytes out of a frame from `at` on; bytes beyond it are not copied.
    pub fn read(self, (from, at): (&Frame, usize), to: &mut [u8]) {
        let length = to.len().min(PAGE.saturating_sub(at));
        // SAFETY: the source lies within the frame, which is mapped and allocated; nothing has a Rust
        // reference to it.
        unsafe { (self.0)((from.0 + at) as *const u8, to.as_mut_ptr(), length) };
    }

    /// Copies bytes into a frame from `at` on; bytes beyond it are not copied.
    pub fn write(self, from: &[u8], (to, at): (&Frame, usize)) {
        let length = from.len().min(PAGE.saturating_sub(at));
        // SAFETY: the target lies within the frame, which is mapped and allocated; nothing has a Rust
        // reference to it.
        unsafe { (self.0)(from.as_ptr(), (to.0 + at) as *mut u8, length) };
    }
}

/// The word of a free frame: the index of the next one, above this bit.
const FREE: u32 = 1 << 31;
/// The end of the list of free frames.
const NONE: u32 = FREE - 1;

/// The frames of a range of RAM, without objects.
#[derive(Debug)]
pub struct Allocator {
    /// The first frame.
    first: usize,
    /// The first frame that has never been allocated: the table needs no initial value for these.
    fresh: u32,
    count: u32,
    /// The first frame of the list of free ones.
    free: u32,
    available: u32,
    /// The word of each frame.
    table: usize,
    pub(crate) copier: Copier,
}

impl Allocator {
    /// All frames of a range as free ones. The range is rounded inwards to pages; its first pages
    /// hold the table.
    ///
    /// # Safety
    ///
    /// The range is RAM that is mapped one to one and used by no other code from now on.
    #[must_use]
    pub unsafe fn new(range: Range<usize>) -> Self {
        let table = range.start.next_multiple_of(PAGE);
        let pages = (range.end & !(PAGE - 1)).saturating_sub(table) / PAGE;
        // A word in the table for each frame behind it.
        let count = pages * PAGE / (PAGE + size_of::<u32>());
        let first = table + (count * size_of::<u32>()).next_multiple_of(PAGE);
        let count = count.min((table + pages * PAGE).saturating_sub(first) / PAGE);
        let count = count.min(NONE as usize - 1) as u32;
        Self {
            first,
            fresh: 0,
            count,
            free: NONE,
            available: count,
            table,
            copier: Copier(core::ptr::copy),
        }
    }

    /// Frames of memory that is not freed, for tests on the host.
    #[cfg(not(target_os = "none"))]
    #[must_use]
    pub fn of_host(pages: usize) -> Self {
        let memory = alloc::vec![[0xa5u8; PAGE]; pages + 1].leak();
        let start = (memory.as_ptr() as usize).next_multiple_of(PAGE);
        // SAFETY: nothing else uses the memory, which has its own address.
        unsafe { Self::new(start..start + pages * PAGE) }
    }

    /// The function that copies between frames.
    #[must_use]
    pub fn copier(&self) -> Copier {
        self.copier
    }

    /// The number of free frames.
    #[must_use]
    pub fn available(&self) -> usize {
        self.available as usize
    }

    /// A frame of zeros, if one is free.
    pub fn allocate(&mut self) -> Option<Frame> {
        let frame = self.allocate_uncleared()?;
        // SAFETY: the frame is mapped, aligned to its size, and used by no other code.
        unsafe { hw_arch::cache::zero_page(frame.0) };
        Some(frame)
    }

    /// A copy of a frame, if one is free.
    pub fn allocate_copy(&mut self, of: &Frame) -> Option<Frame> {
        let frame = self.allocate_uncleared()?;
        self.copier.copy((of, 0), (&frame, 0), PAGE);
        Some(frame)
    }

    fn allocate_uncleared(&mut self) -> Option<Frame> {
        let index = match self.free {
            NONE if self.fresh == self.count => return None,
            NONE => {
                self.fresh += 1;
                self.fresh - 1
            }
            free => {
                self.free = self.word(free) & !FREE;
                free
            }
        };
        self.set_word(index, 1);
        self.available -= 1;
        Some(Frame(self.first + index as usize * PAGE))
    }

    /// A further reference to a frame.
    pub fn share(&mut self, frame: &Frame) -> Frame {
        if let Some(index) = self.index(frame) {
            let references = self.word(index) + 1;
            assert!(references < FREE, "too many references to a frame");
            self.set_word(index, references);
        }
        Frame(frame.0)
    }

    /// Whether this is the only reference to its frame.
    #[must_use]
    pub fn is_exclusive(&self, frame: &Frame) -> bool {
        self.index(frame).is_some_and(|index| self.word(index) == 1)
    }

    /// Ends a reference; the frame is free after the last one.
    pub fn release(&mut self, frame: Frame) {
        let Some(index) = self.index(&frame) else {
            return;
        };
        match self.word(index) {
            1 => {
                self.set_word(index, FREE | self.free);
                self.free = index;
                self.available += 1;
            }
            references => self.set_word(index, references - 1),
        }
    }

    /// The index of an allocated frame; a page of the image has none.
    fn index(&self, frame: &Frame) -> Option<u32> {
        let index = frame.0.wrapping_sub(self.first) / PAGE;
        if index >= self.count as usize {
            return None;
        }
        assert!(
            index < self.fresh as usize,
            "a frame that was never allocated"
        );
        let index = index as u32;
        debug_assert!(self.word(index) & FREE == 0, "a frame that is free");
        Some(index)
    }

    fn place(&self, index: u32) -> *mut u32 {
        (self.table + index as usize * size_of::<u32>()) as *mut u32
    }

    fn word(&self, index: u32) -> u32 {
        // SAFETY: the index is below `fresh`, so that its word lies in the table and was written;
        // only this type accesses the table, exclusively.
        unsafe { self.place(index).read() }
    }

    fn set_word(&mut self, index: u32, word: u32) {
        // SAFETY: the index is below `fresh`, so that its word lies in the table; only this type
        // accesses the table, exclusively.
        unsafe { self.place(index).write(word) }
    }
}
