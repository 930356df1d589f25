//! [`Descriptors`] of a process.

use crate::{FileReference, Files};
use tenon_frames::{Frames, Table};
use tenon_program::Errno;

/// A descriptor.
#[derive(Debug)]
pub struct Descriptor {
    /// The description.
    pub file: FileReference,
    /// Whether `execve` closes it.
    pub close_on_exec: bool,
}

/// The descriptors of a process, by numbers below a limit.
#[derive(Debug)]
pub struct Descriptors {
    table: Table<Descriptor>,
    /// New ones have lower numbers.
    limit: u32,
    /// The owner as which locks and notices know the process; zero if it has none. A copy has its own.
    owner: u32,
}

impl Descriptors {
    /// No descriptor.
    pub const fn new(limit: u32) -> Self {
        Self {
            table: Table::new(limit),
            limit,
            owner: 0,
        }
    }

    /// The owner as which locks and notices know the process.
    pub fn owner(&mut self, files: &mut Files) -> u32 {
        if self.owner == 0 {
            self.owner = files.new_owner();
        }
        self.owner
    }

    /// The number below which new ones have theirs.
    #[must_use]
    pub fn limit(&self) -> u32 {
        self.limit
    }

    /// The highest limit that there can be.
    #[must_use]
    pub fn highest_limit(&self) -> u32 {
        self.table.limit()
    }

    /// Sets the limit. Descriptors with higher numbers stay.
    pub fn set_limit(&mut self, limit: u32) {
        self.limit = limit.min(self.highest_limit());
    }

    /// The descriptor of a number.
    #[inline(always)]
    pub fn get(&self, number: i32) -> Result<&Descriptor, Errno> {
        let number = u32::try_from(number).map_err(|_| Errno::EBADF)?;
        self.table.get(number).ok_or(Errno::EBADF)
    }

    /// Sets whether `execve` closes a descriptor.
    pub fn set_close_on_exec(&mut self, number: i32, close: bool) -> Result<(), Errno> {
        let number = u32::try_from(number).map_err(|_| Errno::EBADF)?;
        let descriptor = self.table.get_mut(number).ok_or(Errno::EBADF)?;
        descriptor.close_on_exec = close;
        Ok(())
    }

    /// The first number from `first` on that has a descriptor.
    #[must_use]
    pub fn next(&self, first: u32) -> Option<u32> {
        self.table.numbers(first).next()
    }

    /// Puts a descriptor at the lowest free number from `least` on, or gives its file back.
    pub fn insert(
        &mut self,
        descriptor: Descriptor,
        least: u32,
        frames: &mut Frames,
    ) -> Result<u32, FileReference> {
        match self.table.insert(descriptor, least, frames) {
            Err(descriptor) => Err(descriptor.file),
            Ok(number) if number < self.limit => Ok(number),
            Ok(number) => match self.table.remove(number, frames) {
                Some(descriptor) => Err(descriptor.file),
                None => Ok(number),
            },
        }
    }

    /// Closes a descriptor.
    pub fn close(
        &mut self,
        number: i32,
        files: &mut Files,
        frames: &mut Frames,
    ) -> Result<(), Errno> {
        let number = u32::try_from(number).map_err(|_| Errno::EBADF)?;
        let descriptor = self.table.remove(number, frames).ok_or(Errno::EBADF)?;
        if self.owner != 0 {
            files.flush(self.owner, &descriptor.file, frames);
        }
        files.close(descriptor.file, frames);
        Ok(())
    }

    /// Closes all, or those that `execve` closes.
    pub fn close_all(&mut self, on_exec: bool, files: &mut Files, frames: &mut Frames) {
        let closes = |descriptor: &Descriptor| !on_exec || descriptor.close_on_exec;
        let mut next = 0;
        while let Some(number) = self.table.next_where(next, closes) {
            // It exists.
            let _ = self.close(number.cast_signed(), files, frames);
            next = number + 1;
        }
    }

    /// Descriptors of the same descriptions, by the same numbers.
    pub fn share(&self, files: &mut Files, frames: &mut Frames) -> Result<Self, Errno> {
        let shared = |descriptor: &Descriptor| Descriptor {
            file: files.share(&descriptor.file),
            close_on_exec: descriptor.close_on_exec,
        };
        let copied = self.table.copy(shared, frames);
        let of = |table| Self {
            table,
            limit: self.limit,
            owner: 0,
        };
        copied.map(of).map_err(|part| {
            of(part).close_all(false, files, frames);
            Errno::ENOMEM
        })
    }
}
