//! [`lseek`]: offsets of descriptors.

use tenon_linux_files::flag;
use tenon_process::{Caller, Errno, Object, with_state};
use tenon_vfs::Device;

/// `lseek` to data or to a hole, in steps.
fn seek(caller: &Caller, data: bool) -> Result<u64, Errno> {
    let mut at = caller.argument(1);
    loop {
        let (offset, done) = with_state(|state| {
            let (process, _, files) = caller.parts(state)?;
            let file = &process.descriptor(caller.int(0))?.file;
            let description = files.get(file)?;
            if description.flags & flag::PATH != 0 {
                return Err(Errno::EBADF);
            }
            let inode = match description.object {
                Object::File(inode) => inode,
                Object::Directory(_) | Object::Device(..) => return Err(Errno::EINVAL),
                Object::Pipe(..) | Object::Special(_) => return Err(Errno::ESPIPE),
            };
            let size = files.tree.files.inode(inode)?.size;
            if at >= size {
                return Err(Errno::ENXIO);
            }
            let (offset, done) = files.tree.files.seek(inode, at, data)?;
            if done && data && offset == size {
                return Err(Errno::ENXIO);
            }
            if done {
                files.get(file)?.offset = offset;
            }
            Ok((offset, done))
        })?;
        if done {
            return Ok(offset);
        }
        at = offset;
    }
}

/// `lseek`.
pub fn lseek(caller: &Caller) -> Result<u64, Errno> {
    const SET: u64 = 0;
    const CURRENT: u64 = 1;
    const END: u64 = 2;
    /// `SEEK_DATA` and `SEEK_HOLE`.
    const DATA: u64 = 3;
    const HOLE: u64 = 4;
    if matches!(caller.argument(2), DATA | HOLE) {
        return seek(caller, caller.argument(2) == DATA);
    }
    with_state(|state| {
        let (process, _, files) = caller.parts(state)?;
        let file = &process.descriptor(caller.int(0))?.file;
        let description = files.get(file)?;
        if description.flags & flag::PATH != 0 {
            return Err(Errno::EBADF);
        }
        let before = description.offset;
        let size = match description.object {
            Object::File(inode) => files.tree.files.inode(inode)?.size,
            Object::Directory(_) => 0,
            // What has no type in `stat` has no offset, and setting it does nothing.
            Object::Special(special) if special.operations.mode >> 12 == 0 => return Ok(0),
            Object::Pipe(..) | Object::Special(_) | Object::Device(Device::Console, _) => {
                return Err(Errno::ESPIPE);
            }
            Object::Device(..) => return Ok(0),
        };
        let base = match caller.argument(2) {
            SET => 0,
            CURRENT => before,
            END => size,
            _ => return Err(Errno::EINVAL),
        };
        let offset = base.checked_add_signed(caller.argument(1) as i64);
        let offset = offset.filter(|offset| *offset <= i64::MAX as u64);
        let offset = offset.ok_or(Errno::EINVAL)?;
        files.get(file)?.offset = offset;
        Ok(offset)
    })
}
