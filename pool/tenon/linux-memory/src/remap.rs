//! [`mremap`]: mappings that grow, shrink and move.

use crate::mapping::{check_limit, reclaim};
use crate::range::{pages, range};
use tenon_address_space::{Error, PAGE};
use tenon_process::{Caller, Errno, Frames, Space, with_state};

/// `MREMAP_MAYMOVE` and `MREMAP_FIXED`.
const MAY_MOVE: u64 = 1;
const FIXED: u64 = 2;

/// `remap_file_pages`: another part of the object of a shared mapping at a part of that.
pub fn remap_file_pages(caller: &Caller) -> Result<u64, Errno> {
    let (start, size) = (
        caller.address(0) & !(PAGE - 1),
        caller.address(1) & !(PAGE - 1),
    );
    if caller.argument(2) != 0 || size == 0 {
        return Err(Errno::EINVAL);
    }
    let range = range(start, size, Errno::EINVAL)?;
    let page = u32::try_from(caller.argument(3)).ok();
    let last = u32::try_from(size / PAGE).ok();
    let end = page
        .zip(last)
        .and_then(|(page, pages)| page.checked_add(pages));
    let (Some(page), Some(_)) = (page, end) else {
        return Err(Errno::EINVAL);
    };
    with_state(|state| {
        let (process, frames, _) = caller.parts(state)?;
        let shown = process.space()?.show_pages(&range, page, frames);
        shown.map_err(|error| match error {
            Error::Range => Errno::EINVAL,
            other => other.into(),
        })
    })?;
    reclaim();
    Ok(0)
}

/// `mremap`. A failure changes nothing.
pub fn mremap(caller: &Caller) -> Result<u64, Errno> {
    let (start, flags) = (caller.address(0), caller.argument(3));
    if flags & !(MAY_MOVE | FIXED) != 0 || flags & FIXED != 0 && flags & MAY_MOVE == 0 {
        return Err(Errno::EINVAL);
    }
    let from = range(start, caller.address(1), Errno::EINVAL)?;
    let size = pages(caller.address(2)).map_err(|_| Errno::EINVAL)?;
    let to = match flags & FIXED {
        0 => None,
        _ => {
            let to = range(caller.address(4), size, Errno::EINVAL)?;
            if to.start < from.end && from.start < to.end {
                return Err(Errno::EINVAL);
            }
            Some(to)
        }
    };
    let moved = with_state(|state| {
        let (process, frames, _) = caller.parts(state)?;
        check_limit(process, size.saturating_sub(from.len()))?;
        let space = process.space()?;
        let area = space.areas().find(start).ok_or(Errno::EFAULT)?;
        if from.is_empty() {
            // A further mapping of the same pages.
            if !area.is_shared() || flags & MAY_MOVE == 0 {
                return Err(Errno::EINVAL);
            }
            let to = match to {
                Some(to) => {
                    space.unmap(&to, frames)?;
                    to
                }
                None => {
                    let start = space.find_free(size, space.main_part().end)?;
                    start..start + size
                }
            };
            space.map_again(start, &to, frames)?;
            return Ok(to.start);
        }
        if from.end > area.end {
            return Err(Errno::EFAULT);
        }
        if let Some(to) = to {
            space.remap(&from, &to, true, frames).map_err(error)?;
            return Ok(to.start);
        }
        resize(space, from, size, flags, frames)
    })?;
    reclaim();
    Ok(moved as u64)
}

/// Changes the size of a mapping at its place, or where there is room.
fn resize(
    space: &mut Space,
    from: core::ops::Range<usize>,
    size: usize,
    flags: u64,
    frames: &mut Frames,
) -> Result<usize, Errno> {
    let end = from.start.checked_add(size).ok_or(Errno::ENOMEM)?;
    if end == from.end {
        return Ok(from.start);
    }
    if end < from.end {
        space.unmap(&(end..from.end), frames)?;
        return Ok(from.start);
    }
    match space.extend(&from, end, frames) {
        Ok(()) => Ok(from.start),
        Err(Error::Occupied | Error::Range) if flags & MAY_MOVE != 0 => {
            let start = space.find_free(size, space.main_part().end)?;
            let to = start..start + size;
            space.remap(&from, &to, false, frames).map_err(error)?;
            Ok(start)
        }
        Err(_) => Err(Errno::ENOMEM),
    }
}

fn error(error: Error) -> Errno {
    match error {
        Error::Occupied => Errno::EFAULT,
        other => other.into(),
    }
}
