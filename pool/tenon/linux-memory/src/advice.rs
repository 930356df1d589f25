//! [`madvise`], [`mincore`], [`msync`], [`mlock`] and [`fadvise64`]: what processes state and ask about pages.

use crate::mapping::{populate, reclaim};
use crate::range::range;
use core::ops::Range;
use tenon_address_space::{Area, PAGE};
use tenon_process::{
    Caller, Errno, Object, Process, State, capability, resource, user_memory, with_state,
};

/// Advice of `madvise`.
mod kind {
    /// `MADV_NORMAL`, `RANDOM`, `SEQUENTIAL`, `WILLNEED`.
    pub const READING: core::ops::RangeInclusive<i32> = 0..=3;
    pub const DO_NOT_NEED: i32 = 4;
    pub const FREE: i32 = 8;
    pub const REMOVE: i32 = 9;
    /// `MADV_HUGEPAGE` to `MADV_DODUMP`: what has no effect on what a program sees. Equal pages are not
    /// merged (`MADV_MERGEABLE`).
    pub const WITHOUT_EFFECT: core::ops::RangeInclusive<i32> = 14..=17;
    /// `MADV_COLD`, `MADV_PAGEOUT`.
    pub const COLD: core::ops::RangeInclusive<i32> = 20..=21;
    pub const POPULATE_READ: i32 = 22;
    pub const POPULATE_WRITE: i32 = 23;
}

/// Pages that a step serves.
const STEP: usize = 512;
/// Bytes that a step serves where no page has a frame.
const EMPTY_STEP: usize = 1 << 30;

/// Calls `action` for the part of each area in a range, in steps. Returns whether all of the range is
/// in areas.
fn each_area(
    caller: &Caller,
    range: &Range<usize>,
    mut action: impl FnMut(&mut State, &Area, &Range<usize>) -> Result<(), Errno>,
) -> Result<bool, Errno> {
    let (mut at, mut whole) = (range.start, true);
    while at < range.end {
        at = with_state(|state| {
            let (process, ..) = caller.parts(state)?;
            let areas = process.space()?.areas();
            let next = areas.next(at).copied();
            let Some(area) = next.filter(|area| area.start < range.end) else {
                whole = false;
                return Ok(range.end);
            };
            whole &= area.start <= at;
            if process.end.is_some() {
                return Err(Errno::EINTR);
            }
            let start = at.max(area.start);
            let end = range.end.min(area.end);
            let long = end.min(start.saturating_add(EMPTY_STEP));
            let end = if process.space()?.has_pages(&(start..long)) {
                end.min(start.saturating_add(STEP * PAGE))
            } else {
                long
            };
            action(state, &area, &(start..end))?;
            Ok::<_, Errno>(end)
        })?;
    }
    Ok(whole)
}

/// `madvise`.
pub fn madvise(caller: &Caller) -> Result<u64, Errno> {
    let advice = caller.int(2);
    let range = range(caller.address(0), caller.address(1), Errno::EINVAL)?;
    let known = kind::READING.contains(&advice)
        || kind::WITHOUT_EFFECT.contains(&advice)
        || kind::COLD.contains(&advice)
        || matches!(advice, kind::DO_NOT_NEED | kind::FREE | kind::REMOVE)
        || matches!(advice, kind::POPULATE_READ | kind::POPULATE_WRITE);
    if !known {
        return Err(Errno::EINVAL);
    }
    let writes = advice == kind::POPULATE_WRITE;
    if writes || advice == kind::POPULATE_READ {
        return match populate(caller, range, writes) {
            true => Ok(0),
            false => Err(Errno::ENOMEM),
        };
    }
    let whole = each_area(caller, &range, |state, area, part| {
        let (process, frames, _) = caller.parts(state)?;
        match advice {
            kind::DO_NOT_NEED | kind::REMOVE if area.is_locked() => return Err(Errno::EINVAL),
            kind::FREE if area.object(area.start).is_some() => return Err(Errno::EINVAL),
            kind::DO_NOT_NEED | kind::FREE => process.space()?.discard(part, frames),
            kind::REMOVE => {
                let Some((key, page)) = area.object(part.start).filter(|_| area.is_shared()) else {
                    return Err(Errno::EINVAL);
                };
                if !area.permissions.write {
                    return Err(Errno::EACCES);
                }
                let pages = ((part.end - part.start) / PAGE) as u64;
                area.discard_object_pages(page..page + pages, frames);
                state.discard_object(key, page);
            }
            _ => {}
        }
        Ok(())
    })?;
    reclaim();
    whole.then_some(0).ok_or(Errno::ENOMEM)
}

