//! VM information from Mortise: totals, listing, statistics.

use crate::{Error, Function, Vm, ask};
use core::sync::atomic::{AtomicU64, Ordering};

/// Size of the record of one VM.
pub(crate) const SIZE: usize = 256;
/// Maximum number of console bytes per read.
pub(crate) const TEXT: usize = 256;

/// Resources for VMs created at run time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Totals {
    /// Version of the interface.
    pub version: u64,
    /// VM slots, those of the system included.
    pub slots: u64,
    /// Bytes of the reserve left to this VM.
    pub free: u64,
}

impl Totals {
    /// Reads the current values.
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

/// Life-cycle state of a VM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum State {
    /// In transition: being created, restarted or destroyed.
    Changing = 0,
    /// Starting.
    Starting = 1,
    /// Running.
    Running = 2,
    /// Stopped by a fault.
    Stopped = 3,
    /// Powered off by itself.
    Off = 4,
    /// Created and not started.
    Created = 6,
    /// Paused.
    Paused = 7,
    /// Stopping, with a lost core.
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

/// An entry of the VM listing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Listed {
    /// The VM.
    pub vm: Vm,
    /// Its state.
    pub state: State,
    /// Number of its vCPUs.
    pub vcpus: u64,
    /// Bytes of its memory.
    pub memory: u64,
}

impl Listed {
    /// The VM in a slot, if this VM has authority over it.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] beyond the last slot.
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

/// A buffer for Mortise, within one page.
#[derive(Debug)]
#[repr(C, align(256))]
pub struct Text {
    words: [AtomicU64; TEXT / 8],
}

impl Text {
    /// A cleared buffer.
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

/// State and statistics of a VM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Statistics {
    /// Its state.
    pub state: State,
    /// Number of its vCPUs.
    pub vcpus: u64,
    /// Number of restarts.
    pub restarts: u64,
    /// Bytes of its memory.
    pub memory: u64,
    /// Nanoseconds since its creation.
    pub age_ns: u64,
    /// Its exits: interrupt, hypercall, MMIO, system register, WFI, other.
    pub exits: [u64; 6],
    /// Number of denied operations.
    pub denied: u64,
}

/// Decodes Mortise's record.
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
