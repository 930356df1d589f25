//! [`epoll_create1`], [`epoll_ctl`] and [`epoll_pwait`]: polls of many descriptors that keep them.

use crate::watches::{Name, Watches, mode};
use tenon_linux_files::descriptor::open;
use tenon_linux_files::flag::CLOSE_ON_EXEC;
use tenon_process::user_memory;
use tenon_process::{
    Caller, Errno, Files, Frames, Object, Observer, Operations, Side, Special, State, Waiting,
    ready, timespec, wait_on, with_state,
};
use tenon_signal::Set;
use tenon_sync::Mutex;
use tenon_thread::time::Instant;

/// `O_PATH`: the description is of a name alone.
const PATH: u32 = 0o1000_0000;
/// Bytes of a `struct epoll_event`.
const SIZE: usize = 16;

static WATCHES: Mutex<Watches> = Mutex::new(Watches::new());

static OPERATIONS: Operations = Operations {
    events: |files, number| {
        let ready = |watches: &mut Watches| Ok(watches.is_ready(number, files, poll_of, 1));
        if with(ready).unwrap_or_default() {
            ready::READABLE
        } else {
            0
        }
    },
    close: |files, number, frames| {
        let closed = with(|watches| {
            watches.close(number, (files, frames), &OBSERVER);
            Ok(())
        });
        debug_assert!(closed.is_ok());
    },
    ..Operations::NONE
};

static OBSERVER: Observer = Observer {
    notify: |files, source, events| {
        let notified = with(|watches| {
            watches.notify(source, events, files);
            Ok(())
        });
        debug_assert!(notified.is_ok());
    },
    forget,
};

/// Calls `action` with all event polls. What it calls of other objects locks nothing of these.
fn with<R>(action: impl FnOnce(&mut Watches) -> Result<R, Errno>) -> Result<R, Errno> {
    action(&mut *WATCHES.lock().map_err(|_| Errno::EBADF)?)
}

/// The event poll that an object is.
fn poll_of(object: &Object) -> Option<u32> {
    match object {
        Object::Special(special) if core::ptr::eq(special.operations, &raw const OPERATIONS) => {
            Some(special.number)
        }
        _ => None,
    }
}

/// The source of events of an object, if it has one.
fn source_of(files: &Files, object: &Object) -> Option<u32> {
    match object {
        Object::Pipe(index, ..) => files.pipe_source(*index),
        Object::Special(Special { source, .. }) => Some(*source),
        Object::Device(..) | Object::File(_) | Object::Directory(_) => None,
    }
}

fn forget(files: &mut Files, frames: &mut Frames, description: u32) {
    let object = files.object(description);
    let Some(source) = object.and_then(|object| source_of(files, &object)) else {
        return;
    };
    let forgotten = with(|watches| {
        watches.forget(description, source, (files, frames), &OBSERVER);
        Ok(())
    });
    debug_assert!(forgotten.is_ok());
}

/// `epoll_create1`.
pub fn epoll_create1(caller: &Caller) -> Result<u64, Errno> {
    let flags = caller.argument(0) as u32;
    if flags & !CLOSE_ON_EXEC != 0 {
        return Err(Errno::EINVAL);
    }
    with_state(|state| {
        let (_, frames, _) = caller.parts(state)?;
        let number = with(|watches| watches.create(caller.process(), frames))?;
        open(state, caller, (&OPERATIONS, number), flags, |source| {
            let noted = with(|watches| {
                watches.set_source(number, source);
                Ok(())
            });
            debug_assert!(noted.is_ok());
        })
    })
}

/// `epoll_ctl`.
pub fn epoll_ctl(caller: &Caller) -> Result<u64, Errno> {
    const ADD: i32 = 1;
    const DELETE: i32 = 2;
    const MODIFY: i32 = 3;
    /// What a watch with `EPOLLEXCLUSIVE` can ask for.
    const OF_EXCLUSIVE: u32 = (ready::READABLE | ready::WRITABLE | ready::ERROR | ready::HANGUP)
        as u32
        | mode::EXCLUSIVE
        | mode::WAKE_UP
        | mode::EDGE;
    let (operation, number) = (caller.int(1), caller.int(2));
    let mut event = [0; 16];
    if operation != DELETE {
        with_state(|state| user_memory::read(state, caller, caller.address(3), &mut event))?;
    }
    let [a, b, c, d, _, _, _, _, data @ ..] = event;
    let (events, data) = (u32::from_le_bytes([a, b, c, d]), u64::from_le_bytes(data));
    with_state(|state| {
        let (process, frames, files) = caller.parts(state)?;
        for number in [caller.int(0), number] {
            if files.get(&process.descriptor(number)?.file)?.flags & PATH != 0 {
                return Err(Errno::EBADF);
            }
        }
        let own = files.get(&process.descriptor(caller.int(0))?.file)?.object;
        let file = &process.descriptor(number)?.file;
        let object = files.get(file)?.object;
        let source = source_of(files, &object).ok_or(Errno::EPERM)?;
        let poll = poll_of(&own).ok_or(Errno::EINVAL)?;
        let target = poll_of(&object);
        if target == Some(poll) {
            return Err(Errno::EINVAL);
        }
        if events & mode::EXCLUSIVE != 0
            && operation != DELETE
            && (operation == MODIFY || target.is_some() || events & !OF_EXCLUSIVE != 0)
        {
            return Err(Errno::EINVAL);
        }
        let name: Name = (poll, number.cast_unsigned(), files.watch_description(file));
        with(|watches| {
            match operation {
                ADD => watches.add(
                    name,
                    (events, data),
                    (object, source),
                    (files, frames),
                    (poll_of, &OBSERVER),
                )?,
                DELETE => return watches.delete(name, (files, frames), &OBSERVER),
                MODIFY => watches.modify(name, events, data)?,
                _ => return Err(Errno::EINVAL),
            }
            watches.look_again(name, files, poll_of);
            Ok(())
        })?;
        Ok(0)
    })
}