/// Bytes that `mincore` writes at a time.
const BYTES: usize = 128;

/// `mincore`: a byte for each page, of which the lowest bit states that it is in memory.
pub fn mincore(caller: &Caller) -> Result<u64, Errno> {
    let range = range(caller.address(0), caller.address(1), Errno::ENOMEM)?;
    let to = caller.address(2);
    let whole = each_area(caller, &range, |state, area, part| {
        let mut pages = part.clone().step_by(PAGE);
        let mut at = to.wrapping_add((part.start - range.start) / PAGE);
        loop {
            let mut bytes = [0; BYTES];
            let mut count = 0;
            for (byte, page) in bytes.iter_mut().zip(&mut pages) {
                let (process, ..) = caller.parts(state)?;
                let present = process.space()?.has_pages(&(page..page + PAGE));
                *byte = u8::from(present || area.has_object_page(page));
                count += 1;
            }
            if count == 0 {
                return Ok(());
            }
            user_memory::write(state, caller, at, &bytes[..count])?;
            at = at.wrapping_add(count);
        }
    })?;
    whole.then_some(0).ok_or(Errno::ENOMEM)
}

/// `msync`: files are in memory alone, so that nothing is written.
pub fn msync(caller: &Caller) -> Result<u64, Errno> {
    const ASYNCHRONOUS: u64 = 1;
    const INVALIDATE: u64 = 2;
    const SYNCHRONOUS: u64 = 4;
    const KNOWN: u64 = 7;
    let flags = caller.argument(2);
    let both = ASYNCHRONOUS | SYNCHRONOUS;
    if flags & !KNOWN != 0 || flags & both == both {
        return Err(Errno::EINVAL);
    }
    let range = range(caller.address(0), caller.address(1), Errno::ENOMEM)?;
    let invalidates = flags & INVALIDATE != 0;
    let whole = each_area(caller, &range, |_, area, _| {
        let refused = invalidates && area.is_locked();
        (!refused).then_some(()).ok_or(Errno::EBUSY)
    })?;
    whole.then_some(0).ok_or(Errno::ENOMEM)
}

/// All addresses.
const ALL: Range<usize> = 0..usize::MAX;

/// Checks the range of `mlock` or `munlock`, which begins in any place of a page.
fn lock_range(caller: &Caller) -> Result<Range<usize>, Errno> {
    let start = caller.address(0) & !(PAGE - 1);
    let size = caller.address(1).checked_add(caller.address(0) - start);
    range(start, size.ok_or(Errno::EINVAL)?, Errno::EINVAL)
}

/// Fails unless a process may lock so many bytes more than it has, by its limit; `full` where it has too
/// many.
pub(crate) fn may_lock(process: &mut Process, size: usize, full: Errno) -> Result<(), Errno> {
    let limit = process.limits.soft(resource::LOCKED);
    if process.credentials.has(capability::IPC_LOCK) {
        return Ok(());
    }
    let locked = process.space()?.areas().locked_pages(&ALL) * PAGE;
    match limit {
        0 => Err(Errno::EPERM),
        _ if locked.saturating_add(size) as u64 > limit => Err(full),
        _ => Ok(()),
    }
}

/// As [`may_lock`], for a range, parts of which can be locked.
fn may_lock_range(caller: &Caller, range: &Range<usize>) -> Result<(), Errno> {
    with_state(|state| {
        let (process, ..) = caller.parts(state)?;
        let own = process.space()?.areas().locked_pages(range) * PAGE;
        may_lock(process, range.len() - own, Errno::ENOMEM)
    })
}

/// Locks the areas of a range, or ends that, some at a time; returns whether all of it is in areas.
fn lock_areas(caller: &Caller, range: &Range<usize>, locked: bool) -> Result<bool, Errno> {
    each_area(caller, range, |state, _, part| {
        let (process, frames, _) = caller.parts(state)?;
        Ok(process.space()?.lock(part, locked, frames)?)
    })
}

/// `mlock`: pages get their frames, which they keep in any case.
pub fn mlock(caller: &Caller) -> Result<u64, Errno> {
    let range = lock_range(caller)?;
    may_lock_range(caller, &range)?;
    if !lock_areas(caller, &range, true)? {
        return Err(Errno::ENOMEM);
    }
    let mut done = true;
    let mut at = range.start;
    while at < range.end {
        let (end, writes) = with_state(|state| {
            let (process, ..) = caller.parts(state)?;
            let area = process.space()?.areas().find(at).ok_or(Errno::ENOMEM)?;
            let writes = area.permissions.write && !area.is_shared();
            Ok::<_, Errno>((area.end.min(range.end), writes))
        })?;
        done &= populate(caller, at..end, writes);
        at = end;
    }
    done.then_some(0).ok_or(Errno::ENOMEM)
}

