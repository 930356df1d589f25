//! [`Memory`]: where a transfer reads or writes bytes.

use core::ops::Range;
use tenon_frames::{Frame, Frames};
use tenon_program::{Errno, Space};

/// Memory that a transfer reads or writes.
#[derive(Debug)]
pub enum Memory<'a> {
    /// Of a process, from an address on.
    Process(&'a mut Space, usize),
    /// Of a process, by a vector of addresses and lengths.
    Vector(Vector<'a>),
    /// Of the kernel.
    Kernel(&'a mut [u8]),
}

/// Memory of a process by its `struct iovec`s, which are read as they are needed.
#[derive(Debug)]
pub struct Vector<'a> {
    space: &'a mut Space,
    from: usize,
    count: usize,
    /// The entry that was used last: its index, offset, address and length.
    index: usize,
    start: usize,
    entry: (usize, usize),
}

impl<'a> Vector<'a> {
    /// The `count` entries at an address, and their bytes in all.
    pub fn new(
        space: &'a mut Space,
        from: usize,
        count: usize,
        frames: &mut Frames,
    ) -> Result<(Self, usize), Errno> {
        let mut vector = Self {
            space,
            from,
            count,
            index: 0,
            start: 0,
            entry: (0, 0),
        };
        let mut total = 0usize;
        for index in 0..count {
            let (_, length) = vector.load(index, frames)?;
            // As Linux bounds it.
            total = total.saturating_add(length);
            if length > isize::MAX as usize {
                return Err(Errno::EINVAL);
            }
        }
        vector.index = usize::MAX;
        Ok((vector, total.min(0x7fff_f000)))
    }

    fn load(&mut self, index: usize, frames: &mut Frames) -> Result<(usize, usize), Errno> {
        let mut bytes = [[0; 8]; 2];
        let at = self.from.wrapping_add(index * 16);
        self.space.read(at, bytes.as_flattened_mut(), frames)?;
        let [address, length] = bytes.map(|word| u64::from_le_bytes(word) as usize);
        Ok((address, length))
    }

    /// The address of an offset, and how many bytes follow there.
    fn place(&mut self, offset: usize, frames: &mut Frames) -> Result<(usize, usize), Errno> {
        if self.index == usize::MAX || offset < self.start {
            (self.index, self.start) = (0, 0);
            self.entry = self.load(0, frames)?;
        }
        while offset - self.start >= self.entry.1 {
            self.start = self.start.saturating_add(self.entry.1);
            self.index += 1;
            if self.index >= self.count {
                self.index = usize::MAX;
                return Err(Errno::EFAULT);
            }
            self.entry = self.load(self.index, frames)?;
        }
        let within = offset - self.start;
        Ok((self.entry.0.wrapping_add(within), self.entry.1 - within))
    }

    fn each(
        &mut self,
        (offset, length): (usize, usize),
        frames: &mut Frames,
        mut action: impl FnMut(&mut Space, usize, Range<usize>, &mut Frames) -> Result<(), Errno>,
    ) -> Result<(), Errno> {
        let mut done = 0;
        while done < length {
            let (address, most) = self.place(offset + done, frames)?;
            let part = most.min(length - done);
            action(self.space, address, done..done + part, frames)?;
            done += part;
        }
        Ok(())
    }
}

impl Memory<'_> {
    /// Copies bytes out of the memory, from an offset on.
    pub fn read(&mut self, offset: usize, to: &mut [u8], frames: &mut Frames) -> Result<(), Errno> {
        match self {
            Self::Process(space, start) => {
                Ok(space.read(start.wrapping_add(offset), to, frames)?)
            }
            Self::Vector(vector) => {
                let place = (offset, to.len());
                vector.each(place, frames, |space, address, part, frames| {
                    Ok(space.read(address, &mut to[part], frames)?)
                })
            }
            Self::Kernel(bytes) => {
                let from = bytes.get(offset..).and_then(|rest| rest.get(..to.len()));
                to.copy_from_slice(from.ok_or(Errno::EFAULT)?);
                Ok(())
            }
        }
    }

    /// Copies bytes out of the memory, from an offset on, into a frame at another one.
    pub fn read_to_frame(
        &mut self,
        offset: usize,
        (to, at): (&Frame, usize),
        length: usize,
        frames: &mut Frames,
    ) -> Result<(), Errno> {
        match self {
            Self::Process(space, start) => {
                let from = start.wrapping_add(offset);
                Ok(space.read_to_frame(from, (to, at), length, frames)?)
            }
            Self::Vector(vector) => {
                let place = (offset, length);
                vector.each(place, frames, |space, address, part, frames| {
                    let to = (to, at + part.start);
                    Ok(space.read_to_frame(address, to, part.len(), frames)?)
                })
            }
            Self::Kernel(bytes) => {
                let from = bytes.get(offset..).and_then(|rest| rest.get(..length));
                to.write(at, from.ok_or(Errno::EFAULT)?);
                Ok(())
            }
        }
    }

    /// Copies bytes of a frame, from an offset on, into the memory at another one.
    pub fn write_from_frame(
        &mut self,
        offset: usize,
        (from, at): (&Frame, usize),
        length: usize,
        frames: &mut Frames,
    ) -> Result<(), Errno> {
        match self {
            Self::Process(space, start) => {
                let to = start.wrapping_add(offset);
                Ok(space.write_from_frame(to, (from, at), length, frames)?)
            }
            Self::Vector(vector) => {
                let place = (offset, length);
                vector.each(place, frames, |space, address, part, frames| {
                    let from = (from, at + part.start);
                    Ok(space.write_from_frame(address, from, part.len(), frames)?)
                })
            }
            Self::Kernel(bytes) => {
                let rest = bytes.get_mut(offset..);
                let to = rest.and_then(|rest| rest.get_mut(..length));
                from.read(at, to.ok_or(Errno::EFAULT)?);
                Ok(())
            }
        }
    }

    /// Copies bytes into the memory, from an offset on.
    pub fn write(&mut self, offset: usize, from: &[u8], frames: &mut Frames) -> Result<(), Errno> {
        match self {
            Self::Process(space, start) => {
                Ok(space.write(start.wrapping_add(offset), from, frames)?)
            }
            Self::Vector(vector) => {
                let place = (offset, from.len());
                vector.each(place, frames, |space, address, part, frames| {
                    Ok(space.write(address, &from[part], frames)?)
                })
            }
            Self::Kernel(bytes) => {
                let rest = bytes.get_mut(offset..);
                let to = rest.and_then(|rest| rest.get_mut(..from.len()));
                to.ok_or(Errno::EFAULT)?.copy_from_slice(from);
                Ok(())
            }
        }
    }
}
