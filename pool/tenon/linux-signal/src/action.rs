//! System calls of actions, masks and alternate stacks, and the end of a handler.

use tenon_process::user_memory;
use tenon_process::{BEGUN, Caller, Errno, with_state};
use tenon_signal::{Action, AlternateStack, Set, flag, number};

/// Bytes of a set of signals, which calls state.
pub(crate) const SET: usize = 8;

/// The signal that an argument states.
pub(crate) fn signal(caller: &Caller, index: usize) -> Result<u8, Errno> {
    let signal = u8::try_from(caller.int(index)).map_err(|_| Errno::EINVAL)?;
    let known = signal <= tenon_signal::SIGNALS;
    known.then_some(signal).ok_or(Errno::EINVAL)
}

/// Reads a set of signals.
pub(crate) fn set(caller: &Caller, from: usize, size: usize) -> Result<Set, Errno> {
    if size != SET {
        return Err(Errno::EINVAL);
    }
    let [bits] = user_memory::words(caller, from)?;
    Ok(Set(bits))
}

/// `rt_sigaction`.
pub fn rt_sigaction(caller: &Caller) -> Result<u64, Errno> {
    let signal = signal(caller, 0)?;
    let (new, old) = (caller.address(1), caller.address(2));
    if caller.address(3) != SET || signal == 0 || new != 0 && Set::UNBLOCKABLE.has(signal) {
        return Err(Errno::EINVAL);
    }
    let action = match new {
        0 => None,
        from => {
            let [handler, flags, restorer, mask] = user_memory::words(caller, from)?;
            Some(Action {
                handler,
                flags: flags & flag::ALL,
                restorer,
                mask: Set(mask) & !Set::UNBLOCKABLE,
            })
        }
    };
    let before = with_state(|state| {
        let (process, _) = caller.indices(state)?;
        let before = *state.signals.shared(process).action(signal);
        if let Some(action) = action {
            caller.set_action(state, signal, action)?;
        }
        Ok::<_, Errno>(before)
    })?;
    if old != 0 {
        let words = [before.handler, before.flags, before.restorer, before.mask.0];
        user_memory::put_words(caller, old, words)?;
    }
    Ok(0)
}

/// `rt_sigprocmask`.
pub fn rt_sigprocmask(caller: &Caller) -> Result<u64, Errno> {
    const BLOCK: i32 = 0;
    const UNBLOCK: i32 = 1;
    const SET_MASK: i32 = 2;
    let (from, to) = (caller.address(1), caller.address(2));
    if caller.address(3) != SET {
        return Err(Errno::EINVAL);
    }
    let stated = match from {
        0 => None,
        from => Some(set(caller, from, SET)?),
    };
    let before = with_state(|state| {
        let (_, thread) = caller.indices(state)?;
        let before = state.signals.own(thread).mask;
        if let Some(stated) = stated {
            let mask = match caller.int(0) {
                BLOCK => before | stated,
                UNBLOCK => before & !stated,
                SET_MASK => stated,
                _ => return Err(Errno::EINVAL),
            };
            caller.set_mask(state, mask)?;
        }
        Ok(before)
    })?;
    if to != 0 {
        user_memory::put_words(caller, to, [before.0])?;
    }
    Ok(0)
}

/// `sigaltstack`.
pub fn sigaltstack(caller: &Caller) -> Result<u64, Errno> {
    /// `MINSIGSTKSZ`.
    const LEAST: u64 = 5120;
    const ON_STACK: u32 = 1;
    const DISABLE: u32 = 2;
    const DISARM: u32 = 1 << 31;
    let (from, to) = (caller.address(0), caller.address(1));
    let stated: Option<[u64; 3]> = match from {
        0 => None,
        from => Some(user_memory::words(caller, from)?),
    };
    let (before, on) = with_state(|state| {
        let (_, thread) = caller.indices(state)?;
        let own = state.signals.own(thread);
        let (before, on) = (own.stack, own.stack.has(caller.stack_pointer()));
        if let Some([start, flags, size]) = stated {
            if on && before.size != 0 {
                return Err(Errno::EPERM);
            }
            let flags = flags as u32;
            if !matches!(flags & !DISARM, 0 | ON_STACK | DISABLE) {
                return Err(Errno::EINVAL);
            }
            if flags & DISABLE == 0 && size < LEAST {
                return Err(Errno::ENOMEM);
            }
            own.stack = AlternateStack::decode([start, flags.into(), size]);
        }
        Ok((before, on))
    })?;
    if to != 0 {
        let mut bytes = before.encode();
        if on && before.size != 0 {
            bytes[8] |= ON_STACK as u8;
        }
        with_state(|state| user_memory::write(state, caller, to, &bytes))?;
    }
    Ok(0)
}

/// `rt_sigreturn`: the frame at the stack pointer states how the thread goes on; one that is none is a
/// SIGSEGV.
pub fn rt_sigreturn(caller: &Caller) -> Result<u64, Errno> {
    with_state(|state| caller.return_from_handler(state))?;
    BEGUN
}

const _: () = assert!(number::KILL == 9);
