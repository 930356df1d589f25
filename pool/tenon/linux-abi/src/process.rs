//! Creation, programs and end of processes.

use crate::user;
use tenon_process::{BEGUN, Caller, End, Errno, State, with_state};
use tenon_vfs::Path;

/// `exit` and `exit_group`: a process has one thread.
pub fn exit(caller: &Caller) -> Result<u64, Errno> {
    with_state(|state| caller.exit(state, End::Exit(caller.int(0) as u8)))?;
    Ok(0)
}

/// Flags of `clone`.
mod flag {
    pub const MEMORY: u64 = 0x100;
    pub const VFORK: u64 = 0x4000;
    pub const THREAD_POINTER: u64 = 0x8_0000;
    pub const PARENT_NUMBER: u64 = 0x10_0000;
    pub const CHILD_NUMBER: u64 = 0x100_0000;
    /// The signal at the end.
    pub const SIGNAL: u64 = 0xff;
    /// `CLONE_CHILD_CLEARTID`, which threads need, and `CLONE_DETACHED`, which has no effect.
    pub const WITHOUT_EFFECT: u64 = 0x20_0000 | 0x40_0000;
    pub const ALL: u64 =
        MEMORY | VFORK | THREAD_POINTER | PARENT_NUMBER | CHILD_NUMBER | SIGNAL | WITHOUT_EFFECT;
}

/// `clone` as `fork`, and as `vfork`, whose parent waits until the child has its own program. Memory
/// is copied in either case.
pub fn clone(caller: &Caller) -> Result<u64, Errno> {
    let flags = caller.argument(0);
    let vfork = flags & flag::VFORK != 0;
    if flags & !flag::ALL != 0 || flags & flag::MEMORY != 0 && !vfork {
        // `CLONE_VM` without `CLONE_VFORK` is a thread.
        return Err(Errno::EINVAL);
    }
    let child_number = (flags & flag::CHILD_NUMBER != 0).then(|| caller.address(4));
    let pointer = (flags & flag::THREAD_POINTER != 0).then(|| caller.argument(3));
    let number = with_state(|state| {
        let number = caller.fork(state, caller.argument(1), pointer, child_number)?;
        if flags & flag::PARENT_NUMBER != 0 {
            let to = caller.address(2);
            // The child exists: an address that cannot be written is no error, as in Linux.
            let _ = user::write(state, caller, to, &number.to_le_bytes());
        }
        Ok::<_, Errno>(number)
    })?;
    if vfork {
        caller.wait(|state| Ok(state.has_own_program(number).then_some(())))?;
    }
    Ok(number.into())
}

/// `execve`.
pub fn execve(caller: &Caller) -> Result<u64, Errno> {
    with_state(|state| {
        let mut path = Path::new();
        user::path(state, caller, caller.address(0), &mut path)?;
        state.strings.clear();
        collect(state, caller, caller.address(1), false)?;
        collect(state, caller, caller.address(2), true)?;
        // Names of programs are UTF-8.
        let path = core::str::from_utf8(path.bytes()).map_err(|_| Errno::ENOENT)?;
        caller.execute(state, path)?;
        state.wake();
        BEGUN
    })
}

/// Copies the strings of a vector of pointers.
fn collect(
    state: &mut State,
    caller: &Caller,
    mut vector: usize,
    environment: bool,
) -> Result<(), Errno> {
    if vector == 0 {
        return Ok(());
    }
    loop {
        let mut bytes = [0; 8];
        user::read(state, caller, vector, &mut bytes)?;
        let string = u64::from_le_bytes(bytes) as usize;
        if string == 0 {
            return Ok(());
        }
        caller.push_string(state, string, environment)?;
        vector = vector.wrapping_add(8);
    }
}

/// `wait4`: the caller's children, without groups.
pub fn wait4(caller: &Caller) -> Result<u64, Errno> {
    const NO_HANG: u64 = 1;
    let number = match caller.int(0) {
        -1 => None,
        number if number > 0 => Some(number as u32),
        _ => None,
    };
    let no_hang = caller.argument(2) & NO_HANG != 0;
    let to = caller.address(1);
    caller.wait(|state| {
        let Some((number, end)) = caller.collect(state, number, true)? else {
            return Ok(no_hang.then_some(0));
        };
        if to != 0 {
            user::write(state, caller, to, &end.status().to_le_bytes())?;
        }
        caller.collect(state, Some(number), false)?;
        Ok(Some(number.into()))
    })
}

/// `set_tid_address`: the number of the thread. A process with one thread needs no more.
pub fn set_tid_address(caller: &Caller) -> Result<u64, Errno> {
    Ok(caller.process().into())
}

/// `set_robust_list`: a process with one thread needs none.
pub fn set_robust_list(_: &Caller) -> Result<u64, Errno> {
    Ok(0)
}

/// `futex`: nothing waits in a process with one thread.
pub fn futex(caller: &Caller) -> Result<u64, Errno> {
    const OPERATION: u64 = 0x7f;
    const WAIT: u64 = 0;
    const WAKE: u64 = 1;
    match caller.argument(1) & OPERATION {
        WAKE => Ok(0),
        WAIT => Err(Errno::EAGAIN),
        _ => Err(Errno::ENOSYS),
    }
}
