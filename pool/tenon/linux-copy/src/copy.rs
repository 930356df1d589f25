//! [`sendfile`] and [`copy_file_range`]: copies between descriptors.

use tenon_linux_abi::transfer::{MOST, PIECE, Step, Target, put, set_offset, take, target};
use tenon_linux_abi::wait::wait;
use tenon_process::user_memory;
use tenon_process::{Caller, Errno, with_state};
use tenon_signal::number;
use tenon_vfs::Device;

/// Copies from one descriptor to another, each at an offset or at its own; returns how many bytes,
/// and the offsets behind them.
pub(crate) fn copy(
    caller: &Caller,
    (from, mut from_at): (i32, Option<u64>),
    (to, mut to_at): (i32, Option<u64>),
    length: usize,
) -> Result<(u64, Option<u64>, Option<u64>), Errno> {
    let length = length.min(MOST);
    let mut done = 0;
    while done < length && !caller.is_ended() {
        let mut piece = [0; PIECE];
        let part = (length - done).min(PIECE);
        let taken = wait(caller, (from, false), |state| {
            target(state, caller, to, true)?;
            // As in Linux, a terminal is no source of such copies.
            if let (Target::Device(Device::Console), ..) = target(state, caller, from, false)? {
                return Err(Errno::EINVAL);
            }
            match take(state, caller, from, &mut piece[..part], from_at)? {
                Step::Done(count) | Step::Whole(count) => Ok(Some(count)),
                Step::Wait => Ok(None),
            }
        });
        let count = match taken {
            Ok(0) => break,
            Ok(count) => count,
            Err(_) if done > 0 => break,
            Err(error) => return Err(error),
        };
        let mut written = 0;
        let mut result = Ok(());
        while written < count && result.is_ok() {
            let rest = &piece[written..count];
            let put = wait(caller, (to, true), |state| {
                put(state, caller, to, rest, to_at)
            });
            result = put.map(|put| {
                let is_console = with_state(|state| {
                    let target = target(state, caller, to, true);
                    matches!(target, Ok((Target::Device(Device::Console), ..)))
                });
                if is_console {
                    tenon_linux_tty::write(&rest[..put]);
                }
                written += put;
                to_at = to_at.map(|at| at + put as u64);
            });
        }
        done += written;
        from_at = from_at.map(|at| at + written as u64);
        if let Err(error) = result {
            if error == Errno::EPIPE {
                with_state(|state| caller.raise(state, number::PIPE))?;
            }
            if from_at.is_none() && written < count {
                // What was taken and not written is read again, if it is of a file.
                with_state(|state| {
                    if let Ok((Target::File(_), _, offset)) = target(state, caller, from, false) {
                        // Another thread may have set it since.
                        let offset = offset.saturating_sub((count - written) as u64);
                        let _ = set_offset(state, caller, from, offset);
                    }
                });
            }
            if done == 0 {
                return Err(error);
            }
            break;
        }
    }
    Ok((done as u64, from_at, to_at))
}

/// The offset that a pointer states, if it is not null.
pub(crate) fn offset_at(caller: &Caller, from: usize) -> Result<Option<u64>, Errno> {
    if from == 0 {
        return Ok(None);
    }
    let [offset] = user_memory::words(caller, from)?;
    let valid = offset <= i64::MAX as u64;
    valid.then_some(Some(offset)).ok_or(Errno::EINVAL)
}

/// `sendfile`.
pub fn sendfile(caller: &Caller) -> Result<u64, Errno> {
    let at = caller.address(2);
    let from = (caller.int(1), offset_at(caller, at)?);
    let (done, next, _) = copy(caller, from, (caller.int(0), None), caller.address(3))?;
    if let Some(next) = next {
        user_memory::put_words(caller, at, [next])?;
    }
    Ok(done)
}

/// `copy_file_range`: of files.
pub fn copy_file_range(caller: &Caller) -> Result<u64, Errno> {
    let (from_at, to_at) = (caller.address(1), caller.address(3));
    if caller.argument(5) != 0 {
        return Err(Errno::EINVAL);
    }
    for (number, writes) in [(caller.int(0), false), (caller.int(2), true)] {
        let (target, ..) = with_state(|state| target(state, caller, number, writes))?;
        if !matches!(target, Target::File(_)) {
            return Err(Errno::EINVAL);
        }
    }
    let from = (caller.int(0), offset_at(caller, from_at)?);
    let to = (caller.int(2), offset_at(caller, to_at)?);
    let (done, from_next, to_next) = copy(caller, from, to, caller.address(4))?;
    for (at, next) in [(from_at, from_next), (to_at, to_next)] {
        if let Some(next) = next {
            user_memory::put_words(caller, at, [next])?;
        }
    }
    Ok(done)
}
