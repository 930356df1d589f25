//! Creation of processes and threads: [`clone`] and [`clone3`].

use crate::flag;
use crate::share::is_privileged;
use tenon_linux_signal::pidfd;
use tenon_process::user_memory;
use tenon_process::{Caller, Errno, NewThread, State, capability, with_state};

/// The highest number of a signal.
const SIGNALS: u64 = 64;
/// The number of the first process.
const FIRST: u32 = 1;

/// What `clone` and `clone3` state.
struct Creation {
    flags: u64,
    signal: u64,
    stack: u64,
    pointer: u64,
    parent_number: usize,
    child_number: usize,
    /// Where the descriptor is written to that names the child.
    descriptor: usize,
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
        descriptor: caller.address(2),
        child_number: caller.address(4),
    };
    // One word has one of both.
    if flags & flag::DESCRIPTOR != 0 && flags & flag::PARENT_NUMBER != 0 {
        return Err(Errno::EINVAL);
    }
    create(caller, &creation)
}

/// Bytes of the first version of `struct clone_args`.
const FIRST_VERSION: usize = 64;
/// Numbers of a child at most: one for each level of namespaces.
const NUMBERS: u64 = 32;

/// `clone3`: as `clone`, by a structure.
pub fn clone3(caller: &Caller) -> Result<u64, Errno> {
    /// Bytes of a structure at most, as in Linux.
    const MOST: usize = 4096;
    let (from, size) = (caller.address(0), caller.address(1));
    match size {
        size if size < FIRST_VERSION => return Err(Errno::EINVAL),
        size if size > MOST => return Err(Errno::E2BIG),
        _ => {}
    }
    let words: [u64; 8] = user_memory::words(caller, from)?;
    let [
        flags,
        descriptor,
        child_number,
        parent_number,
        signal,
        stack,
        size_of_stack,
        pointer,
    ] = words;
    let [set, count, group] = further(caller, from, size)?;
    if (set == 0) != (count == 0) || count > NUMBERS || group != 0 {
        return Err(Errno::EINVAL);
    }
    if flags & 0x7f != 0
        || (stack == 0) != (size_of_stack == 0)
        || signal > SIGNALS
        || flags & (flag::THREAD | flag::PARENT) != 0 && signal != 0
        || flags & flag::DETACHED != 0
    {
        return Err(Errno::EINVAL);
    }
    if count != 0 {
        return choose_number(caller, (set as usize, count));
    }
    let creation = Creation {
        flags,
        signal,
        stack: stack.wrapping_add(size_of_stack),
        pointer,
        parent_number: parent_number as usize,
        child_number: child_number as usize,
        descriptor: descriptor as usize,
    };
    create(caller, &creation)
}

/// Words of later versions of `struct clone_args`: numbers and their count, a control group. What lies
/// behind them is zero, or the structure is one of a later kernel (`E2BIG`).
fn further(caller: &Caller, from: usize, size: usize) -> Result<[u64; 3], Errno> {
    let mut words = [0; 3];
    let mut unknown = false;
    for at in (FIRST_VERSION..size).step_by(8) {
        let mut bytes = [0; 8];
        let part = &mut bytes[..(size - at).min(8)];
        with_state(|state| user_memory::read(state, caller, from.wrapping_add(at), part))?;
        match words.get_mut((at - FIRST_VERSION) / 8) {
            Some(word) => *word = u64::from_le_bytes(bytes),
            None => unknown |= bytes != [0; 8],
        }
    }
    if unknown {
        return Err(Errno::E2BIG);
    }
    Ok(words)
}

/// The error of numbers that a caller chooses for the child, which is not served.
fn choose_number(caller: &Caller, (set, count): (usize, u64)) -> Result<u64, Errno> {
    if count > 1 {
        return Err(Errno::EINVAL);
    }
    let mut bytes = [0; 4];
    with_state(|state| user_memory::read(state, caller, set, &mut bytes))?;
    let privileged = with_state(|state| {
        let (process, ..) = caller.parts(state)?;
        let ids = &process.credentials;
        let may = ids.has(capability::SYS_ADMIN) || ids.has(capability::CHECKPOINT_RESTORE);
        Ok::<_, Errno>(may)
    })?;
    Err(if i32::from_le_bytes(bytes) < 1 || privileged {
        Errno::EINVAL
    } else {
        Errno::EPERM
    })
}

fn create(caller: &Caller, creation: &Creation) -> Result<u64, Errno> {
    let has = |flag: u64| creation.flags & flag != 0;
    let (thread, vfork) = (has(flag::THREAD), has(flag::VFORK));
    let rights = with_state(|state| {
        let is_first = caller.process() == FIRST;
        Ok::<_, Errno>((is_first, is_privileged(state, caller)?))
    })?;
    flag::check(creation.flags, rights)?;
    if creation.signal > SIGNALS {
        return Err(Errno::EINVAL);
    }
    let new = NewThread {
        end_signal: creation.signal as u8,
        stack: creation.stack,
        pointer: has(flag::THREAD_POINTER).then_some(creation.pointer),
        own_number: has(flag::CHILD_NUMBER).then_some(creation.child_number),
        clear_number: if has(flag::CLEAR_NUMBER) {
            creation.child_number
        } else {
            0
        },
        // The parent could not write to its memory any more.
        borrows: vfork && has(flag::MEMORY) && !has(flag::PARENT_NUMBER),
    };
    let number = with_state(|state| {
        let number = if thread {
            caller.create_thread(state, &new)?
        } else if has(flag::DESCRIPTOR) {
            fork_with_descriptor(state, caller, (&new, creation.descriptor))?
        } else {
            caller.fork(state, &new)?
        };
        if has(flag::PARENT) && !thread {
            let (process, ..) = caller.parts(state)?;
            let (parent, signal) = (process.parent, process.end_signal);
            state.set_parent(number, (parent, signal))?;
        }
        if has(flag::PARENT_NUMBER) {
            let to = creation.parent_number;
            // The child exists: an address that cannot be written is no error, as in Linux.
            let _ = user_memory::write(state, caller, to, &number.to_le_bytes());
        }
        Ok::<_, Errno>(number)
    })?;
    if vfork {
        caller.wait_killable(|state| Ok(state.has_own_program(number).then_some(())))?;
    }
    Ok(number.into())
}

/// Creates a process, and a descriptor that names it, which the child does not have.
fn fork_with_descriptor(
    state: &mut State,
    caller: &Caller,
    (new, to): (&NewThread, usize),
) -> Result<u32, Errno> {
    let (descriptor, description) = pidfd::create(state, caller, (0, false), 0)?;
    let close = |state: &mut State, of: u32| {
        let (process, frames, files) = state.parts_of(of)?;
        process.files.close(descriptor as i32, files, frames)
    };
    let bytes = (descriptor as u32).to_le_bytes();
    let created =
        user_memory::write(state, caller, to, &bytes).and_then(|()| caller.fork(state, new));
    let number = match created {
        Ok(number) => number,
        Err(error) => {
            close(state, caller.process())?;
            return Err(error);
        }
    };
    pidfd::set_process(description, number);
    close(state, number)?;
    Ok(number)
}
