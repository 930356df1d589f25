//! A thread of a process, as the state of processes has it.

/// What wakes a thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Waiting {
    /// It does not wait.
    #[default]
    No,
    /// Any [change](crate::State::wake) of the state.
    Change,
    /// What it waits for alone, a [`wake_thread`](crate::State::wake_thread).
    Event,
}

/// What threads that use the same word have in common. No memory is shared between processes, so
/// that a word belongs to one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    pub(crate) process: usize,
    pub(crate) address: usize,
}

/// A thread of a process.
#[derive(Debug)]
pub struct Thread {
    /// Its number; that of the process for the first one.
    pub number: u32,
    /// The index of its process.
    pub(crate) process: usize,
    /// What wakes it.
    pub(crate) waiting: Waiting,
    /// The word for which it waits.
    pub(crate) futex: Option<FutexWait>,
    /// The address of the word that its end clears, or zero (`set_tid_address`).
    pub clear_number: usize,
    /// The address of its list of robust futexes, or zero.
    pub robust_list: usize,
}

/// What a new thread has of its own.
#[derive(Clone, Copy, Debug, Default)]
pub struct NewThread {
    /// Its stack pointer, if not zero.
    pub stack: u64,
    /// Its thread pointer.
    pub pointer: Option<u64>,
    /// Where it finds its number.
    pub own_number: Option<usize>,
    /// The address of the word that its end clears, or zero.
    pub clear_number: usize,
}

/// A wait for a futex.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FutexWait {
    pub(crate) key: Key,
    pub(crate) bits: u32,
    /// Its place among all waits.
    pub(crate) order: u64,
}

impl Thread {
    pub(crate) const fn new(number: u32, process: usize) -> Self {
        Self {
            number,
            process,
            waiting: Waiting::No,
            futex: None,
            clear_number: 0,
            robust_list: 0,
        }
    }
}
