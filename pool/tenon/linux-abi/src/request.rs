//! [`ioctl`]: requests to devices and other objects.

use tenon_linux_files::flag;
use tenon_linux_lock::owner;
use tenon_process::user_memory;
use tenon_process::{Caller, Errno, Object, serves, with_state};
use tenon_vfs::Device;

/// The number of `fcntl`, without which there are no owners of descriptions.
const FCNTL: usize = 25;

/// `ioctl`: requests of the terminal; bytes that can be read.
pub fn ioctl(caller: &Caller) -> Result<u64, Errno> {
    /// `FIONREAD`.
    const READABLE: u64 = 0x541b;
    /// `FIONBIO`.
    const NON_BLOCKING: u64 = 0x5421;
    /// `FIOASYNC`.
    const ASYNC: u64 = 0x5452;
    /// `RNDGETENTCNT`.
    const ENTROPY: u64 = 0x8004_5200;
    /// `FIONCLEX` and `FIOCLEX`.
    const CLOSE_ON_EXEC: [u64; 2] = [0x5450, 0x5451];
    let request = caller.argument(1);
    with_state(|state| {
        let (process, _, files) = caller.parts(state)?;
        let flags = files.get(&process.descriptor(caller.int(0))?.file)?.flags;
        if flags & flag::PATH != 0 {
            return Err(Errno::EBADF);
        }
        let mut wanted = [0; 4];
        if request == NON_BLOCKING || request == ASYNC {
            user_memory::read(state, caller, caller.address(2), &mut wanted)?;
        }
        let (process, _, files) = caller.parts(state)?;
        if CLOSE_ON_EXEC.contains(&request) {
            let closes = request == CLOSE_ON_EXEC[1];
            process.files.set_close_on_exec(caller.int(0), closes)?;
            return Ok(0);
        }
        let description = files.get(&process.descriptor(caller.int(0))?.file)?;
        if request == NON_BLOCKING {
            description.flags &= !flag::NONBLOCK;
            if wanted != [0; 4] {
                description.flags |= flag::NONBLOCK;
            }
            return Ok(0);
        }
        if request == ASYNC && serves(FCNTL) {
            let on = wanted != [0; 4];
            if on != (flags & owner::ASYNC != 0) {
                owner::set_async(state, caller, on)?;
            }
            return Ok(0);
        }
        if let Object::Device(Device::Console, _) = description.object {
            return tenon_linux_tty::request(state, caller);
        }
        let object = description.object;
        if let Object::Device(Device::Random | Device::Urandom, _) = object
            && request == ENTROPY
        {
            let bits: u32 = if state.entropy.is_seeded() { 256 } else { 0 };
            user_memory::write(state, caller, caller.address(2), &bits.to_le_bytes())?;
            return Ok(0);
        }
        if request != READABLE {
            return Err(Errno::ENOTTY);
        }
        let (object, offset) = (&description.object, description.offset);
        let count = match *object {
            Object::Special(special) => {
                (special.operations.available)(files, special.number)? as u64
            }
            Object::Pipe(index, ..) => files.fill(index).unwrap_or_default().0 as u64,
            Object::File(inode) => {
                let size = files.tree.files.inode(inode)?.size;
                size.saturating_sub(offset)
            }
            _ => return Err(Errno::ENOTTY),
        };
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        user_memory::write(state, caller, caller.address(2), &count.to_le_bytes())?;
        Ok(0)
    })
}
