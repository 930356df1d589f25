//! A process: its address space, descriptors and end.

use crate::file::{FileReference, Files};
use core::ops::Range;
use heapless::String;
use tenon_frames::{Frames, Table};
use tenon_program::{Errno, Space};

/// Bytes of a program's name, with the NUL of Linux.
pub const NAME: usize = 16;
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
pub struct Descriptors(Table<Descriptor>);

impl Descriptors {
    /// No descriptor.
    pub(crate) const fn new(limit: u32) -> Self {
        Self(Table::new(limit))
    }

    /// The number that none has.
    #[must_use]
    pub fn limit(&self) -> u32 {
        self.0.limit()
    }

    /// The descriptor of a number.
    pub fn get(&self, number: i32) -> Result<&Descriptor, Errno> {
        let number = u32::try_from(number).map_err(|_| Errno::EBADF)?;
        self.0.get(number).ok_or(Errno::EBADF)
    }

    /// Sets whether `execve` closes a descriptor.
    pub fn set_close_on_exec(&mut self, number: i32, close: bool) -> Result<(), Errno> {
        let number = u32::try_from(number).map_err(|_| Errno::EBADF)?;
        let descriptor = self.0.get_mut(number).ok_or(Errno::EBADF)?;
        descriptor.close_on_exec = close;
        Ok(())
    }

    /// The first number from `first` on that has a descriptor.
    #[must_use]
    pub fn next(&self, first: u32) -> Option<u32> {
        self.0.numbers(first).next()
    }

    /// Closes a descriptor.
    pub fn close(
        &mut self,
        number: i32,
        files: &mut Files,
        frames: &mut Frames,
    ) -> Result<(), Errno> {
        let number = u32::try_from(number).map_err(|_| Errno::EBADF)?;
        let descriptor = self.0.remove(number, frames).ok_or(Errno::EBADF)?;
        files.close(descriptor.file, frames);
        Ok(())
    }

    /// Closes all, or those that `execve` closes.
    pub(crate) fn close_all(&mut self, on_exec: bool, files: &mut Files, frames: &mut Frames) {
        let mut next = 0;
        while let Some(number) = self.next(next) {
            let closes = |descriptor: &Descriptor| !on_exec || descriptor.close_on_exec;
            if self.0.get(number).is_some_and(closes) {
                // It exists.
                let _ = self.close(number.cast_signed(), files, frames);
            }
            next = number + 1;
        }
    }

    /// Descriptors of the same descriptions, by the same numbers.
    pub(crate) fn share(&self, files: &mut Files, frames: &mut Frames) -> Result<Self, Errno> {
        let mut copy = Self::new(self.limit());
        for number in self.0.numbers(0) {
            let Some(Descriptor {
                file,
                close_on_exec,
            }) = self.0.get(number)
            else {
                continue;
            };
            let shared = Descriptor {
                file: files.share(file),
                close_on_exec: *close_on_exec,
            };
            if let Err(shared) = copy.0.insert(shared, number, frames) {
                files.close(shared.file, frames);
                copy.close_all(false, files, frames);
                return Err(Errno::ENOMEM);
            }
        }
        Ok(copy)
    }
}

/// How a process ended, as `wait4` reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// By `exit`.
    Exit(u8),
    /// By a signal.
    Signal(u8),
}

impl End {
    /// The status word of `wait4`.
    #[must_use]
    pub fn status(self) -> u32 {
        match self {
            Self::Exit(code) => u32::from(code) << 8,
            Self::Signal(number) => number.into(),
        }
    }
}

#[cfg(target_os = "none")]
unsafe extern "Rust" {
    // SAFETY: `statics!` defines it with this type, and no code writes it.
    safe static TENON_PROCESS_DESCRIPTORS: u32;
}

/// Descriptors of a process at most.
pub(crate) fn descriptor_limit() -> u32 {
    #[cfg(target_os = "none")]
    return TENON_PROCESS_DESCRIPTORS;
    #[cfg(not(target_os = "none"))]
    return 64;
}

/// A process.
#[derive(Debug)]
pub struct Process {
    /// Its number.
    pub number: u32,
    /// Its parent's number.
    pub parent: u32,
    /// Its address space, until it ends.
    pub space: Option<Space>,
    /// The heap of `brk`: its start and its end.
    pub heap: Range<usize>,
    /// Its descriptors.
    pub files: Descriptors,
    /// The inode of its working directory, which it holds.
    pub directory: u32,
    /// The permissions that files which it creates do not get.
    pub mask: u32,
    /// The name of its program.
    pub(crate) name: String<{ NAME - 1 }>,
    /// How it ended; it waits to be collected then.
    pub end: Option<End>,
    /// The end of its first thread, where that left the others.
    pub(crate) exit: Option<End>,
    /// It has called `execve` since it was created.
    pub(crate) own_program: bool,
}

impl Process {
    /// A process without a program, in an inode as its working directory.
    pub(crate) const fn new(
        (number, parent): (u32, u32),
        space: Space,
        files: Descriptors,
        directory: u32,
    ) -> Self {
        Self {
            number,
            parent,
            space: Some(space),
            heap: 0..0,
            files,
            directory,
            mask: 0o22,
            name: String::new(),
            end: None,
            exit: None,
            own_program: false,
        }
    }

    /// The address space.
    pub fn space(&mut self) -> Result<&mut Space, Errno> {
        self.space.as_mut().ok_or(Errno::ESRCH)
    }

    /// The name of its program.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Sets the name, as much of it as there is room for.
    pub fn set_name(&mut self, name: &str) {
        self.name.clear();
        for character in name.chars() {
            if self.name.push(character).is_err() {
                break;
            }
        }
    }

    /// The descriptor of a number.
    pub fn descriptor(&self, number: i32) -> Result<&Descriptor, Errno> {
        self.files.get(number)
    }

    /// Puts a reference at the lowest free number from `least` on.
    pub fn install(
        &mut self,
        file: FileReference,
        close_on_exec: bool,
        least: u32,
        frames: &mut Frames,
    ) -> Result<u32, FileReference> {
        let descriptor = Descriptor {
            file,
            close_on_exec,
        };
        let installed = self.files.0.insert(descriptor, least, frames);
        installed.map_err(|descriptor| descriptor.file)
    }
}
