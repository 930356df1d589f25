//! Errors of vLib calls.

use core::fmt;

/// Error of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// The system assigns no such vLib to this VM; on bare metal there is none.
    Absent,
    /// The expiry interrupt has no handler: TENON_IRQ_LINES is too small.
    Interrupt(u32),
    /// The vLib's free memory does not suffice, or all channels are in use.
    NoMemory,
    /// A call on this channel is in progress.
    Busy,
    /// No server in Linux serves the vLib.
    NotListening,
    /// The server ended during the call.
    Gone,
    /// The deadline has passed. The call is not lost: the next one on the same channel continues
    /// it.
    TimedOut,
    /// A former run of this VM left a call, which was completed only now; it may have corrupted the
    /// arguments of this call, which was not made and must be prepared again.
    Stale,
    /// No thread is available for asynchronous calls.
    NoThread,
    /// The admission test rejects the budget.
    Overload,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Self::Absent => "this VM has no such vLib",
            Self::Interrupt(intid) => {
                return write!(f, "interrupt {intid} is beyond TENON_IRQ_LINES, or in use");
            }
            Self::NoMemory => "the vLib has no room for such a channel",
            Self::Busy => "the channel has a call in progress",
            Self::NotListening => "nobody listens at the vLib",
            Self::Gone => "the server of the vLib ended in the call",
            Self::TimedOut => "the call's deadline passed",
            Self::Stale => "a former run's call was completed instead of this",
            Self::NoThread => "there is no thread for asynchronous calls",
            Self::Overload => "the core cannot admit that budget",
        };
        f.write_str(text)
    }
}

impl core::error::Error for Error {}
