//! Copies between an [`AddressSpace`] and the kernel.

use super::{AddressSpace, Denied};
use crate::{Access, PAGE};
use core::ops::Range;
use core::sync::atomic::{AtomicU32, Ordering};
use tenon_frames::{Frame, Frames};

/// Fewer bytes are copied at once, more by the function of the frames.
const MANY: usize = 256;

impl<const N: usize> AddressSpace<N> {
    /// Copies bytes from the process.
    pub fn read(&mut self, from: usize, to: &mut [u8], frames: &mut Frames) -> Result<(), Denied> {
        let (many, copier) = (to.len() >= MANY, frames.copier());
        self.each_page(
            from,
            to.len(),
            Access::Read,
            frames,
            |frame, at, part| match many {
                true => copier.read((frame, at), &mut to[part]),
                false => frame.read(at, &mut to[part]),
            },
        )
    }

    /// Copies bytes to the process.
    pub fn write(&mut self, to: usize, from: &[u8], frames: &mut Frames) -> Result<(), Denied> {
        let (many, copier) = (from.len() >= MANY, frames.copier());
        self.each_page(
            to,
            from.len(),
            Access::Write,
            frames,
            |frame, at, part| match many {
                true => copier.write(&from[part], (frame, at)),
                false => frame.write(at, &from[part]),
            },
        )
    }

    /// Fills a range of the process with zeros.
    pub fn clear(&mut self, range: &Range<usize>, frames: &mut Frames) -> Result<(), Denied> {
        let (start, length) = (range.start, range.len());
        self.each_page(start, length, Access::Write, frames, |frame, at, part| {
            frame.clear(at, part.len());
        })
    }

    /// Copies bytes from the process into a frame, from an offset on.
    pub fn read_to_frame(
        &mut self,
        from: usize,
        (to, at): (&Frame, usize),
        length: usize,
        frames: &mut Frames,
    ) -> Result<(), Denied> {
        let copier = frames.copier();
        self.each_page(from, length, Access::Read, frames, |frame, start, part| {
            copier.copy((frame, start), (to, at + part.start), part.len());
        })
    }

    /// Copies bytes of a frame, from an offset on, to the process.
    pub fn write_from_frame(
        &mut self,
        to: usize,
        (from, at): (&Frame, usize),
        length: usize,
        frames: &mut Frames,
    ) -> Result<(), Denied> {
        let copier = frames.copier();
        self.each_page(to, length, Access::Write, frames, |frame, start, part| {
            copier.copy((from, at + part.start), (frame, start), part.len());
        })
    }

    /// Copies a string from the process, up to its NUL, which is not copied; returns its length.
    /// That is the length of `to` if there is no NUL before.
    pub fn read_string(
        &mut self,
        from: usize,
        to: &mut [u8],
        frames: &mut Frames,
    ) -> Result<usize, Denied> {
        /// Most strings are short.
        const STEP: usize = 64;
        let mut length = 0;
        while length < to.len() {
            let start = from.wrapping_add(length);
            let offset = start % PAGE;
            let part = (PAGE - offset).min(to.len() - length).min(STEP);
            let bytes = &mut to[length..length + part];
            let frame = self.resolve(start - offset, Access::Read, frames)?;
            // SAFETY: the entry holds the frame; this `Frame` of it is not kept.
            let held = unsafe { Frame::from_address(frame) };
            held.read(offset, bytes);
            let _ = held.into_address();
            if let Some(end) = first_zero(bytes) {
                return Ok(length + end);
            }
            length += part;
        }
        Ok(length)
    }

    /// Calls `action` with the frame of each page of a range, the offset in it and the part of the
    /// range.
    fn each_page(
        &mut self,
        start: usize,
        length: usize,
        access: Access,
        frames: &mut Frames,
        mut action: impl FnMut(&Frame, usize, Range<usize>),
    ) -> Result<(), Denied> {
        self.try_each_page((start, length), access, frames, |frame, at, part, _| {
            action(frame, at, part);
            Ok(true)
        })
    }

    /// Calls `action` with the frame of each page of a range, the offset in it and the part of the
    /// range, until that returns false. For a copy between the process and other frames.
    pub fn try_each_page<E: From<Denied>>(
        &mut self,
        (start, length): (usize, usize),
        access: Access,
        frames: &mut Frames,
        mut action: impl FnMut(&Frame, usize, Range<usize>, &mut Frames) -> Result<bool, E>,
    ) -> Result<(), E> {
        let mut done = 0;
        while done < length {
            let address = start.checked_add(done).ok_or(Denied::NoArea)?;
            let offset = address % PAGE;
            let part = (PAGE - offset).min(length - done);
            let frame = self.resolve(address - offset, access, frames)?;
            // SAFETY: the entry holds the frame; this `Frame` of it is not kept.
            let held = unsafe { Frame::from_address(frame) };
            let goes_on = action(&held, offset, done..done + part, frames);
            let _ = held.into_address();
            if !goes_on? {
                break;
            }
            done += part;
        }
        Ok(())
    }

    /// A word of the process: 32 bits at a multiple of 4, also while the process changes it.
    pub fn load_word(&mut self, address: usize, frames: &mut Frames) -> Result<u32, Denied> {
        let word = self.word(address, Access::Read, frames)?;
        Ok(word.load(Ordering::SeqCst))
    }

    /// Calls `action` with a word of the process that it may change while the process runs: 32 bits at
    /// a multiple of 4.
    pub fn with_word<R>(
        &mut self,
        address: usize,
        frames: &mut Frames,
        action: impl FnOnce(&AtomicU32) -> R,
    ) -> Result<R, Denied> {
        self.word(address, Access::Write, frames).map(action)
    }

    /// A word of the process, stored to with the access of a write alone.
    fn word(
        &mut self,
        address: usize,
        access: Access,
        frames: &mut Frames,
    ) -> Result<&AtomicU32, Denied> {
        let offset = address % PAGE;
        if !offset.is_multiple_of(size_of::<u32>()) {
            return Err(Denied::NoArea);
        }
        let frame = self.resolve(address - offset, access, frames)?;
        // SAFETY: the word lies in a frame that the entry holds, which is mapped one to one and
        // aligned; the process is its only other user.
        Ok(unsafe { AtomicU32::from_ptr((frame + offset) as *mut u32) })
    }
}

/// The place of the first zero.
fn first_zero(bytes: &[u8]) -> Option<usize> {
    const ONES: u64 = u64::MAX / 0xff;
    let is_zero = |byte: &u8| *byte == 0;
    // SAFETY: any bytes are a word.
    let (first, words, rest) = unsafe { bytes.align_to::<u64>() };
    if let Some(end) = first.iter().position(is_zero) {
        return Some(end);
    }
    for (index, word) in words.iter().enumerate() {
        let word = u64::from_le(*word);
        // The highest bit of the first zero byte, and of none before.
        let zeros = word.wrapping_sub(ONES) & !word & ONES << 7;
        if zeros != 0 {
            return Some(first.len() + index * 8 + zeros.trailing_zeros() as usize / 8);
        }
    }
    let end = rest.iter().position(is_zero)?;
    Some(bytes.len() - rest.len() + end)
}
