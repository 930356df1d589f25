//! Errors of thread operations.

use core::fmt;

/// Error of an operation on a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// The storage holds a thread that has not ended.
    InUse,
    /// The stack is too small for the closure and a context.
    StackTooSmall,
    /// There is no core of that number.
    NoSuchCore,
    /// The thread has ended.
    Ended,
    /// A thread cannot join itself.
    Deadlock,
    /// The wait timed out.
    TimedOut,
    /// The admission test rejects the budget.
    Overload,
}

#[expect(non_upper_case_globals, reason = "the former name of a variant")]
impl Error {
    /// The former name of [`Error::Deadlock`].
    #[deprecated(note = "renamed to `Deadlock`")]
    pub const Itself: Self = Self::Deadlock;
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::InUse => "the thread's storage is in use",
            Self::StackTooSmall => "the thread's stack is too small for its closure",
            Self::NoSuchCore => "there is no core of that number",
            Self::Ended => "the thread has ended",
            Self::Deadlock => "a thread cannot wait for its own end",
            Self::TimedOut => "the time to wait was over",
            Self::Overload => "the core cannot promise that budget",
        })
    }
}

impl core::error::Error for Error {}