/// `mlock2`: as for `mlock`, or of pages when they are accessed.
pub fn mlock2(caller: &Caller) -> Result<u64, Errno> {
    const ON_FAULT: u64 = 1;
    match caller.argument(2) {
        0 => mlock(caller),
        ON_FAULT => {
            let range = lock_range(caller)?;
            may_lock_range(caller, &range)?;
            let whole = lock_areas(caller, &range, true)?;
            whole.then_some(0).ok_or(Errno::ENOMEM)
        }
        _ => Err(Errno::EINVAL),
    }
}

/// `munlock`: frames are not taken away.
pub fn munlock(caller: &Caller) -> Result<u64, Errno> {
    let whole = lock_areas(caller, &lock_range(caller)?, false)?;
    whole.then_some(0).ok_or(Errno::ENOMEM)
}

/// `mlockall`: pages get their frames when they are accessed.
pub fn mlockall(caller: &Caller) -> Result<u64, Errno> {
    const KNOWN: u64 = 7;
    const PRESENT: u64 = 1;
    const FUTURE: u64 = 2;
    const ON_FAULT: u64 = 4;
    let flags = caller.argument(0);
    let valid = flags != 0 && flags & !KNOWN == 0 && flags != ON_FAULT;
    if !valid {
        return Err(Errno::EINVAL);
    }
    let present = flags & PRESENT != 0;
    with_state(|state| {
        let (process, ..) = caller.parts(state)?;
        let areas = process.space()?.areas();
        let size = (areas.pages() - areas.locked_pages(&ALL)) * PAGE;
        may_lock(process, if present { size } else { 0 }, Errno::ENOMEM)?;
        process.space()?.locks = flags & FUTURE != 0;
        Ok::<_, Errno>(())
    })?;
    if present {
        lock_all(caller, true)?;
    }
    Ok(0)
}

/// Locks all areas, or ends that, one at a time.
fn lock_all(caller: &Caller, locked: bool) -> Result<(), Errno> {
    let mut at = 0;
    loop {
        let done = with_state(|state| {
            let (process, frames, _) = caller.parts(state)?;
            let space = process.space()?;
            let Some(area) = space.areas().next(at).copied() else {
                return Ok(true);
            };
            at = area.end;
            // The areas of the kernel itself are none that a process locks.
            let _ = space.lock(&(area.start..area.end), locked, frames);
            Ok::<_, Errno>(process.end.is_some())
        })?;
        if done {
            return Ok(());
        }
    }
}

/// `munlockall`.
pub fn munlockall(caller: &Caller) -> Result<u64, Errno> {
    with_state(|state| {
        caller.parts(state)?.0.space()?.locks = false;
        Ok::<_, Errno>(())
    })?;
    lock_all(caller, false).map(|()| 0)
}

/// `O_PATH`: the description is of a name alone.
const PATH: u32 = 0o1000_0000;

/// Checks that a descriptor has pages; a file `alone`, or another inode as well.
fn check_file(caller: &Caller, others: Errno, alone: bool) -> Result<(), Errno> {
    with_state(|state| {
        let (process, _, files) = caller.parts(state)?;
        let description = files.get(&process.descriptor(caller.int(0))?.file)?;
        if description.flags & PATH != 0 {
            return Err(Errno::EBADF);
        }
        match description.object {
            Object::Device(..) | Object::Directory(_) if alone => Err(others),
            Object::File(_) | Object::Device(..) | Object::Directory(_) => Ok(()),
            _ => Err(others),
        }
    })
}

/// `fadvise64`: files are in memory, so that no advice has an effect.
pub fn fadvise64(caller: &Caller) -> Result<u64, Errno> {
    const HIGHEST: i32 = 5;
    check_file(caller, Errno::ESPIPE, false)?;
    let length = caller.argument(2) as i64;
    let known = (0..=HIGHEST).contains(&caller.int(3)) && length >= 0;
    known.then_some(0).ok_or(Errno::EINVAL)
}

/// `readahead`: as for `fadvise64`.
pub fn readahead(caller: &Caller) -> Result<u64, Errno> {
    check_file(caller, Errno::EINVAL, true).map(|()| 0)
}
