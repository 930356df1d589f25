//! A thread of a process, as the state of processes has it.

use crate::slots;
use tenon_address_space::PAGE;
use tenon_files::Side;
use tenon_program::Space;

/// What wakes a thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Waiting {
    /// It does not wait.
    #[default]
    No,
    /// Any change of the state.
    Change,
    /// As for a change, and signals do not end the wait, unless they end the process.
    Killable,
    /// What it waits for alone, which wakes this thread.
    Event,
    /// Events of the sources at which it has enlisted.
    Source,
}

/// What threads that use the same word have in common: the process, or the object that processes
/// share, and the place in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    /// The index of the process.
    pub process: usize,
    /// The address of the word.
    pub address: usize,
}

impl Key {
    /// That of a word in the address space of the process of an index.
    #[inline]
    #[must_use]
    pub fn of(space: Option<&Space>, process: usize, address: usize) -> Self {
        let shared = space.filter(|space| space.shares());
        let shared = shared.and_then(|space| Self::shared(space, address));
        shared.unwrap_or(Self { process, address })
    }

    /// That of a word that processes share.
    #[cold]
    fn shared(space: &Space, address: usize) -> Option<Self> {
        let area = space.areas().find(address).filter(|area| area.is_shared());
        let (process, page) = area?.object(address)?;
        // Indices of processes are lower than any key.
        let address = page as usize * PAGE + address % PAGE;
        Some(Self { process, address })
    }
}

/// A thread of a process.
#[derive(Debug)]
pub struct Thread {
    /// Its number; that of the process for the first one.
    pub number: u32,
    /// The index of its process.
    pub process: usize,
    /// What wakes it.
    pub waiting: Waiting,
    /// The source at which it waits to read or to write.
    pub enlisted: Option<(u32, Side)>,
    /// The word for which it waits.
    pub futex: Option<FutexWait>,
    /// Which of several words has ended its wait for them (`futex_waitv`).
    pub woken_by: u32,
    /// The address of the word that its end clears, or zero (`set_tid_address`).
    pub clear_number: usize,
    /// The address of its list of robust futexes, or zero.
    pub robust_list: usize,
}

/// What a new thread has of its own.
#[derive(Clone, Copy, Debug, Default)]
pub struct NewThread {
    /// The signal that the end of a new process sends to its parent, or zero.
    pub end_signal: u8,
    /// Its stack pointer, if not zero.
    pub stack: u64,
    /// Its thread pointer.
    pub pointer: Option<u64>,
    /// Where it finds its number.
    pub own_number: Option<usize>,
    /// The address of the word that its end clears, or zero.
    pub clear_number: usize,
    /// It has the memory of its parent, which waits for it; a copy if that has other threads.
    pub borrows: bool,
}

/// A wait for a futex.
#[derive(Clone, Copy, Debug)]
pub struct FutexWait {
    /// Of the word.
    pub key: Key,
    /// What wakes it has one of these bits.
    pub bits: u32,
    /// Its place among all waits.
    pub order: u64,
    /// The lock that the thread is to have after the wait, and its address.
    pub lock: Option<(Key, usize)>,
}

impl Thread {
    /// A thread of a number, of the process of an index.
    #[must_use]
    pub const fn new(number: u32, process: usize) -> Self {
        Self {
            number,
            process,
            waiting: Waiting::No,
            enlisted: None,
            futex: None,
            woken_by: 0,
            clear_number: 0,
            robust_list: 0,
        }
    }

    /// Ends its wait, if it waits in the slot of an index.
    #[inline]
    pub fn wake(&mut self, index: usize) {
        if core::mem::take(&mut self.waiting) != Waiting::No
            && let Some(slot) = slots().get(index)
        {
            slot.wake();
        }
    }
}
