//! A process: its address space, descriptors and end.

use crate::errno::Errno;
use crate::file::FileReference;
use crate::program::Space;
use core::ops::Range;
use heapless::String;

/// Descriptors of a process.
pub const DESCRIPTORS: usize = 32;
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
    pub files: [Option<Descriptor>; DESCRIPTORS],
    /// The path of its working directory.
    pub directory: &'static str,
    /// The name of its program.
    pub(crate) name: String<{ NAME - 1 }>,
    /// How it ended; it waits to be collected then.
    pub end: Option<End>,
    /// It has called `execve` since it was created.
    pub(crate) own_program: bool,
    /// Its thread is about to park, or has parked, until something changes.
    pub(crate) waits: bool,
}

impl Process {
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
        let index = usize::try_from(number).map_err(|_| Errno::EBADF)?;
        self.files
            .get(index)
            .and_then(Option::as_ref)
            .ok_or(Errno::EBADF)
    }

    /// Puts a reference at the lowest free number from `least` on.
    pub fn install(
        &mut self,
        file: FileReference,
        close_on_exec: bool,
        least: usize,
    ) -> Result<usize, FileReference> {
        let free = (least..DESCRIPTORS).find(|index| self.files[*index].is_none());
        let Some(index) = free else { return Err(file) };
        self.files[index] = Some(Descriptor {
            file,
            close_on_exec,
        });
        Ok(index)
    }
}
