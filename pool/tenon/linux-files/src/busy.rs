//! [`check_not_executed`] and [`check_not_written`]: a file is executed or written.

use tenon_process::{Errno, State};
use tenon_vfs::Kind;

/// Fails with `ETXTBSY` if a process executes a file.
///
/// # Errors
///
/// `EBADF` if the inode does not exist.
pub fn check_not_executed(state: &State, inode: u32) -> Result<(), Errno> {
    const EXECUTABLE: u32 = 0o111;
    let found = state.files.tree.files.inode(inode)?;
    if found.kind != Kind::File || found.permissions & EXECUTABLE == 0 {
        return Ok(());
    }
    let mut next = 0;
    while let Some(process) = state.next_process(next) {
        if process.program() == Some(inode) {
            return Err(Errno::ETXTBSY);
        }
        next = process.number + 1;
    }
    Ok(())
}

/// Fails with `ETXTBSY` if a file is open for writing.
pub fn check_not_written(state: &State, inode: u32) -> Result<(), Errno> {
    let (_, writers) = state.files.accesses(inode);
    (writers == 0).then_some(()).ok_or(Errno::ETXTBSY)
}
