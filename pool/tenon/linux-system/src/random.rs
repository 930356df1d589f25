//! [`getrandom`].

use tenon_linux_abi::transfer::{MOST, unseeded};
use tenon_process::user_memory;
use tenon_process::{Caller, Errno, with_state};

/// `getrandom`: of the generator, once it has a seed. Without a source it never has one, and only
/// `GRND_INSECURE` gets bytes, which are not for keys.
pub fn getrandom(caller: &Caller) -> Result<u64, Errno> {
    const NONBLOCK: u64 = 1;
    const RANDOM: u64 = 2;
    const INSECURE: u64 = 4;
    /// Bytes between which the state is free for others.
    const PIECE: usize = 224;
    let flags = caller.argument(2);
    if flags & !(NONBLOCK | RANDOM | INSECURE) != 0 || flags & INSECURE != 0 && flags & RANDOM != 0
    {
        return Err(Errno::EINVAL);
    }
    let (to, size) = (caller.address(0), caller.address(1).min(MOST));
    let mut done = 0;
    loop {
        let part = (size - done).min(PIECE);
        let written = with_state(|state| {
            if flags & INSECURE == 0 && !state.entropy.is_seeded() {
                return Err(unseeded(flags & NONBLOCK != 0));
            }
            let mut bytes = [0; PIECE];
            let bytes = &mut bytes[..part];
            state.entropy.fill(bytes);
            user_memory::write(state, caller, to.wrapping_add(done), bytes)
        });
        match written {
            Err(error) if done == 0 => return Err(error),
            Err(_) => return Ok(done as u64),
            Ok(()) => done += part,
        }
        if done == size {
            return Ok(done as u64);
        }
    }
}
