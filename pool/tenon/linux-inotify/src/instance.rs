//! [`inotify_init1`], and reading the events of an instance.

use crate::queue::LONGEST;
use crate::table::{self, with};
use core::fmt::Write as _;
use core_log::Line;
use tenon_files::Watcher;
use tenon_process::{
    Caller, Errno, Files, Object, Operations, Side, Special, State, Step, Transfer, ready,
    with_state,
};

/// `O_NONBLOCK`.
const NONBLOCK: u32 = 0o4000;
/// `O_CLOEXEC`.
const CLOSE_ON_EXEC: u32 = 0o200_0000;

static OPERATIONS: Operations = Operations {
    tells_owners: true,
    events: |_, number| {
        let empty = with(|table| Ok(table.instance(number)?.queue.is_empty()));
        if empty == Ok(false) {
            ready::READABLE | ready::READABLE_NORMAL
        } else {
            0
        }
    },
    read,
    available: |_, number| with(|table| Ok(table.instance(number)?.queue.len())),
    state,
    close: |files, number, frames| {
        table::close(files, number, frames);
        table::settle(files);
    },
    ..Operations::NONE
};

static WATCHER: Watcher = Watcher {
    changed: crate::watch::changed,
    ended: table::settle,
};

/// Writes the line of a watch, as `fdinfo` shows it.
fn state(instance: u32, from: u32, to: &mut [u8]) -> Option<(usize, u32)> {
    let found = with(|table| {
        let found = table.watch_of(instance, from);
        Ok(found.and_then(|number| Some((number, *table.watch(number)?))))
    });
    let (number, watch) = found.ok()??;
    let mut line = Line::<96>::new();
    // Writing to a `Line` never fails: it truncates.
    let _ = writeln!(
        line,
        "inotify wd:{:x} ino:{:x} sdev:1 mask:{:x} ignored_mask:0 ",
        number + 1,
        watch.inode + 1,
        watch.mask
    );
    let text = line.as_str().as_bytes();
    to.get_mut(..text.len())?.copy_from_slice(text);
    Some((text.len(), number + 1))
}

/// Reads as many events as there is room for.
fn read(transfer: &mut Transfer<'_>, number: u32) -> Step {
    let mut bytes = [0; LONGEST];
    let mut done = 0;
    loop {
        let first = with(|table| Ok(table.instance(number)?.queue.first(&mut bytes)))?;
        let Some(length) = first else {
            break;
        };
        if length > transfer.length - done {
            if done == 0 {
                return Err(Errno::EINVAL);
            }
            break;
        }
        let memory = &mut transfer.memory;
        let written = memory.write(done, &bytes[..length], transfer.frames);
        if written.is_err() && done > 0 {
            break;
        }
        written?;
        with(|table| {
            let queue = &mut table.instance(number)?.queue;
            queue.skip(length, transfer.frames);
            Ok(())
        })?;
        done += length;
    }
    if done == 0 {
        return Ok(None);
    }
    // What is left is for another reader.
    let left = with(|table| {
        let instance = table.instance(number)?;
        Ok((!instance.queue.is_empty()).then_some(instance.source))
    })?;
    if let Some(source) = left {
        transfer.files.wake_next(source, Side::Read);
    }
    Ok(Some(done))
}

/// The instance of a descriptor.
pub(crate) fn of_descriptor(state: &mut State, caller: &Caller, number: i32) -> Result<u32, Errno> {
    let (process, _, files) = caller.parts(state)?;
    match files.get(&process.descriptor(number)?.file)?.object {
        Object::Special(Special {
            operations, number, ..
        }) if core::ptr::eq(operations, &raw const OPERATIONS) => Ok(number),
        _ => Err(Errno::EINVAL),
    }
}

/// Has changes of inodes told.
fn install(files: &mut Files) {
    files.add_watcher(&WATCHER);
    files.tree.files.ended = Some(table::ended);
}

/// `inotify_init1`.
pub fn inotify_init1(caller: &Caller) -> Result<u64, Errno> {
    let flags = caller.argument(0) as u32;
    if flags & !(NONBLOCK | CLOSE_ON_EXEC) != 0 {
        return Err(Errno::EINVAL);
    }
    with_state(|state| {
        let (process, frames, files) = caller.parts(state)?;
        let user = process.credentials.user().real;
        install(files);
        let number = with(|table| table.create(user, frames))?;
        match files.open_special(&OPERATIONS, number, flags & NONBLOCK, frames) {
            Ok((file, source)) => {
                with(|table| {
                    table.instance(number)?.source = source;
                    Ok(())
                })?;
                caller.install(state, file, flags & CLOSE_ON_EXEC != 0)
            }
            Err(error) => {
                table::close(files, number, frames);
                Err(error)
            }
        }
    })
}
