//! Creation, programs and end of processes.

use crate::user;
use tenon_process::{BEGUN, Caller, End, Errno, NewThread, State, with_state};
use tenon_vfs::Path;

/// The highest number of a signal.
const SIGNALS: u64 = 64;

/// `exit`: ends the thread.
pub fn exit(caller: &Caller) -> Result<u64, Errno> {
    with_state(|state| caller.exit_thread(state, caller.int(0) as u8))?;
    Ok(0)
}

/// `exit_group`: ends the process with all its threads.
pub fn exit_group(caller: &Caller) -> Result<u64, Errno> {
    with_state(|state| caller.exit(state, End::Exit(caller.int(0) as u8)))?;
    Ok(0)
}

/// Flags of `clone`.
mod flag {
    pub const MEMORY: u64 = 0x100;
    pub const DIRECTORY: u64 = 0x200;
    pub const FILES: u64 = 0x400;
    pub const HANDLERS: u64 = 0x800;
    pub const VFORK: u64 = 0x4000;
    pub const THREAD: u64 = 0x1_0000;
    pub const SEMAPHORES: u64 = 0x4_0000;
    pub const THREAD_POINTER: u64 = 0x8_0000;
    pub const PARENT_NUMBER: u64 = 0x10_0000;
    pub const CLEAR_NUMBER: u64 = 0x20_0000;
    /// `CLONE_DETACHED`, which has no effect.
    pub const DETACHED: u64 = 0x40_0000;
    pub const CHILD_NUMBER: u64 = 0x100_0000;
    /// What a thread shares: all of it, or it is none.
    pub const SHARED: u64 = MEMORY | DIRECTORY | FILES | HANDLERS | THREAD;
    /// What a thread and a process can have.
    pub const COMMON: u64 = THREAD_POINTER | PARENT_NUMBER | CLEAR_NUMBER | DETACHED | CHILD_NUMBER;
}

/// What `clone` and `clone3` state.
struct Creation {
    flags: u64,
    signal: u64,
    stack: u64,
    pointer: u64,
    parent_number: usize,
    child_number: usize,
}

/// `clone`: a thread of the process, or a copy of it: `fork`, and `vfork`, where the parent waits until
/// the child has its own program. Memory is copied in either case.
pub fn clone(caller: &Caller) -> Result<u64, Errno> {
    const SIGNAL: u64 = 0xff;
    let flags = caller.argument(0);
    let creation = Creation {
        flags: flags & !SIGNAL,
        signal: flags & SIGNAL,
        stack: caller.argument(1),
        pointer: caller.argument(3),
        parent_number: caller.address(2),
        child_number: caller.address(4),
    };
    create(caller, &creation)
}

/// `clone3`: as `clone`, by a structure.
pub fn clone3(caller: &Caller) -> Result<u64, Errno> {
    /// Words of the first version of `struct clone_args`.
    const FIRST: usize = 64;
    /// Bytes of a structure at most, as in Linux.
    const MOST: usize = 4096;
    let (from, size) = (caller.address(0), caller.address(1));
    match size {
        size if size < FIRST => return Err(Errno::EINVAL),
        size if size > MOST => return Err(Errno::E2BIG),
        _ => {}
    }
    let words: [u64; 8] = user::words(caller, from)?;
    let [
        flags,
        _,
        child_number,
        parent_number,
        signal,
        stack,
        size_of_stack,
        pointer,
    ] = words;
    // Versions with further words: numbers and groups that the caller chooses are not served.
    for at in (FIRST..size).step_by(8) {
        let mut bytes = [0; 8];
        let bytes = &mut bytes[..(size - at).min(8)];
        with_state(|state| user::read(state, caller, from.wrapping_add(at), bytes))?;
        if bytes.iter().any(|byte| *byte != 0) {
            return Err(Errno::EINVAL);
        }
    }
    if flags & 0xff != 0 || (stack == 0) != (size_of_stack == 0) {
        return Err(Errno::EINVAL);
    }
    let creation = Creation {
        flags,
        signal,
        stack: stack.wrapping_add(size_of_stack),
        pointer,
        parent_number: parent_number as usize,
        child_number: child_number as usize,
    };
    create(caller, &creation)
}

fn create(caller: &Caller, creation: &Creation) -> Result<u64, Errno> {
    let has = |flag: u64| creation.flags & flag != 0;
    let (thread, vfork) = (has(flag::THREAD), has(flag::VFORK));
    let known = if thread {
        flag::SHARED | flag::SEMAPHORES
    } else {
        flag::MEMORY | flag::VFORK
    };
    let whole = creation.flags & flag::SHARED == flag::SHARED;
    if creation.flags & !(known | flag::COMMON) != 0
        || thread && !whole
        || creation.signal > SIGNALS
        // Memory is shared by the threads of a process alone.
        || !thread && has(flag::MEMORY) && !vfork
    {
        return Err(Errno::EINVAL);
    }
    let new = NewThread {
        stack: creation.stack,
        pointer: has(flag::THREAD_POINTER).then_some(creation.pointer),
        own_number: has(flag::CHILD_NUMBER).then_some(creation.child_number),
        clear_number: if has(flag::CLEAR_NUMBER) {
            creation.child_number
        } else {
            0
        },
    };
    let number = with_state(|state| {
        let number = if thread {
            caller.create_thread(state, &new)?
        } else {
            caller.fork(state, &new)?
        };
        if has(flag::PARENT_NUMBER) {
            let to = creation.parent_number;
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

/// `execve`: the other threads of the process end.
pub fn execve(caller: &Caller) -> Result<u64, Errno> {
    let read = |state: &mut State, path: &mut Path| {
        user::path(state, caller, caller.address(0), path)?;
        state.strings.clear();
        collect(state, caller, caller.address(1), false)?;
        collect(state, caller, caller.address(2), true)?;
        caller.check_program(state, text(path)?)
    };
    // What can be refused is refused before they end.
    with_state(|state| read(state, &mut Path::new()))?;
    caller.wait(|state| Ok(caller.end_others(state)?.then_some(())))?;
    with_state(|state| {
        let mut path = Path::new();
        read(state, &mut path)?;
        caller.execute(state, text(&path)?)?;
        state.wake();
        BEGUN
    })
}

/// The path of a program: names of programs are UTF-8.
fn text(path: &Path) -> Result<&str, Errno> {
    core::str::from_utf8(path.bytes()).map_err(|_| Errno::ENOENT)
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

/// `set_tid_address`: the word that the end of the thread clears. Returns the thread's number.
pub fn set_tid_address(caller: &Caller) -> Result<u64, Errno> {
    with_state(|state| {
        caller.thread(state)?.clear_number = caller.address(0);
        Ok(caller.number().into())
    })
}
