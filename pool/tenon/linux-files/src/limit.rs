//! System limit `RLIMIT_FSIZE`, of the sizes of files.

use tenon_process::{Caller, Errno, State, resource};
use tenon_signal::number;

/// How many of some bytes the limit of file sizes lets the caller write at an offset. None are
/// `EFBIG`, with a signal.
pub fn room(state: &mut State, caller: &Caller, at: u64, length: usize) -> Result<usize, Errno> {
    let limits = &caller.parts(state)?.0.limits;
    let left = limits.soft(resource::FILE_SIZE).saturating_sub(at);
    if left == 0 && length > 0 {
        caller.raise(state, number::XFSZ)?;
        return Err(Errno::EFBIG);
    }
    Ok(length.min(usize::try_from(left).unwrap_or(usize::MAX)))
}

/// Checks the limit of file sizes for a file of a size.
pub fn check_size(state: &mut State, caller: &Caller, size: u64) -> Result<(), Errno> {
    let last = size.saturating_sub(1);
    room(state, caller, last, usize::from(size > 0)).map(drop)
}
