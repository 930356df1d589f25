//! [`mmap`], [`munmap`], [`mprotect`] and [`brk`]: mappings and heap.

use crate::advice::may_lock;
use crate::range::{pages, range};
use core::ops::Range;
use tenon_address_space::{Access, Backing, Object as Content, PAGE, Permissions, Sharing};
use tenon_process::{
    Caller, Errno, Frames, Object, Process, State, UNLIMITED, resource, with_state,
};
use tenon_vfs::Device;

/// Protections of `mmap` and `mprotect`.
mod protection {
    pub const READ: u64 = 1;
    pub const WRITE: u64 = 2;
    pub const EXECUTE: u64 = 4;
    /// `PROT_GROWSDOWN` and `PROT_GROWSUP`.
    pub const GROWS: u64 = 0x300_0000;
}

/// Flags of `mmap`.
mod flag {
    pub const TYPE: u64 = 0x0f;
    pub const SHARED: u64 = 1;
    pub const PRIVATE: u64 = 2;
    pub const SHARED_VALIDATE: u64 = 3;
    pub const FIXED: u64 = 0x10;
    pub const ANONYMOUS: u64 = 0x20;
    pub const GROWS_DOWN: u64 = 0x100;
    pub const LOCKED: u64 = 0x2000;
    pub const NO_RESERVE: u64 = 0x4000;
    pub const POPULATE: u64 = 0x8000;
    pub const NON_BLOCK: u64 = 0x1_0000;
    pub const STACK: u64 = 0x2_0000;
    pub const HUGE: u64 = 0x4_0000;
    pub const FIXED_NO_REPLACE: u64 = 0x10_0000;
    /// `MAP_DENYWRITE` and `MAP_EXECUTABLE`, which have no effect.
    pub const WITHOUT_EFFECT: u64 = 0x800 | 0x1000;
    /// What `MAP_SHARED_VALIDATE` accepts.
    pub const KNOWN: u64 = TYPE
        | FIXED
        | ANONYMOUS
        | LOCKED
        | NO_RESERVE
        | POPULATE
        | NON_BLOCK
        | STACK
        | FIXED_NO_REPLACE
        | WITHOUT_EFFECT;
}

/// `O_ACCMODE`, `O_WRONLY` and `O_RDWR`.
const ACCESS_MODE: u32 = 0b11;
const WRITE_ONLY: u32 = 1;
const READ_AND_WRITE: u32 = 2;

/// `O_PATH`.
const PATH: u32 = 0o1000_0000;

/// `EOVERFLOW`.
const OVERFLOW: Errno = Errno(75);

/// Pages that a step serves.
const STEP: usize = 16;

fn permissions(protection: u64) -> Permissions {
    Permissions {
        read: protection & protection::READ != 0,
        write: protection & protection::WRITE != 0,
        execute: protection & protection::EXECUTE != 0,
    }
}

/// A reference to what a mapping states: a file, memory that is shared, or none for zeros.
fn content(
    state: &mut State,
    caller: &Caller,
    flags: u64,
    size: usize,
    writes: bool,
) -> Result<Option<(Content, Sharing)>, Errno> {
    let shares = flags & flag::TYPE != flag::PRIVATE;
    let (process, frames, files) = caller.parts(state)?;
    let mut read_only = false;
    let inode = if flags & flag::ANONYMOUS != 0 {
        None
    } else {
        let description = files.get(&process.descriptor(caller.int(4))?.file)?;
        let mode = description.flags & ACCESS_MODE;
        if description.flags & PATH != 0 {
            return Err(Errno::EBADF);
        }
        match description.object {
            Object::Device(Device::Zero, _) if shares && writes && mode != READ_AND_WRITE => {
                return Err(Errno::EACCES);
            }
            Object::Device(Device::Zero, _) => {
                read_only = mode != READ_AND_WRITE;
                None
            }
            Object::File(_) if mode == WRITE_ONLY => return Err(Errno::EACCES),
            Object::File(_) if shares && writes && mode != READ_AND_WRITE => {
                return Err(Errno::EACCES);
            }
            Object::File(inode) => Some((inode, mode)),
            _ => return Err(Errno::ENODEV),
        }
    };
    match inode {
        Some((inode, mode)) => {
            let content = files.tree.files.content(inode, frames)?;
            let sharing = match mode {
                _ if !shares => Sharing::Private,
                READ_AND_WRITE => Sharing::Shared,
                _ => Sharing::SharedReadOnly,
            };
            Ok(Some((frames.share_object(content), sharing)))
        }
        None if shares => {
            let content = shared_memory(size, frames)?;
            let sharing = if read_only {
                Sharing::SharedReadOnly
            } else {
                Sharing::Shared
            };
            Ok(Some((content, sharing)))
        }
        None => Ok(None),
    }
}

