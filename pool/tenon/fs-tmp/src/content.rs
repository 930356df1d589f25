//! Content of files in a [`FileSystem`]: reading, writing, size.

use crate::{Error, FileSystem, Kind, STEP};
use tenon_frames::{Frame, Frames, PAGE};

/// Size of a file at most: what a map of pages has.
const LARGEST: u64 = 1 << 47;

const fn page_of(offset: u64) -> (u64, usize) {
    (offset / PAGE as u64, (offset % PAGE as u64) as usize)
}

impl FileSystem {
    /// Gives an empty file or symbolic link a content, without copying it.
    pub fn set_below(&mut self, number: u32, bytes: &'static [u8]) -> Result<(), Error> {
        let inode = self.inode_mut(number)?;
        inode.below = bytes;
        inode.size = bytes.len() as u64;
        Ok(())
    }

    /// The content of a file of which nothing was written.
    #[must_use]
    pub fn unwritten(&self, number: u32) -> Option<&'static [u8]> {
        let inode = self.inode(number).ok()?;
        let whole = inode.pages.is_empty() && inode.size == inode.below.len() as u64;
        (inode.kind == Kind::File && whole).then_some(inode.below)
    }

    /// Copies bytes out of a file, up to its end; returns how many.
    pub fn read(&self, number: u32, offset: u64, to: &mut [u8]) -> Result<usize, Error> {
        let inode = self.inode(number)?;
        let rest = inode.size.saturating_sub(offset);
        let length = to.len().min(usize::try_from(rest).unwrap_or(usize::MAX));
        let mut done = 0;
        while done < length {
            let (index, at) = page_of(offset + done as u64);
            let part = (PAGE - at).min(length - done);
            let bytes = &mut to[done..done + part];
            match inode.pages.get(index) {
                Some(frame) => frame.read(at, bytes),
                None => {
                    bytes.fill(0);
                    let from = usize::try_from(offset).unwrap_or(usize::MAX);
                    let from = from.saturating_add(done).min(inode.below.len());
                    let below = &inode.below[from..];
                    let count = part.min(below.len());
                    bytes[..count].copy_from_slice(&below[..count]);
                }
            }
            done += part;
        }
        Ok(length)
    }

    /// The frame of a page of a file, with its content.
    fn page(&mut self, number: u32, index: u64, frames: &mut Frames) -> Result<&Frame, Error> {
        let inode = self.inode_mut(number)?;
        let is_new = inode.pages.get(index).is_none();
        let below = inode.below;
        let frame = inode.pages.get_or_allocate(index, frames);
        let frame = frame.ok_or(Error::NoSpace)?;
        if is_new {
            let from = usize::try_from(index).unwrap_or(usize::MAX);
            let from = from.saturating_mul(PAGE).min(below.len());
            frame.write(0, &below[from..]);
        }
        Ok(frame)
    }

    /// Writes bytes to a file; returns how many there was memory for, at least one.
    pub fn write(
        &mut self,
        number: u32,
        offset: u64,
        from: &[u8],
        frames: &mut Frames,
    ) -> Result<usize, Error> {
        let end = offset.checked_add(from.len() as u64);
        let end = end.filter(|end| *end <= LARGEST).ok_or(Error::TooLarge)?;
        let mut done = 0;
        while done < from.len() {
            let (index, at) = page_of(offset + done as u64);
            let part = (PAGE - at).min(from.len() - done);
            match self.page(number, index, frames) {
                Ok(frame) => frame.write(at, &from[done..done + part]),
                Err(_) if done > 0 => break,
                Err(error) => return Err(error),
            }
            done += part;
        }
        let now = self.now;
        let inode = self.inode_mut(number)?;
        if done > 0 {
            let end = end - (from.len() - done) as u64;
            inode.size = inode.size.max(end);
            (inode.modified, inode.changed) = (now, now);
        }
        Ok(done)
    }

    /// Changes the size of a file, by a step if it has many pages more; returns whether that is done.
    pub fn resize(&mut self, number: u32, size: u64, frames: &mut Frames) -> Result<bool, Error> {
        if size > LARGEST {
            return Err(Error::TooLarge);
        }
        let now = self.now;
        let inode = self.inode_mut(number)?;
        if inode.kind != Kind::File {
            return Err(Error::Invalid);
        }
        (inode.modified, inode.changed) = (now, now);
        if size >= inode.size {
            inode.size = size;
            return Ok(true);
        }
        let done = inode.release_from(size, &mut STEP.clone(), frames);
        if done {
            let (index, at) = page_of(size);
            if let Some(frame) = inode.pages.get(index) {
                frame.write(at, &[0; PAGE][at..]);
            }
            inode.size = size;
        }
        // Also when it is not done: what was below is not seen where pages are released.
        let below = usize::try_from(size).unwrap_or(usize::MAX);
        inode.below = &inode.below[..inode.below.len().min(below)];
        Ok(done)
    }

    /// Gives a range of a file frames, and the size to hold it if `grows`; by a step if that is long.
    /// Returns the offset up to which it is done.
    pub fn reserve(
        &mut self,
        number: u32,
        (offset, end): (u64, u64),
        grows: bool,
        frames: &mut Frames,
    ) -> Result<u64, Error> {
        if end > LARGEST {
            return Err(Error::TooLarge);
        }
        let first = page_of(offset).0;
        let last = end.div_ceil(PAGE as u64).min(first + STEP as u64);
        for index in first..last {
            self.page(number, index, frames)?;
        }
        let done = end.min(last * PAGE as u64);
        let inode = self.inode_mut(number)?;
        if grows {
            inode.size = inode.size.max(done);
        }
        Ok(done)
    }
}
