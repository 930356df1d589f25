//! [`readv`], [`writev`] and their relatives: transfers with several buffers.

use crate::transfer::{positioned, read_all, stated_offset, target, write_all};
use core::cell::Cell;
use tenon_process::user_memory;
use tenon_process::{Caller, Errno, with_state};

/// At most as many buffers of a call.
const VECTORS: u64 = 1024;
/// Buffers that are kept from their check on.
const KEPT: usize = 8;

/// A buffer of the vector of a call.
fn buffer(caller: &Caller, index: usize) -> Result<(usize, usize), Errno> {
    let [from, length] = user_memory::words(caller, caller.address(1).wrapping_add(16 * index))?;
    if length > i64::MAX as u64 {
        return Err(Errno::EINVAL);
    }
    Ok((from as usize, length as usize))
}

/// Calls `transfer` for each buffer of a vector, until one is not transferred as a whole. As in Linux,
/// no byte is transferred unless the vector is valid.
fn each_vector(
    caller: &Caller,
    writes: bool,
    transfer: impl Fn((usize, usize), bool) -> Result<u64, Errno>,
) -> Result<u64, Errno> {
    with_state(|state| match target(state, caller, caller.int(0), writes) {
        Err(Errno::EISDIR) => Ok(()),
        found => found.map(|_| ()),
    })?;
    if caller.argument(2) > VECTORS {
        return Err(Errno::EINVAL);
    }
    let count = caller.address(2);
    let mut kept = [(0, 0); KEPT];
    for index in 0..count {
        let found = buffer(caller, index)?;
        if let Some(place) = kept.get_mut(index) {
            *place = found;
        }
    }
    let mut done = 0u64;
    for index in 0..count {
        let (from, length) = match kept.get(index) {
            Some(kept) => *kept,
            None => buffer(caller, index)?,
        };
        if length == 0 {
            continue;
        }
        match transfer((from, length), done > 0) {
            Ok(count) => {
                done = done.saturating_add(count);
                if count < length as u64 {
                    break;
                }
            }
            Err(_) if done > 0 => break,
            Err(error) => return Err(error),
        }
    }
    Ok(done)
}

/// `readv`.
pub fn readv(caller: &Caller) -> Result<u64, Errno> {
    each_vector(caller, false, |buffer, begun| {
        read_all(caller, buffer, None, begun)
    })
}

/// `writev`.
pub fn writev(caller: &Caller) -> Result<u64, Errno> {
    each_vector(caller, true, |buffer, _| write_all(caller, buffer, None))
}

/// `writev` of at most so many bytes.
pub fn writev_at_most(caller: &Caller, most: usize) -> Result<u64, Errno> {
    let left = Cell::new(most);
    each_vector(caller, true, |(from, length), _| {
        let part = length.min(left.get());
        left.set(left.get() - part);
        if part == 0 {
            return Ok(0);
        }
        write_all(caller, (from, part), None)
    })
}

/// `preadv`.
pub fn preadv(caller: &Caller) -> Result<u64, Errno> {
    let at = Cell::new(stated_offset(caller)?);
    let read = each_vector(caller, false, |buffer, begun| {
        let done = read_all(caller, buffer, Some(at.get()), begun)?;
        at.set(at.get().saturating_add(done));
        Ok(done)
    });
    read.map_err(|error| positioned(caller, error))
}

/// `pwritev`.
pub fn pwritev(caller: &Caller) -> Result<u64, Errno> {
    let at = Cell::new(stated_offset(caller)?);
    let written = each_vector(caller, true, |buffer, _| {
        let done = write_all(caller, buffer, Some(at.get()))?;
        at.set(at.get().saturating_add(done));
        Ok(done)
    });
    written.map_err(|error| positioned(caller, error))
}

/// Checks the flags of `preadv2` and `pwritev2`; returns whether the offset is that of the descriptor.
fn flags(caller: &Caller) -> Result<bool, Errno> {
    /// `RWF_HIPRI`, `RWF_DSYNC` and `RWF_SYNC`, which have no effect: files are in memory.
    const WITHOUT_EFFECT: u64 = 7;
    if caller.argument(5) & !WITHOUT_EFFECT != 0 {
        return Err(Errno::EOPNOTSUPP);
    }
    Ok(caller.argument(3) == u64::MAX)
}

/// `preadv2`.
pub fn preadv2(caller: &Caller) -> Result<u64, Errno> {
    if flags(caller)? {
        readv(caller)
    } else {
        preadv(caller)
    }
}

/// `pwritev2`.
pub fn pwritev2(caller: &Caller) -> Result<u64, Errno> {
    if flags(caller)? {
        writev(caller)
    } else {
        pwritev(caller)
    }
}
