//! [`Ring`]: bytes in page frames, which are read in the order in which they were written.

use core::convert::Infallible;
use core::ops::Range;
use tenon_frames::{Frame, Frames, PAGE, PageMap};

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
        let copied = self.peek_with(from, to.len(), |frame, at, part| {
            frame.read(at, &mut to[part]);
            Ok::<_, Infallible>(())
        });
        copied.unwrap_or_default()
    }

    /// Calls `copy` with the frames of up to `most` bytes from an offset on, the offset in each and the
    /// part of the bytes; returns how many it copied. An error is one of the first part.
    pub fn peek_with<E>(
        &self,
        from: usize,
        most: usize,
        mut copy: impl FnMut(&Frame, usize, Range<usize>) -> Result<(), E>,
    ) -> Result<usize, E> {
        let count = most.min(self.length.saturating_sub(from));
        let mut done = 0;
        while done < count {
            let (page, at, part) = self.place(self.start + from + done, count - done);
            if let Some(frame) = self.pages.get(page)
                && let Err(error) = copy(frame, at, done..done + part)
            {
                return if done > 0 { Ok(done) } else { Err(error) };
            }
            done += part;
        }
        Ok(count)
    }

    /// Removes the first bytes, of which there are as many.
    pub fn skip(&mut self, count: usize, frames: &mut Frames) {
        let count = count.min(self.length);
        let mut done = 0;
        while done < count {
            let (page, at, part) = self.place(self.start, count - done);
            self.start += part;
            if self.start == self.capacity {
                self.start = 0;
            }
            self.length -= part;
            done += part;
            // Of the pages that are read, only the first is kept: an empty ring begins with it again.
            let is_read = self.length == 0 || at + part == PAGE && self.room() >= PAGE;
            if page > 0
                && is_read
                && let Some(frame) = self.pages.take(page)
            {
                frames.release(frame);
            }
        }
        if self.length == 0 {
            self.start = 0;
        }
    }

    /// Appends bytes; returns how many there were room and memory for.
    pub fn append(&mut self, from: &[u8], frames: &mut Frames) -> usize {
        let appended = self.append_with(from.len(), frames, |frame, at, part, _| {
            frame.write(at, &from[part]);
            Ok::<_, Infallible>(())
        });
        appended.unwrap_or_default()
    }

    /// Appends up to `most` bytes, which `copy` writes into a frame from an offset on, a part of them
    /// at a time; returns how many there were room and memory for. An error is one of the first part.
    pub fn append_with<E>(
        &mut self,
        most: usize,
        frames: &mut Frames,
        mut copy: impl FnMut(&Frame, usize, Range<usize>, &mut Frames) -> Result<(), E>,
    ) -> Result<usize, E> {
        let count = most.min(self.room());
        let mut done = 0;
        while done < count {
            let (page, at, part) = self.place(self.start + self.length, count - done);
            let Some(frame) = self.pages.get_or_allocate(page, frames) else {
                break;
            };
            if let Err(error) = copy(frame, at, done..done + part, frames) {
                self.release_behind(self.length + part, frames);
                return if done > 0 { Ok(done) } else { Err(error) };
            }
            self.length += part;
            done += part;
        }
        Ok(done)
    }

    /// Removes what was appended since the ring had a length.
    pub fn truncate(&mut self, length: usize, frames: &mut Frames) {
        let former = self.length;
        self.length = former.min(length);
        self.release_behind(former, frames);
    }

    /// Releases the frames that have nothing of the ring, of those that bytes up to a former length
    /// had; the first page is kept.
    fn release_behind(&mut self, former: usize, frames: &mut Frames) {
        let first = (self.start / PAGE) as u64;
        let mut at = self.length;
        while at < former {
            let (page, within, part) = self.place(self.start + at, former - at);
            let is_used = within > 0 || page == 0 || (page == first && self.length > 0);
            if !is_used && let Some(frame) = self.pages.take(page) {
                frames.release(frame);
            }
            at += part;
        }
    }

    /// Releases all frames.
    pub fn release(&mut self, frames: &mut Frames) {
        let pages = (self.capacity / PAGE) as u64;
        let mut budget = usize::MAX;
        self.pages.remove(0..pages, &mut budget, frames);
        (self.start, self.length) = (0, 0);
    }
}
