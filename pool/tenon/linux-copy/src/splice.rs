//! [`splice`], [`tee`] and [`vmsplice`]: bytes from and to pipes.

use crate::copy::{copy, offset_at};
use tenon_linux_abi::transfer::{PIECE, Target, put, target};
use tenon_linux_abi::vector::{readv, writev_at_most};
use tenon_linux_abi::wait::{wait, wait_for};
use tenon_process::user_memory;
use tenon_process::{Caller, Errno, Side, State, with_state};
use tenon_signal::number;

/// `O_APPEND`.
const APPEND: u32 = 0o2000;
/// `SPLICE_F_NONBLOCK`.
const NON_BLOCKING: u64 = 2;
/// All flags; the others have no effect.
const KNOWN: u64 = 0xf;

/// The pipe of a descriptor.
fn pipe(target: &Target) -> Option<u32> {
    match target {
        Target::Pipe(index) => Some(*index),
        _ => None,
    }
}

/// Bytes that one end gives at once, or takes; without a limit where it is no pipe.
fn at_once(state: &State, target: &Target, writes: bool) -> usize {
    match *target {
        Target::Pipe(index) => {
            let (filled, room) = state.files.fill(index).unwrap_or_default();
            if writes { room } else { filled }
        }
        Target::Special(special) => {
            if writes {
                PIECE
            } else {
                (special.operations.available)(&state.files, special.number).unwrap_or_default()
            }
        }
        _ => PIECE,
    }
}

/// Whether both ends of a pipe are open, so that a byte or room can come.
fn is_open(state: &State, target: &Target) -> bool {
    pipe(target).is_none_or(|index| {
        let ends = state.files.ends(index);
        ends.is_some_and(|ends| ends[0].1 && ends[1].1)
    })
}

/// `splice`.
pub fn splice(caller: &Caller) -> Result<u64, Errno> {
    let (from, to) = (caller.int(0), caller.int(2));
    let length = caller.address(4);
    let flags = caller.argument(5);
    if flags & !KNOWN != 0 {
        return Err(Errno::EINVAL);
    }
    if length == 0 {
        return Ok(0);
    }
    let places = (caller.address(1), caller.address(3));
    with_state(|state| {
        let (source, ..) = target(state, caller, from, false).map_err(invalid)?;
        let (sink, to_flags, _) = target(state, caller, to, true).map_err(invalid)?;
        if pipe(&source).is_some() && places.0 != 0 || pipe(&sink).is_some() && places.1 != 0 {
            return Err(Errno::ESPIPE);
        }
        match (pipe(&source), pipe(&sink)) {
            (None, None) => Err(Errno::EINVAL),
            (Some(one), Some(other)) if one == other => Err(Errno::EINVAL),
            (_, None) if to_flags & APPEND != 0 => Err(Errno::EINVAL),
            _ => Ok(()),
        }
    })?;
    let mut at = (offset_at(caller, places.0)?, offset_at(caller, places.1)?);
    let mut done = 0;
    while done < length && !caller.is_ended() {
        let ready = with_state(|state| {
            let (source, ..) = target(state, caller, from, false)?;
            let (sink, ..) = target(state, caller, to, true)?;
            let most = at_once(state, &source, false).min(at_once(state, &sink, true));
            let waits = most == 0 && is_open(state, &source) && is_open(state, &sink);
            Ok::<_, Errno>((most, waits))
        });
        let part = match ready {
            Ok((0, true)) if done == 0 && flags & NON_BLOCKING != 0 => return Err(Errno::EAGAIN),
            // A first byte is waited for, others are not.
            Ok((0, _)) if done == 0 => 1,
            Ok((most, _)) => most.min(PIECE).min(length - done),
            Err(error) if done == 0 => return Err(error),
            Err(_) => 0,
        };
        if part == 0 {
            break;
        }
        let (count, next) = match copy(caller, (from, at.0), (to, at.1), part) {
            Ok((count, from_next, to_next)) => (count as usize, (from_next, to_next)),
            Err(_) if done > 0 => break,
            Err(error) => return Err(error),
        };
        at = next;
        done += count;
        if count < part {
            break;
        }
    }
    for (place, next) in [(places.0, at.0), (places.1, at.1)] {
        if let Some(next) = next {
            user_memory::put_words(caller, place, [next])?;
        }
    }
    Ok(done as u64)
}

