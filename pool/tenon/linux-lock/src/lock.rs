//! [`flock`], and the locks of `fcntl`.

use crate::ranges::{Kind, Lock, Owner, Ranges};
use crate::wait;
use tenon_process::user_memory;
use tenon_process::{Caller, Errno, Files, Frames, Locks, Object, State, with_state};
use tenon_sync::Mutex;

/// The last byte of a file.
const END: u64 = i64::MAX as u64;

/// All locks.
static ALL: Mutex<Ranges> = Mutex::new(Ranges::new());

pub(crate) static LOCKS: Locks = Locks {
    closed: |files, owner, (inode, description), frames| {
        crate::notice::closed(owner, (inode, description));
        end(files, Owner::Process(owner), Some(inode), frames);
    },
    ended: |files, description, frames| {
        crate::owner::end(files, description, frames);
        end(files, Owner::Description(description), None, frames);
    },
};

fn with<R>(action: impl FnOnce(&mut Ranges) -> Result<R, Errno>) -> Result<R, Errno> {
    action(&mut *ALL.lock().map_err(|_| Errno::ENOLCK)?)
}

fn end(files: &mut Files, owner: Owner, inode: Option<u32>, frames: &mut Frames) {
    let ended = with(|ranges| Ok(ranges.end(owner, inode, frames)));
    if ended == Ok(true) {
        wait::notify(files);
    }
}

/// Sets or ends a lock; waits while another one conflicts if the call `waits`.
fn set(
    caller: &Caller,
    waits: bool,
    mut lock_of: impl FnMut(&mut State) -> Result<(Lock, bool), Errno>,
) -> Result<u64, Errno> {
    let (mut waiting, mut is_counted) = (None, false);
    let result = caller.wait_events(None, |state| {
        if let Some(number) = waiting.take() {
            end_wait(state, caller, number)?;
        }
        let (lock, sets) = lock_of(state)?;
        let (_, frames, files) = caller.parts(state)?;
        let conflict = with(|ranges| {
            let conflict = ranges.conflict(&lock).filter(|_| sets);
            if conflict.is_none() {
                ranges.apply(lock, sets, frames)?;
            }
            Ok(conflict)
        })?;
        let Some(conflict) = conflict else {
            // A lock for reading may have replaced one for writing.
            wait::notify(files);
            return Ok(Some(()));
        };
        if !waits {
            return Err(Errno::EAGAIN);
        }
        if let (Owner::Process(_), Kind::Record) = (lock.owner, lock.kind) {
            let begun = with(|ranges| ranges.wait(lock.owner, conflict.owner, frames))?;
            waiting = Some(begun);
        }
        wait::enlist(state, caller, &mut is_counted)?;
        Ok(None)
    });
    if is_counted {
        with_state(wait::leave)?;
    }
    if let Some(number) = waiting {
        with_state(|state| end_wait(state, caller, number))?;
    }
    result?.map(|()| 0).ok_or(Errno::EINTR)
}

fn end_wait(state: &mut State, caller: &Caller, number: u32) -> Result<(), Errno> {
    let (_, frames, _) = caller.parts(state)?;
    with(|ranges| {
        ranges.end_wait(number, frames);
        Ok(())
    })
}

/// `flock`.
pub fn flock(caller: &Caller) -> Result<u64, Errno> {
    const SHARED: i32 = 1;
    const EXCLUSIVE: i32 = 2;
    const NO_WAIT: i32 = 4;
    const UNLOCK: i32 = 8;
    let operation = caller.int(1);
    let kind = operation & !NO_WAIT;
    if !matches!(kind, SHARED | EXCLUSIVE | UNLOCK) {
        return Err(Errno::EINVAL);
    }
    set(caller, operation & NO_WAIT == 0, |state| {
        let (process, frames, files) = caller.parts(state)?;
        let file = &process.descriptor(caller.int(0))?.file;
        let inode = files.get(file)?.object.inode().ok_or(Errno::EBADF)?;
        let lock = Lock {
            inode,
            owner: Owner::Description(Files::number(file)),
            kind: Kind::Whole,
            exclusive: kind == EXCLUSIVE,
            first: 0,
            last: END,
            process: process.number,
        };
        files.set_locked(file, &LOCKS);
        // As in Linux, a lock of another kind ends before the new one is set.
        let held = with(|ranges| {
            let held = ranges.holds(&lock);
            ranges.apply(lock, false, frames)?;
            Ok(held)
        })?;
        if held {
            wait::notify(files);
        }
        Ok((lock, kind != UNLOCK))
    })
}