/// An object of zeros.
fn shared_memory(size: usize, frames: &mut Frames) -> Result<Content, Errno> {
    let content = frames.create_object(&[]).ok_or(Errno::ENOMEM)?;
    frames.resize_object(&content, size as u64);
    Ok(content)
}

/// `mmap`.
pub fn mmap(caller: &Caller) -> Result<u64, Errno> {
    let (flags, offset) = (caller.argument(3), caller.argument(5));
    if flags & flag::ANONYMOUS == 0 {
        // As in Linux, before any other argument is looked at.
        with_state(|state| {
            let (process, ..) = caller.parts(state)?;
            process.descriptor(caller.int(4)).map(|_| ())
        })?;
    }
    let size = pages(caller.address(1))?;
    let permissions = permissions(caller.argument(2));
    if !offset.is_multiple_of(PAGE as u64) {
        return Err(Errno::EINVAL);
    }
    match flags & flag::TYPE {
        flag::SHARED | flag::PRIVATE => {}
        flag::SHARED_VALIDATE if flags & !flag::KNOWN == 0 => {}
        flag::SHARED_VALIDATE => return Err(Errno::EOPNOTSUPP),
        _ => return Err(Errno::EINVAL),
    }
    if flags & (flag::HUGE | flag::GROWS_DOWN) != 0 {
        return Err(Errno::EINVAL);
    }
    if permissions.write && permissions.execute {
        return Err(Errno::EACCES);
    }
    let offset = if flags & flag::ANONYMOUS != 0 {
        0
    } else {
        offset
    };
    let page = u32::try_from(offset / PAGE as u64).map_err(|_| OVERFLOW)?;
    let last = u32::try_from(size / PAGE).ok();
    last.and_then(|pages| page.checked_add(pages))
        .ok_or(Errno::ENOMEM)?;
    let reserves = permissions.write && flags & flag::NO_RESERVE == 0;
    let is_file = flags & flag::ANONYMOUS == 0 && flags & flag::TYPE != flag::PRIVATE;
    let locks = flags & flag::LOCKED != 0;
    let (start, locks) = with_state(|state| {
        // As Linux's heuristic: more than all memory is never had.
        if reserves && !is_file && size > state.usage().0 {
            return Err(Errno::ENOMEM);
        }
        let process = caller.parts(state)?.0;
        check_limit(process, size)?;
        let locks = locks || process.space()?.locks;
        if locks {
            may_lock(process, size, Errno::EAGAIN)?;
        }
        let content = content(state, caller, flags, size, permissions.write)?;
        let (process, frames, _) = caller.parts(state)?;
        let backing = match &content {
            None => Backing::Zero,
            Some((content, sharing)) => Backing::Object(content, page, *sharing),
        };
        let space = process.space()?;
        // The area is locked when it is inserted.
        let later = core::mem::replace(&mut space.locks, locks);
        let mapped = place(space, caller.address(0), size, flags).and_then(|range| {
            if flags & flag::FIXED != 0 && flags & flag::FIXED_NO_REPLACE == 0 {
                space.map_over(&range, permissions, &backing, frames)?;
            } else {
                // An area at the place itself.
                let mapped = space.map(&range, permissions, &backing, frames);
                mapped.map_err(|error| match error {
                    tenon_address_space::Error::Occupied => Errno::EEXIST,
                    other => other.into(),
                })?;
            }
            Ok((range.start, locks))
        });
        if let Ok(space) = process.space() {
            space.locks = later;
        }
        if let Some((content, _)) = content {
            frames.release_object(content);
        }
        mapped
    })?;
    if locks || flags & (flag::POPULATE | flag::NON_BLOCK) == flag::POPULATE {
        populate(caller, start..start + size, permissions.write);
    }
    Ok(start as u64)
}

/// Fails with `ENOMEM` where a process would have more addresses than its limit states.
pub(crate) fn check_limit(process: &mut Process, further: usize) -> Result<(), Errno> {
    let limit = process.limits.soft(resource::ADDRESS_SPACE);
    if limit == UNLIMITED {
        return Ok(());
    }
    let size = process.space()?.areas().pages() * PAGE;
    let within = size.saturating_add(further) as u64 <= limit;
    within.then_some(()).ok_or(Errno::ENOMEM)
}

