//! What Mortise tells.

use crate::{Error, Function, Vm, ask};
use core::sync::atomic::{AtomicU64, Ordering};

/// Bytes of an answer about one VM.
pub(crate) const SIZE: usize = 256;
/// Bytes of a console that are read at a time.
pub(crate) const TEXT: usize = 256;

/// What all that may be made takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Totals {
    /// Version of these calls.
    pub version: u64,
    /// Places for VMs, those of the system included.
    pub slots: u64,
    /// Bytes of the reserve that this VM may still take.
    pub free: u64,
}

impl Totals {
    /// As they are now.
    ///
    /// # Errors
    ///
    /// [`Error::Denied`] if this VM has no authority, [`Error::NotSupported`] without Mortise.
    pub fn read() -> Result<Self, Error> {
        let [version, slots, free] = ask(Function::Version, [0; 4])?;
        Ok(Self {
            version,
            slots,
            free,
        })
    }
}

/// Where in its life a VM is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum State {
    /// Something else: it is being made, restarted or destroyed.
    Changing = 0,
    /// It begins to run.
    Starting = 1,
    /// It runs.
    Running = 2,
    /// It faulted.
    Stopped = 3,
    /// It turned itself off.
    Off = 4,
    /// It was made, and did not run yet.
    Created = 6,
    /// It is kept from running.
    Paused = 7,
    /// Its run ends, and a core of it sleeps where nothing wakes it.
    Lost = 10,
}

impl State {
    const fn from_number(number: u64) -> Self {
        match number {
            1 => Self::Starting,
            2 => Self::Running,
            3 => Self::Stopped,
            4 => Self::Off,
            6 => Self::Created,
            7 => Self::Paused,
            10 => Self::Lost,
            _ => Self::Changing,
        }
    }
}

/// A VM in the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Listed {
    /// Which.
    pub vm: Vm,
    /// Where in its life.
    pub state: State,
    /// Its vCPUs.
    pub vcpus: u64,
    /// Bytes of its memory.
    pub memory: u64,
}

impl Listed {
    /// Who is in a place, if it is a VM that this one has authority over.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] behind the last place.
    pub fn at(slot: u64) -> Result<Option<Self>, Error> {
        let [handle, what, memory] = ask(Function::List, [slot, 0, 0, 0])?;
        Ok((handle != 0).then_some(Self {
            vm: Vm::from_handle(handle),
            state: State::from_number(what & 0xff),
            vcpus: what >> 16,
            memory,
        }))
    }
}

/// Words that Mortise writes, within one page.
#[derive(Debug)]
#[repr(C, align(256))]
pub struct Text {
    words: [AtomicU64; TEXT / 8],
}

impl Text {
    /// Zeros.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            words: [const { AtomicU64::new(0) }; TEXT / 8],
        }
    }

    /// Its bytes.
    #[must_use]
    pub fn bytes(&self) -> [u8; TEXT] {
        let mut bytes = [0; TEXT];
        for (to, word) in bytes.chunks_mut(8).zip(&self.words) {
            to.copy_from_slice(&word.load(Ordering::Relaxed).to_le_bytes());
        }
        bytes
    }
}

impl Default for Text {
    fn default() -> Self {
        Self::new()
    }
}

/// What a VM is and did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Statistics {
    /// Where in its life it is.
    pub state: State,
    /// Its vCPUs.
    pub vcpus: u64,
    /// How often it was started again.
    pub restarts: u64,
    /// Bytes of its memory.
    pub memory: u64,
    /// Nanoseconds since it was made.
    pub age_ns: u64,
    /// Its exits: interrupt, hypercall, MMIO, system register, WFI, other.
    pub exits: [u64; 6],
    /// How often it was denied something.
    pub denied: u64,
}

/// An answer as Mortise writes it.
pub(crate) struct Page(Text);

impl Page {
    pub(crate) const fn new() -> Self {
        Self(Text::new())
    }

    pub(crate) fn read(&self) -> Statistics {
        let word = |at: usize| {
            let word = self.0.words.get(at / 8);
            u64::from_le(word.map_or(0, |word| word.load(Ordering::Relaxed)))
        };
        let mut exits = [0; 6];
        for (index, exit) in exits.iter_mut().enumerate() {
            *exit = word(0x40 + index * 8);
        }
        Statistics {
            state: State::from_number(word(0) >> 32),
            vcpus: word(0x28) & 0xffff_ffff,
            restarts: word(0x28) >> 32,
            memory: word(0x30),
            age_ns: word(0x38),
            exits,
            denied: word(0x70),
        }
    }
}