/// What `splice` refuses a directory with.
fn invalid(error: Errno) -> Errno {
    match error {
        Errno::EISDIR => Errno::EINVAL,
        error => error,
    }
}

/// `tee`: bytes of a pipe, which stay there, into another one.
pub fn tee(caller: &Caller) -> Result<u64, Errno> {
    let (from, to, length) = (caller.int(0), caller.int(1), caller.address(2));
    let flags = caller.argument(3);
    if flags & !KNOWN != 0 {
        return Err(Errno::EINVAL);
    }
    if length == 0 {
        return Ok(0);
    }
    let ends = |state: &mut State| {
        let (source, ..) = target(state, caller, from, false).map_err(invalid)?;
        let (sink, ..) = target(state, caller, to, true).map_err(invalid)?;
        match (pipe(&source), pipe(&sink)) {
            (Some(one), Some(other)) if one != other => Ok((one, source, sink)),
            _ => Err(Errno::EINVAL),
        }
    };
    with_state(ends)?;
    let mut done = 0;
    while done < length && !caller.is_ended() {
        let copied = wait(caller, (from, false), |state| {
            let (index, source, sink) = ends(state)?;
            let filled = at_once(state, &source, false).saturating_sub(done);
            let most = filled.min(at_once(state, &sink, true));
            if most == 0 && done > 0 {
                return Ok(Some(0));
            }
            if most == 0 && flags & NON_BLOCKING != 0 && is_open(state, &source) {
                return Err(Errno::EAGAIN);
            }
            let mut piece = [0; PIECE];
            if filled == 0 {
                let ends = state.files.ends(index).ok_or(Errno::EBADF)?;
                if !ends[1].1 {
                    return Ok(Some(0));
                }
                let source = state.files.pipe_source(index);
                wait_for(state, caller, (source, Side::Read), 0)?;
                return Ok(None);
            }
            let part = filled.min(PIECE).min(length - done);
            let part = state.files.peek_pipe(index, done, &mut piece[..part]);
            put(state, caller, to, &piece[..part], None)
        });
        match copied {
            Ok(0) => break,
            Ok(count) => done += count,
            Err(_) if done > 0 => break,
            Err(error) => {
                if error == Errno::EPIPE {
                    with_state(|state| caller.raise(state, number::PIPE))?;
                }
                return Err(error);
            }
        }
    }
    Ok(done as u64)
}

/// `vmsplice`: copies between memory and a pipe.
pub fn vmsplice(caller: &Caller) -> Result<u64, Errno> {
    let flags = caller.argument(3);
    if flags & !KNOWN != 0 {
        return Err(Errno::EINVAL);
    }
    let writes = with_state(|state| {
        let (target, writes) = match target(state, caller, caller.int(0), true) {
            Ok((found, ..)) => (found, true),
            Err(_) => (target(state, caller, caller.int(0), false)?.0, false),
        };
        if pipe(&target).is_none() {
            return Err(Errno::EBADF);
        }
        let ready = at_once(state, &target, writes) > 0 || !is_open(state, &target);
        if flags & NON_BLOCKING != 0 && !ready {
            return Err(Errno::EAGAIN);
        }
        Ok(writes)
    })?;
    if writes {
        // As in Linux, it waits for some room and takes what that is.
        let room = wait(caller, (caller.int(0), true), |state| {
            let (target, flags, _) = target(state, caller, caller.int(0), true)?;
            let room = at_once(state, &target, true);
            if room > 0 || !is_open(state, &target) {
                return Ok(Some(room.max(1)));
            }
            let source = pipe(&target).and_then(|index| state.files.pipe_source(index));
            wait_for(state, caller, (source, Side::Write), flags)?;
            Ok(None)
        })?;
        writev_at_most(caller, room)
    } else {
        readv(caller)
    }
}
