//! [`memfd_create`]: files without a name.

use tenon_process::{Caller, Errno, with_state};

/// `O_RDWR`, `O_LARGEFILE`.
const FLAGS: u32 = 2 | 0o40_0000;
/// The longest name, with its NUL.
const NAME: usize = 250;

/// `memfd_create`: the name has no effect. Seals cannot be added.
pub fn memfd_create(caller: &Caller) -> Result<u64, Errno> {
    const CLOSE_ON_EXEC: u64 = 1;
    const ALLOW_SEALING: u64 = 2;
    /// `MFD_NOEXEC_SEAL`, `MFD_EXEC`.
    const NO_EXECUTE: u64 = 8;
    const EXECUTE: u64 = 0x10;
    let flags = caller.argument(1);
    let both = NO_EXECUTE | EXECUTE;
    if flags & !(CLOSE_ON_EXEC | ALLOW_SEALING | both) != 0 || flags & both == both {
        return Err(Errno::EINVAL);
    }
    with_state(|state| {
        let (process, frames, files) = caller.parts(state)?;
        let mut name = [0; NAME];
        let length = process
            .space()?
            .read_string(caller.address(0), &mut name, frames)?;
        if length == NAME {
            return Err(Errno::EINVAL);
        }
        let mode = if flags & NO_EXECUTE == 0 {
            0o777
        } else {
            0o666
        };
        let inode = files.tree.files.create_unnamed(mode, frames)?;
        let opened = files.open_inode(inode, FLAGS, frames);
        // The description holds it now.
        files.tree.files.let_go(inode, frames);
        let close_on_exec = flags & CLOSE_ON_EXEC != 0;
        process.install(opened?, (close_on_exec, 0), (files, frames))
    })
}
