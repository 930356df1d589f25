//! Memory of a process: heap and mappings.

use tenon_address_space::{Area, Backing, PAGE, Permissions};
use tenon_process::{Caller, Errno, Object, with_state};

/// Protections of `mmap` and `mprotect`.
mod protection {
    pub const READ: u64 = 1;
    pub const WRITE: u64 = 2;
    pub const EXECUTE: u64 = 4;
}

/// Flags of `mmap`.
mod flag {
    pub const SHARED: u64 = 0x01;
    pub const PRIVATE: u64 = 0x02;
    pub const FIXED: u64 = 0x10;
    pub const ANONYMOUS: u64 = 0x20;
    pub const FIXED_NO_REPLACE: u64 = 0x10_0000;
}

fn permissions(protection: u64) -> Permissions {
    Permissions {
        read: protection & protection::READ != 0,
        write: protection & protection::WRITE != 0,
        execute: protection & protection::EXECUTE != 0,
    }
}

fn pages(size: usize) -> Result<usize, Errno> {
    let pages = size.checked_next_multiple_of(PAGE).ok_or(Errno::ENOMEM)?;
    (pages > 0).then_some(pages).ok_or(Errno::EINVAL)
}

/// `mmap`: private mappings, and shared ones of files, which are only read.
pub fn mmap(caller: &Caller) -> Result<u64, Errno> {
    let (hint, size) = (caller.address(0), pages(caller.address(1))?);
    let permissions = permissions(caller.argument(2));
    let (flags, offset) = (caller.argument(3), caller.address(5));
    let kinds = flags & (flag::SHARED | flag::PRIVATE);
    if kinds == 0 || !offset.is_multiple_of(PAGE) {
        return Err(Errno::EINVAL);
    }
    if permissions.write && permissions.execute {
        return Err(Errno::EACCES);
    }
    with_state(|state| {
        let (process, frames, files) = caller.parts(state)?;
        let backing = if flags & flag::ANONYMOUS != 0 {
            Backing::Zero
        } else {
            match files.get(&process.descriptor(caller.int(4))?.file)?.object {
                Object::File(inode) => {
                    let content = files.tree.files.unwritten(inode);
                    Backing::Bytes(content.ok_or(Errno::ENODEV)?, offset)
                }
                _ => return Err(Errno::EACCES),
            }
        };
        // Between processes, nothing is shared yet.
        if flags & flag::SHARED != 0 && permissions.write {
            return Err(Errno::EACCES);
        }
        let space = process.space()?;
        let fixed = flags & (flag::FIXED | flag::FIXED_NO_REPLACE) != 0;
        let start = if fixed {
            let end = hint.checked_add(size).ok_or(Errno::ENOMEM)?;
            if flags & flag::FIXED != 0 {
                space.unmap(&(hint..end), frames)?;
            }
            hint
        } else {
            // Below the room that the stack has.
            space.find_free(size, space.main_part().end)?
        };
        space.map(Area {
            start,
            end: start + size,
            permissions,
            backing,
        })?;
        Ok(start as u64)
    })
}

/// `munmap`.
pub fn munmap(caller: &Caller) -> Result<u64, Errno> {
    let (start, size) = (caller.address(0), pages(caller.address(1))?);
    let end = start.checked_add(size).ok_or(Errno::EINVAL)?;
    with_state(|state| {
        let (process, frames, _) = caller.parts(state)?;
        process.space()?.unmap(&(start..end), frames)?;
        Ok(0)
    })
}

/// `mprotect`.
pub fn mprotect(caller: &Caller) -> Result<u64, Errno> {
    let start = caller.address(0);
    let size = caller.address(1).checked_next_multiple_of(PAGE);
    let end = size.and_then(|size| start.checked_add(size));
    let end = end.ok_or(Errno::ENOMEM)?;
    if start == end {
        return Ok(0);
    }
    with_state(|state| {
        let (process, frames, _) = caller.parts(state)?;
        let permissions = permissions(caller.argument(2));
        process
            .space()?
            .protect(&(start..end), permissions, frames)?;
        Ok(0)
    })
}

/// `madvise`: no advice is taken, and `MADV_DONTNEED` releases pages of zeros.
pub fn madvise(caller: &Caller) -> Result<u64, Errno> {
    const DO_NOT_NEED: u64 = 4;
    if caller.argument(2) == DO_NOT_NEED {
        return Err(Errno::EINVAL);
    }
    Ok(0)
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
        let (mapped, space) = (heap.end.next_multiple_of(PAGE), process.space()?);
        let changed = if end > mapped {
            space.map(Area {
                start: mapped,
                end,
                permissions: HEAP,
                backing: Backing::Zero,
            })
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
