//! System calls of Linux for shared memory of System V: [`shmget`], [`shmat`], [`shmdt`], [`shmctl`].
//!
//! A [`Segment`] is an object with a key. It lies in a page frame with others of its kind, and the
//! object has the pages that were accessed. Attaching maps the object; the areas hold it, so that it
//! stays until the last one is unmapped where the segment was removed before.
//!
//! Guarantees: permissions are those of the segment's user and group; an identifier is not used again
//! before 32,768 others. All memory of a segment is free again once it is removed and unmapped. What
//! there is no memory for is an error that changes nothing.

#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

mod segment;

pub use segment::Segment;

use segment::{SEGMENTS, of_object, total};
use tenon_address_space::{Backing, PAGE, Permissions, Sharing};
use tenon_fs_proc::{List, Setting, provide};
use tenon_linux_ipc::object::{HEAD, Objects, Permission};
use tenon_process::{
    Call, Caller, Calls, Errno, State, capability, real_nanoseconds, resource, user_memory,
    with_state,
};
use tenon_sync::Mutex;

/// All calls of this library.
pub static CALLS: Calls = Calls(&[
    Call(194, shmget),
    Call(195, shmctl),
    Call(196, shmat),
    Call(197, shmdt),
]);

/// The segments, which are accessed with the state of processes alone.
static ALL: Mutex<Objects<Segment>> = Mutex::new(Objects::new(SEGMENTS));

/// Calls `action` with the state and the segments.
fn with_segments<R>(
    action: impl FnOnce(&mut State, &mut Objects<Segment>) -> Result<R, Errno>,
) -> Result<R, Errno> {
    with_state(|state| {
        let mut segments = ALL.lock().map_err(|_| Errno::EAGAIN)?;
        action(state, &mut segments)
    })
}

fn now() -> u64 {
    real_nanoseconds() / 1_000_000_000
}

/// Bits of a permission.
const READ: u32 = 4;
const WRITE: u32 = 2;
const EXECUTE: u32 = 1;

/// `shmget`: the segment of a key, or a new one.
pub fn shmget(caller: &Caller) -> Result<u64, Errno> {
    const PRIVATE: i32 = 0;
    const CREATE: u64 = 0o1000;
    const EXCLUSIVE: u64 = 0o2000;
    const HUGE: u64 = 0o4000;
    let (key, size, flags) = (caller.int(0), caller.argument(1), caller.argument(2));
    if flags & HUGE != 0 {
        return Err(Errno::EINVAL);
    }
    provide(List::Segments, |state, from, line| {
        let segments = ALL.lock().ok()?;
        let (place, segment) = segments.all_from(from).next()?;
        let areas = state.frames.references(&segment.object) - 1;
        segment.write_line((place, areas), line);
        Some(place + 1)
    });
    with_segments(|state, segments| {
        if key != PRIVATE
            && let Some((identifier, segment)) = segments.of_key(key)
        {
            if flags & CREATE != 0 && flags & EXCLUSIVE != 0 {
                return Err(Errno::EEXIST);
            }
            if size > segment.object.size() {
                return Err(Errno::EINVAL);
            }
            let mode = flags as u32 & 0o777;
            let wanted = (mode >> 6 | mode >> 3 | mode) & 0o7;
            segment.permission.check(state, caller, wanted)?;
            return Ok(identifier);
        }
        if key != PRIVATE && flags & CREATE == 0 {
            return Err(Errno::ENOENT);
        }
        if size == 0 {
            return Err(Errno::EINVAL);
        }
        if size > state.usage().0 as u64 {
            return Err(Errno::ENOMEM);
        }
        if segments.count() >= Setting::Segments.limit() {
            return Err(Errno::ENOSPC);
        }
        let permission = Permission::of(state, caller, key, flags as u32)?;
        let frames = &mut state.frames;
        let mut segment = Segment::of(frames, size, permission)?;
        segment.processes.0 = caller.process();
        segment.times[2] = now();
        let next = Setting::NextSegment.take();
        segments.insert(segment, next, frames).map_err(|segment| {
            frames.release_object(segment.object);
            Errno::ENOSPC
        })
    })
}

/// `shmat`: maps a segment.
pub fn shmat(caller: &Caller) -> Result<u64, Errno> {
    const READ_ONLY: u64 = 0o10000;
    const ROUND: u64 = 0o20000;
    const REMAP: u64 = 0o40000;
    const EXECUTES: u64 = 0o100_000;
    let (mut at, flags) = (caller.address(1), caller.argument(2));
    if flags & ROUND != 0 {
        at &= !(PAGE - 1);
    }
    if !at.is_multiple_of(PAGE) || at == 0 && flags & REMAP != 0 {
        return Err(Errno::EINVAL);
    }
    let permissions = Permissions {
        read: true,
        write: flags & READ_ONLY == 0,
        execute: flags & EXECUTES != 0,
    };
    let mut wanted = READ;
    wanted |= if permissions.write { WRITE } else { 0 };
    wanted |= if permissions.execute { EXECUTE } else { 0 };
    with_segments(|state, segments| {
        let segment = segments.get_mut(caller.int(0))?;
        segment.permission.check(state, caller, wanted)?;
        let size = (segment.object.size() as usize).next_multiple_of(PAGE);
        let (process, frames, _) = caller.parts(state)?;
        let number = process.number;
        let space = process.space()?;
        if at == 0 {
            at = space.find_free(size, space.main_part().end)?;
        }
        let range = at..at.checked_add(size).ok_or(Errno::EINVAL)?;
        let sharing = if permissions.write {
            Sharing::Shared
        } else {
            Sharing::SharedReadOnly
        };
        let backing = Backing::Object(&segment.object, 0, sharing);
        if flags & REMAP != 0 {
            space.map_over(&range, permissions, &backing, frames)?;
        } else {
            let mapped = space.map(&range, permissions, &backing, frames);
            mapped.map_err(|error| match error {
                tenon_address_space::Error::Occupied => Errno::EINVAL,
                other => other.into(),
            })?;
        }
        segment.times[0] = now();
        segment.processes.1 = number;
        Ok(at as u64)
    })
}

