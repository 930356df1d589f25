//! [`open`]: descriptors of objects, as calls of this library open them.

use tenon_process::{Caller, Errno, Operations, State};

/// `O_NONBLOCK`.
pub(crate) const NONBLOCK: u32 = 0o4000;
/// `O_CLOEXEC`.
pub(crate) const CLOSE_ON_EXEC: u32 = 0o200_0000;
/// `O_RDWR`.
pub(crate) const READ_AND_WRITE: u32 = 2;
/// Nanoseconds of a second.
pub(crate) const SECOND: u64 = 1_000_000_000;

/// Gives an object, which is opened and noted with its source, a descriptor of the caller.
pub(crate) fn open(
    state: &mut State,
    caller: &Caller,
    (operations, number): (&'static Operations, u32),
    flags: u32,
    note: impl FnOnce(u32),
) -> Result<u64, Errno> {
    let (_, frames, files) = caller.parts(state)?;
    let status = flags & NONBLOCK | READ_AND_WRITE;
    match files.open_special(operations, number, status, frames) {
        Ok((file, source)) => {
            note(source);
            caller.install(state, file, flags & CLOSE_ON_EXEC != 0)
        }
        Err(error) => {
            (operations.close)(files, number, frames);
            Err(error)
        }
    }
}