/// The range of a new mapping.
fn place(
    space: &tenon_process::Space,
    hint: usize,
    size: usize,
    flags: u64,
) -> Result<Range<usize>, Errno> {
    if flags & (flag::FIXED | flag::FIXED_NO_REPLACE) != 0 {
        return range(hint, size, Errno::ENOMEM);
    }
    let hint = hint & !(PAGE - 1);
    if let Some(end) = hint.checked_add(size)
        && hint >= space.main_part().start
        && end <= space.main_part().end
        && space.areas().is_free(&(hint..end))
    {
        return Ok(hint..end);
    }
    // Below the room that the stack has.
    let start = space.find_free(size, space.main_part().end)?;
    Ok(start..start + size)
}

/// Gives the pages of a range frames, in steps; returns whether all have some.
pub(crate) fn populate(caller: &Caller, range: Range<usize>, writes: bool) -> bool {
    let access = if writes { Access::Write } else { Access::Read };
    let mut at = range.start;
    while at < range.end {
        let end = range.end.min(at + STEP * PAGE);
        let done = with_state(|state| {
            let (process, frames, _) = caller.parts(state)?;
            if process.end.is_some() {
                return Err(Errno::EINTR);
            }
            let space = process.space()?;
            for page in (at..end).step_by(PAGE) {
                space.fault(page, access, frames)?;
            }
            Ok::<_, Errno>(())
        });
        if done.is_err() {
            return false;
        }
        at = end;
    }
    true
}

/// Releases pages of objects that nothing refers to, in steps.
pub(crate) fn reclaim() {
    while with_state(|state| state.frames.reclaim()) {}
}

/// `munmap`, in steps from the end.
pub fn munmap(caller: &Caller) -> Result<u64, Errno> {
    /// What a step unmaps where no page has a frame, and where some have.
    const STEPS: [usize; 2] = [1 << 30, 1 << 21];
    let range = range(caller.address(0), caller.address(1), Errno::EINVAL)?;
    let mut end = range.end;
    loop {
        end = with_state(|state| {
            let (process, frames, _) = caller.parts(state)?;
            let space = process.space()?;
            let [empty, small] = STEPS.map(|step| range.start.max(end.saturating_sub(step)));
            let start = if space.has_pages(&(empty..end)) {
                small
            } else {
                empty
            };
            if end == range.end {
                // What is no range of the process is refused before anything is unmapped.
                space.check(&range)?;
            }
            space.unmap(&(start..end), frames)?;
            Ok::<_, Errno>(start)
        })?;
        if end <= range.start {
            break;
        }
    }
    reclaim();
    Ok(0)
}

/// `mprotect`.
pub fn mprotect(caller: &Caller) -> Result<u64, Errno> {
    let range = range(caller.address(0), caller.address(1), Errno::ENOMEM)?;
    let protection = caller.argument(2);
    let known = protection::READ | protection::WRITE | protection::EXECUTE;
    if protection & protection::GROWS != 0 || protection & !known & 0xff != 0 {
        return Err(Errno::EINVAL);
    }
    if range.is_empty() {
        return Ok(0);
    }
    with_state(|state| {
        let (process, frames, _) = caller.parts(state)?;
        let permissions = permissions(protection);
        let changed = process.space()?.protect(&range, permissions, frames);
        changed.map_err(|error| match error {
            // No range of the process has an area.
            tenon_address_space::Error::Range => Errno::ENOMEM,
            other => other.into(),
        })?;
        Ok(0)
    })
}

/// `brk`: the present end if the wanted one cannot be had.
pub fn brk(caller: &Caller) -> Result<u64, Errno> {
    const HEAP: Permissions = Permissions {
        read: true,
        write: true,
        execute: false,
    };
    with_state(|state| {
        let (process, frames, _) = caller.parts(state)?;
        let heap = process.heap.clone();
        let wanted = caller.address(0);
        if wanted < heap.start {
            return Ok(heap.end as u64);
        }
        let Some(end) = wanted.checked_next_multiple_of(PAGE) else {
            return Ok(heap.end as u64);
        };
        let mapped = heap.end.next_multiple_of(PAGE);
        let data = process.limits.soft(resource::DATA);
        let grows = end > mapped;
        let beyond = (end - heap.start) as u64 > data
            || check_limit(process, end.saturating_sub(mapped)).is_err();
        if grows && beyond {
            return Ok(heap.end as u64);
        }
        let space = process.space()?;
        let changed = if end > mapped {
            space.map(&(mapped..end), HEAP, &Backing::Zero, frames)
        } else if end < mapped {
            space.unmap(&(end..mapped), frames)
        } else {
            Ok(())
        };
        if changed.is_ok() {
            process.heap.end = wanted;
        }
        Ok(process.heap.end as u64)
    })
}