/// `shmdt`: unmaps what is mapped of a segment by one `shmat`.
pub fn shmdt(caller: &Caller) -> Result<u64, Errno> {
    let at = caller.address(0);
    let detached = with_segments(|state, segments| {
        let (process, frames, _) = caller.parts(state)?;
        let number = process.number;
        let space = process.space()?;
        let first = space.areas().next(at).copied().ok_or(Errno::EINVAL)?;
        let (key, page) = first.object(first.start).ok_or(Errno::EINVAL)?;
        if !first.is_shared() || first.start != at.wrapping_add(page as usize * PAGE) {
            return Err(Errno::EINVAL);
        }
        // Parts of it can be protected in different ways, or unmapped.
        let mut next = first.start;
        while let Some(area) = space.areas().next(next).copied() {
            let Some((own, page)) = area.object(area.start) else {
                break;
            };
            if own != key || area.start != at.wrapping_add(page as usize * PAGE) {
                break;
            }
            next = area.end;
            space.unmap(&(area.start..area.end), frames)?;
        }
        if let Some(segment) = of_object(segments, key) {
            segment.times[1] = now();
            segment.processes.1 = number;
        }
        Ok(0)
    });
    reclaim();
    detached
}

/// Releases the pages of segments that have ended, in steps.
fn reclaim() {
    while with_state(|state| state.frames.reclaim()) {}
}

/// `shmctl`.
pub fn shmctl(caller: &Caller) -> Result<u64, Errno> {
    const REMOVE: i32 = 0;
    const SET: i32 = 1;
    const STATUS: i32 = 2;
    const INFORMATION: i32 = 3;
    const LOCK: i32 = 11;
    const UNLOCK: i32 = 12;
    const STATUS_AT: i32 = 13;
    const SUMMARY: i32 = 14;
    const STATUS_OF_ANY: i32 = 15;
    let (number, to) = (caller.int(0), caller.address(2));
    let done = match caller.int(1) {
        REMOVE => with_segments(|state, segments| {
            let segment = segments.get_mut(number)?;
            segment.permission.check_owner(state, caller)?;
            let removed = segments.remove(number, &mut state.frames)?;
            state.frames.release_object(removed.object);
            Ok(0)
        }),
        SET => with_segments(|state, segments| {
            let segment = segments.get_mut(number)?;
            let mut bytes = [0; HEAD];
            user_memory::read(state, caller, to, &mut bytes)?;
            segment.permission.check_owner(state, caller)?;
            segment.permission.set(&bytes);
            segment.times[2] = now();
            Ok(0)
        }),
        command @ (STATUS | STATUS_AT | STATUS_OF_ANY) => with_segments(|state, segments| {
            let identifier = match command {
                STATUS => number,
                _ => segments.at(number)?.0 as i32,
            };
            let segment = segments.get_mut(identifier)?;
            if command != STATUS_OF_ANY {
                segment.permission.check(state, caller, READ)?;
            }
            let areas = state.frames.references(&segment.object) - 1;
            let bytes = segment.status(areas);
            user_memory::write(state, caller, to, &bytes)?;
            match command {
                STATUS => Ok(0),
                _ => Ok(identifier.cast_unsigned().into()),
            }
        }),
        SUMMARY => with_segments(|state, segments| {
            // Pages that are accessed are in memory, and none is swapped.
            let (count, pages) = total(segments);
            let bytes = [count, pages, pages, 0, 0, 0].map(u64::to_le_bytes);
            user_memory::write(state, caller, to, bytes.as_flattened())?;
            Ok(segments.highest())
        }),
        INFORMATION => with_segments(|state, segments| {
            /// `SHMMAX` and `SHMALL` of Linux: memory alone limits segments.
            const NO_LIMIT: u64 = u64::MAX - (1 << 24);
            let limits = [NO_LIMIT, 1, SEGMENTS.into(), SEGMENTS.into(), NO_LIMIT];
            let bytes = limits.map(u64::to_le_bytes);
            user_memory::write(state, caller, to, bytes.as_flattened())?;
            Ok(segments.highest())
        }),
        command @ (LOCK | UNLOCK) => with_segments(|state, segments| {
            let segment = segments.get_mut(number)?;
            let (process, ..) = caller.parts(state)?;
            let ids = &process.credentials;
            let user = ids.user().effective;
            if !ids.has(capability::IPC_LOCK) {
                let permission = &segment.permission;
                if user != permission.owner.0 && user != permission.creator.0 {
                    return Err(Errno::EPERM);
                }
                if command == LOCK && process.limits.soft(resource::LOCKED) == 0 {
                    return Err(Errno::EPERM);
                }
            }
            // Its pages stay in memory in any case.
            segment.locked = command == LOCK;
            Ok(0)
        }),
        _ => Err(Errno::EINVAL),
    };
    reclaim();
    done
}
