//! What can go wrong.

use core::fmt;

/// Why something was not done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// The system gives this VM no such vLib to call; on bare metal there is none.
    Absent,
    /// The interrupt that tells of ends has no handler: TENON_IRQ_LINES is too small.
    Interrupt(u32),
    /// What is left of the vLib's memory does not suffice, or there are as many channels as can be.
    NoMemory,
    /// A call on this channel is under way.
    Busy,
    /// Nobody listens there, yet or any more.
    NotListening,
    /// The server ended in the call.
    Gone,
    /// The time was over. The call is not lost: another one on the same channel goes on with it.
    TimedOut,
    /// Who had this VM before left a call, which has ended only now: what was written for this one may
    /// be spoilt. It was not made; write it again.
    Stale,
    /// There is no thread for asynchronous calls.
    NoThread,
    /// The core cannot promise that budget.
    Overload,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Self::Absent => "the system gives this VM no such vLib",
            Self::Interrupt(intid) => {
                return write!(f, "interrupt {intid} is beyond TENON_IRQ_LINES, or in use");
            }
            Self::NoMemory => "the vLib has no room for such a channel",
            Self::Busy => "a call on this channel is under way",
            Self::NotListening => "nobody listens at the vLib",
            Self::Gone => "the server of the vLib ended in the call",
            Self::TimedOut => "the time of the call was over",
            Self::Stale => "a call left behind has ended first, and this one was not made",
            Self::NoThread => "there is no thread for asynchronous calls",
            Self::Overload => "the core cannot promise that budget",
        };
        f.write_str(text)
    }
}

impl core::error::Error for Error {}