/// Waits for events until a deadline, with the mask of signals that the caller states; not at all if
/// the deadline has passed.
fn wait(caller: &Caller, deadline: Option<Instant>, now: bool) -> Result<u64, Errno> {
    let done = match caller.address(4) {
        0 => collect(caller, deadline, now),
        mask => wait_masked(caller, mask, deadline, now),
    };
    // No handler has the call made again.
    done.map_err(|error| error.interrupted(Errno::ERESTARTNOHAND))
}

#[inline(never)]
fn wait_masked(
    caller: &Caller,
    from: usize,
    deadline: Option<Instant>,
    now: bool,
) -> Result<u64, Errno> {
    if caller.address(5) != size_of::<u64>() {
        return Err(Errno::EINVAL);
    }
    let [bits] = user_memory::words(caller, from)?;
    caller.with_mask(Some(Set(bits)), || collect(caller, deadline, now))
}

fn collect(caller: &Caller, deadline: Option<Instant>, now: bool) -> Result<u64, Errno> {
    /// Events of a call at most, as in Linux.
    const MOST: usize = i32::MAX as usize / SIZE;
    let most = usize::try_from(caller.int(2)).map_err(|_| Errno::EINVAL)?;
    if most == 0 || most > MOST {
        return Err(Errno::EINVAL);
    }
    let (slot, _) = caller.slot();
    let first = with_state(|state| {
        state.attempt(slot, (Waiting::Source, false), |state| {
            look(state, caller, most, now)
        })
    });
    match first? {
        Some(done) => Ok(done),
        None => collect_later(caller, deadline, most),
    }
}

/// Collects events after a first look without one.
#[inline(never)]
fn collect_later(caller: &Caller, deadline: Option<Instant>, most: usize) -> Result<u64, Errno> {
    let (slot, _) = caller.slot();
    let mut again = |state: &mut State| look(state, caller, most, false);
    let done = wait_on(slot, deadline, Waiting::Source, &mut again)?;
    Ok(done.unwrap_or(0))
}

/// Puts events of the caller's event poll into its memory; returns how many. `None` if it waits for the
/// first one.
#[inline(always)]
fn look(state: &mut State, caller: &Caller, most: usize, now: bool) -> Result<Option<u64>, Errno> {
    let to = caller.address(1);
    let (process, frames, files) = caller.parts(state)?;
    let file = &process.files.get(caller.int(0))?.file;
    let description = files.look(file).ok_or(Errno::EBADF)?;
    let poll = poll_of(&description.object).ok_or(Errno::EINVAL)?;
    let space = process.space()?;
    let (done, source) = with(|watches| {
        watches.collect(poll, most, (files, poll_of), |index, events, data| {
            let mut bytes = [0; SIZE];
            bytes[..4].copy_from_slice(&events.to_le_bytes());
            bytes[8..].copy_from_slice(&data.to_le_bytes());
            Ok(space.write(to.wrapping_add(index * SIZE), &bytes, frames)?)
        })
    })?;
    if done > 0 || now {
        return Ok(Some(done as u64));
    }
    caller.enlist(state, source, Side::Read)?;
    Ok(None)
}

/// `epoll_pwait`.
pub fn epoll_pwait(caller: &Caller) -> Result<u64, Errno> {
    const MILLISECOND: u64 = 1_000_000;
    let deadline = match caller.int(3) {
        ..0 => None,
        0 => return wait(caller, None, true),
        timeout => {
            let end = Instant::now().nanoseconds();
            let timeout = u64::from(timeout.unsigned_abs());
            Some(Instant::from_nanoseconds(end + timeout * MILLISECOND))
        }
    };
    wait(caller, deadline, false)
}

/// `epoll_pwait2`: as `epoll_pwait`, with a timeout in nanoseconds.
pub fn epoll_pwait2(caller: &Caller) -> Result<u64, Errno> {
    if caller.address(3) == 0 {
        return wait(caller, None, false);
    }
    let timeout = timespec(user_memory::words(caller, caller.address(3))?)?;
    let deadline = Instant::now() + timeout;
    wait(caller, Some(deadline), timeout.is_zero())
}