/// A `struct flock`: type, origin, start, length, process.
fn read(state: &mut State, caller: &Caller) -> Result<(u16, u16, i64, i64, u32), Errno> {
    let mut bytes = [0; 32];
    user_memory::read(state, caller, caller.address(2), &mut bytes)?;
    let long = |at: usize| {
        let mut word = [0; 8];
        word.copy_from_slice(&bytes[at..at + 8]);
        u64::from_le_bytes(word)
    };
    let head = long(0);
    Ok((
        head as u16,
        (head >> 16) as u16,
        long(8) as i64,
        long(16) as i64,
        long(24) as u32,
    ))
}

/// The lock that `fcntl` states, and whether it is to be set or ended.
fn record_of(
    state: &mut State,
    caller: &Caller,
    (of_description, tests): (bool, bool),
) -> Result<(Lock, bool), Errno> {
    const READ: u16 = 0;
    const WRITE: u16 = 1;
    const UNLOCK: u16 = 2;
    let (kind, origin, start, length, stated) = read(state, caller)?;
    let (process, _, files) = caller.parts(state)?;
    let file = &process.descriptor(caller.int(0))?.file;
    let description = files.get(file)?;
    let (object, offset, access) = (
        description.object,
        description.offset,
        description.flags & 0b11,
    );
    let inode = object.inode().ok_or(Errno::EBADF)?;
    let base = match (origin, object) {
        (0, _) => 0,
        (1, _) => offset,
        (2, Object::File(inode)) => files.tree.files.inode(inode)?.size,
        (2, _) => 0,
        _ => return Err(Errno::EINVAL),
    };
    let start = (base as i64).checked_add(start).ok_or(Errno::EOVERFLOW)?;
    let (first, last) = match length {
        0 => (start, i64::MAX),
        1.. => (
            start,
            start.checked_add(length - 1).ok_or(Errno::EOVERFLOW)?,
        ),
        _ => (start.checked_add(length).ok_or(Errno::EINVAL)?, start - 1),
    };
    if first < 0 {
        return Err(Errno::EINVAL);
    }
    if of_description && stated != 0 {
        return Err(Errno::EINVAL);
    }
    match kind {
        READ if !tests && access == 1 => return Err(Errno::EBADF),
        WRITE if !tests && access == 0 => return Err(Errno::EBADF),
        READ | WRITE => {}
        UNLOCK if !tests => {}
        _ => return Err(Errno::EINVAL),
    }
    let owner = process.files.owner(files);
    let file = &process.descriptor(caller.int(0))?.file;
    files.set_locked(file, &LOCKS);
    let owner = if of_description {
        Owner::Description(Files::number(file))
    } else {
        Owner::Process(owner)
    };
    let lock = Lock {
        inode,
        owner,
        kind: Kind::Record,
        exclusive: kind == WRITE,
        first: first as u64,
        last: last as u64,
        process: process.number,
    };
    Ok((lock, kind != UNLOCK))
}

/// The commands of `fcntl` for locks.
pub(crate) fn record(caller: &Caller, command: u64) -> Result<u64, Errno> {
    const GET: u64 = 5;
    const SET_AND_WAIT: u64 = 7;
    /// What the commands for locks of descriptions have more.
    const OF_DESCRIPTION: u64 = 31;
    let of_description = command >= GET + OF_DESCRIPTION;
    let command = if of_description {
        command - OF_DESCRIPTION
    } else {
        command
    };
    if command == GET {
        return with_state(|state| test(state, caller, of_description));
    }
    set(caller, command == SET_AND_WAIT, |state| {
        record_of(state, caller, (of_description, false))
    })
}

/// Writes the lock that keeps another one from being set, or that there is none.
fn test(state: &mut State, caller: &Caller, of_description: bool) -> Result<u64, Errno> {
    const UNLOCK: u16 = 2;
    let (lock, _) = record_of(state, caller, (of_description, true))?;
    let conflict = with(|ranges| Ok(ranges.first_conflict(&lock)))?;
    let to = caller.address(2);
    let Some(found) = conflict else {
        user_memory::write(state, caller, to, &UNLOCK.to_le_bytes())?;
        return Ok(0);
    };
    let mut bytes = [0; 32];
    bytes[..2].copy_from_slice(&u16::from(found.exclusive).to_le_bytes());
    bytes[8..16].copy_from_slice(&found.first.to_le_bytes());
    let length = if found.last == END {
        0
    } else {
        found.last - found.first + 1
    };
    bytes[16..24].copy_from_slice(&length.to_le_bytes());
    let process = match found.owner {
        Owner::Process(_) => found.process,
        Owner::Description(_) => u32::MAX,
    };
    bytes[24..28].copy_from_slice(&process.to_le_bytes());
    user_memory::write(state, caller, to, &bytes[..28])?;
    Ok(0)
}
