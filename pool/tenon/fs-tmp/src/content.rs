//! Content of files in a [`FileSystem`]: reading, writing, size.

use crate::{Error, FileSystem, Kind, STEP};
use tenon_frames::{Copier, Frame, Frames, Object, PAGE, read_below, read_below_to};

/// Size of a file at most: what a map of pages has.
pub(crate) const LARGEST: u64 = 1 << 47;

/// The content of a file: of its object, or of the image.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a> {
    size: u64,
    below: &'static [u8],
    content: Option<&'a Object>,
}

impl Reader<'_> {
    /// Bytes from an offset on, up to the end.
    #[must_use]
    pub fn rest(&self, offset: u64) -> usize {
        usize::try_from(self.size.saturating_sub(offset)).unwrap_or(usize::MAX)
    }

    /// Copies bytes into a frame from `at` on, up to the end of the file; returns how many.
    pub fn read_to(
        &self,
        offset: u64,
        (to, at): (&Frame, usize),
        length: usize,
        copier: Copier,
    ) -> usize {
        if let Some(content) = self.content {
            return content.read_to(offset, (to, at), length, copier);
        }
        let length = length.min(self.rest(offset));
        read_below_to(self.below, offset, (to, at), length, copier);
        length
    }
}

impl FileSystem {
    /// Gives an empty file or symbolic link a content, without copying it.
    pub fn set_below(&mut self, number: u32, bytes: &'static [u8]) -> Result<(), Error> {
        let inode = self.inode_mut(number)?;
        inode.below = bytes;
        inode.size = bytes.len() as u64;
        Ok(())
    }

    /// The content of a file as an object, for a mapping or a program.
    pub fn content(&mut self, number: u32, frames: &mut Frames) -> Result<&Object, Error> {
        let inode = self.inode_mut(number)?;
        if !matches!(inode.kind, Kind::File | Kind::Link) {
            return Err(Error::Invalid);
        }
        if inode.content.is_none() {
            let content = frames.create_object(inode.below).ok_or(Error::NoSpace)?;
            // Only a file that was made longer is larger than what is below.
            frames.resize_object(&content, inode.size);
            inode.content = Some(content);
        }
        inode.content.as_ref().ok_or(Error::NoSpace)
    }

    /// The object of a file that has one.
    #[must_use]
    pub fn mapped(&self, number: u32) -> Option<&Object> {
        self.inode(number).ok()?.content.as_ref()
    }

    /// Copies bytes out of a file, up to its end; returns how many.
    pub fn read(&self, number: u32, offset: u64, to: &mut [u8]) -> Result<usize, Error> {
        let inode = self.inode(number)?;
        if let Some(content) = &inode.content {
            return Ok(content.read(offset, to));
        }
        let rest = inode.size.saturating_sub(offset);
        let length = to.len().min(usize::try_from(rest).unwrap_or(usize::MAX));
        read_below(inode.below, offset, &mut to[..length]);
        Ok(length)
    }

    /// The content of a file, for several reads.
    pub fn reader(&self, number: u32) -> Result<Reader<'_>, Error> {
        let inode = self.inode(number)?;
        Ok(Reader {
            size: inode.size,
            below: inode.below,
            content: inode.content.as_ref(),
        })
    }

    /// The first offset from one on that is in data, or in a hole, by pages; the size where there is
    /// none. By a step if that is far: also returns whether it is done.
    pub fn seek(&self, number: u32, offset: u64, data: bool) -> Result<(u64, bool), Error> {
        /// Pages, and parts without pages, of a step.
        const STEP: usize = 512;
        let inode = self.inode(number)?;
        let mut at = offset;
        for _ in 0..STEP {
            if at >= inode.size {
                return Ok((inode.size, true));
            }
            let page = at / PAGE as u64;
            let gap = match &inode.content {
                _ if page * (PAGE as u64) < inode.below.len() as u64 => 0,
                Some(content) => content.gap(page),
                None => u64::MAX,
            };
            if data == (gap == 0) {
                return Ok((at, true));
            }
            at = page.saturating_add(gap.max(1)).saturating_mul(PAGE as u64);
        }
        Ok((at, false))
    }

    /// Writes bytes to a file; returns how many there was memory for, at least one.
    pub fn write(
        &mut self,
        number: u32,
        offset: u64,
        from: &[u8],
        frames: &mut Frames,
    ) -> Result<usize, Error> {
        self.write_with(
            number,
            (offset, from.len()),
            frames,
            |content, most, frames| Ok(frames.write_object(content, offset, &from[..most])),
        )
    }

    /// Writes to a file as [`write`](Self::write) does: `copy` writes to its content, from the offset on
    /// at most as many bytes as it is called with, and returns how many.
    pub fn write_with<E: From<Error>>(
        &mut self,
        number: u32,
        (offset, length): (u64, usize),
        frames: &mut Frames,
        copy: impl FnOnce(&Object, usize, &mut Frames) -> Result<usize, E>,
    ) -> Result<usize, E> {
        let most = self.most(self.inode(number)?);
        let room = usize::try_from(most.saturating_sub(offset)).unwrap_or(usize::MAX);
        if length > 0 && room == 0 {
            self.check_size(number, offset.saturating_add(1))?;
        }
        let content = self.content(number, frames)?;
        let done = copy(content, length.min(room), frames)?;
        if done == 0 && length > 0 {
            return Err(Error::NoSpace.into());
        }
        let size = content.size();
        if done > 0 {
            self.set_size(number, size)?;
            let now = self.now;
            let inode = self.inode_mut(number)?;
            (inode.modified, inode.changed) = (now, now);
        }
        Ok(done)
    }

    /// Changes the size of a file, by a step if it has many pages more; returns whether that is done.
    pub fn resize(&mut self, number: u32, size: u64, frames: &mut Frames) -> Result<bool, Error> {
        self.check_size(number, size)?;
        let now = self.now;
        let inode = self.inode_mut(number)?;
        if inode.kind != Kind::File {
            return Err(Error::Invalid);
        }
        (inode.modified, inode.changed) = (now, now);
        let done = match &inode.content {
            Some(content) => frames.resize_object(content, size),
            None => {
                let below = usize::try_from(size).unwrap_or(usize::MAX);
                inode.below = &inode.below[..inode.below.len().min(below)];
                true
            }
        };
        if done {
            self.set_size(number, size)?;
        }
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
        self.check_size(number, end)?;
        let first = offset / PAGE as u64;
        let last = end.div_ceil(PAGE as u64).min(first + STEP as u64);
        let content = self.content(number, frames)?;
        for index in first..last {
            let reserved = frames.reserve_page(content, index)
                || frames.relieve() && frames.reserve_page(content, index);
            reserved.then_some(()).ok_or(Error::NoSpace)?;
        }
        let done = end.min(last * PAGE as u64);
        if grows && content.size() < done {
            frames.resize_object(content, done);
            self.set_size(number, done)?;
        }
        Ok(done)
    }
}
