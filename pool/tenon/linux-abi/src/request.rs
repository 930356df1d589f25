//! [`ioctl`]: requests to devices and other objects.

use tenon_linux_files::flag;
use tenon_linux_lock::owner;
use tenon_process::user_memory;
use tenon_process::{Caller, Errno, Object, State, capability, serves, with_state};
use tenon_vfs::Device;

/// The number of `fcntl`, without which there are no owners of descriptions.
const FCNTL: usize = 25;

/// Bits of a seed.
const SEED: i32 = 256;

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
    /// `RNDADDENTROPY`.
    const ADD_ENTROPY: u64 = 0x4008_5203;
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
            && let ENTROPY | ADD_ENTROPY = request
        {
            if request == ADD_ENTROPY {
                return add_entropy(state, caller);
            }
            let bits = if state.entropy.is_seeded() { SEED } else { 0 };
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

/// Adds bytes to the generator of random numbers: `struct rand_pool_info`, which states their bits of
/// entropy, their number, and the bytes. Those of a call with enough bits are a seed.
fn add_entropy(state: &mut State, caller: &Caller) -> Result<u64, Errno> {
    /// Bytes of a call at most.
    const MOST: usize = 4096;
    let own = &caller.parts(state)?.0.credentials;
    if !own.has(capability::SYS_ADMIN) {
        return Err(Errno::EPERM);
    }
    let mut words = [[0; 4]; 2];
    let from = caller.address(2);
    user_memory::read(state, caller, from, words.as_flattened_mut())?;
    let [bits, length] = words.map(i32::from_le_bytes);
    let length = usize::try_from(length).map_err(|_| Errno::EINVAL)?;
    if bits < 0 || length > MOST {
        return Err(Errno::EINVAL);
    }
    let (mut at, end) = (from.wrapping_add(8), from.wrapping_add(8 + length));
    while at != end {
        let mut bytes = [0; 32];
        let count = bytes.len().min(end.wrapping_sub(at));
        user_memory::read(state, caller, at, &mut bytes[..count])?;
        at = at.wrapping_add(count);
        if count == bytes.len() && bits >= SEED {
            state.entropy.seed(&bytes);
        } else {
            state.entropy.add(&bytes[..count]);
        }
    }
    Ok(0)
}
