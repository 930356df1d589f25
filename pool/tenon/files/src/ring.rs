//! [`Ring`]: bytes in page frames, which are read in the order in which they were written.

use tenon_frames::{Frames, PAGE, PageMap};

/// A queue of bytes in frames that are allocated as they are written. One that is dropped with frames
/// loses them.
#[derive(Debug)]
pub struct Ring {
    pages: PageMap,
    start: usize,
    length: usize,
    capacity: usize,
}

impl Ring {
    /// An empty ring of a capacity in bytes, a multiple of a page.
    #[must_use]
    pub const fn new(capacity: usize) -> Self {
        Self {
            pages: PageMap::new(),
            start: 0,
            length: 0,
            capacity,
        }
    }

    /// Bytes that it has.
    #[must_use]
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether it has none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Bytes that it can have.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// Bytes that there is room for.
    #[must_use]
    pub fn room(&self) -> usize {
        self.capacity - self.length
    }

    /// The page of a place, where in it the place is, and how many bytes follow there.
    fn place(&self, at: usize, most: usize) -> (u64, usize, usize) {
        let at = if at < self.capacity {
            at
        } else {
            at - self.capacity
        };
        let within = at % PAGE;
        ((at / PAGE) as u64, within, (PAGE - within).min(most))
    }

    /// Copies bytes from an offset on without removing them; returns how many.
    pub fn peek(&self, from: usize, to: &mut [u8]) -> usize {
        let count = to.len().min(self.length.saturating_sub(from));
        let mut done = 0;
        while done < count {
            let (page, at, part) = self.place(self.start + from + done, count - done);
            if let Some(frame) = self.pages.get(page) {
                frame.read(at, &mut to[done..done + part]);
            }
            done += part;
        }
        count
    }

    /// Removes the first bytes, of which there are as many.
    pub fn skip(&mut self, count: usize, frames: &mut Frames) {
        let count = count.min(self.length);
        let mut done = 0;
        while done < count {
            let (page, at, part) = self.place(self.start, count - done);
            self.start = (self.start + part) % self.capacity;
            self.length -= part;
            done += part;
            // A page that is read is not kept, unless the next bytes are written to it.
            if at + part == PAGE && self.room() >= PAGE {
                self.pages.remove(page..page + 1, &mut 1, frames);
            }
        }
    }

    /// Appends bytes; returns how many there were room and memory for.
    pub fn append(&mut self, from: &[u8], frames: &mut Frames) -> usize {
        let count = from.len().min(self.room());
        let mut done = 0;
        while done < count {
            let (page, at, part) = self.place(self.start + self.length, count - done);
            let Some(frame) = self.pages.get_or_allocate(page, frames) else {
                break;
            };
            frame.write(at, &from[done..done + part]);
            self.length += part;
            done += part;
        }
        done
    }

    /// Removes what was appended since the ring had a length.
    pub fn truncate(&mut self, length: usize) {
        self.length = self.length.min(length);
    }

    /// Releases all frames.
    pub fn release(&mut self, frames: &mut Frames) {
        let pages = (self.capacity / PAGE) as u64;
        let mut budget = usize::MAX;
        self.pages.remove(0..pages, &mut budget, frames);
        (self.start, self.length) = (0, 0);
    }
}
